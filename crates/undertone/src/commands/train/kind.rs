//! What can be learnt, and what a report can be taken for.

use clap::ValueEnum;
use undertone_learn::linear::Target;
use undertone_learn::loss::Loss;

/// What is learnt: linear scores with a loss, or averages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// Probabilities by softmax, cross-entropy
    Softmax,
    /// One logistic regression for each class against the rest
    Logistic,
    /// Multiclass hinge: margins, so that its probabilities are no chances
    Hinge,
    /// Least squares
    Linear,
    /// Averages over cells of public features
    Cells,
    /// Averages over the nearest people
    Neighbours,
    /// Averages over many cells that reports tell apart; of a number, what they add to a line
    Forest,
    /// Numbers only: a line, and what pairs of categories add, such as people and the things that they rate
    Factors,
    /// A plane in each of some cells of public features, of at most 12 numbers; categories have cells, and no slopes
    Planes,
    /// What public features tell by themselves, who is like whom and smooth functions, and reports of it
    Representation,
    /// A network of dense layers
    Mlp,
    /// A network of filters, for square images
    Cnn,
    /// A network of many filters beside each other, for square images; it takes long
    Inception,
    /// A network of two categories that meet, such as people and things
    Rating,
    /// A line, cells, neighbours, forest, factors or representation, as people who were kept aside decide: of classes often several together
    Auto,
}

/// What a report is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Method {
    /// Maximum likelihood: what the model makes of the report (softmax, logistic); the posterior in its stead if reports
    /// are so few that it finds nothing
    Likelihood,
    /// The unbiased label vector: the debiased loss, whose minimum is that of the true labels
    Debiased,
    /// A soft label: the posterior under even chances. Its probabilities are squeezed towards even ones
    Posterior,
    /// The truth, which it is not: for comparison
    Naive,
    /// The unbiased label vector, each report once and in order, the mean of all points: Algorithm 1 with steps that fit
    /// themselves to the gradients
    Sgd,
    /// Of copies in a survey: the hinge, smoothed
    #[value(name = "algorithm-4")]
    Algorithm4,
    /// Of copies in a survey: a mixture of absolute values
    #[value(name = "algorithm-5")]
    Algorithm5,
    /// Of copies in a survey: the slope of the loss itself
    Direct,
}

impl Kind {
    /// Of the line, where one is learnt.
    pub(super) fn loss(self) -> Loss {
        match self {
            Self::Softmax
            | Self::Cells
            | Self::Neighbours
            | Self::Forest
            | Self::Planes
            | Self::Representation
            | Self::Factors
            | Self::Mlp
            | Self::Cnn
            | Self::Inception
            | Self::Rating
            | Self::Auto => Loss::Softmax,
            Self::Logistic => Loss::Logistic,
            Self::Hinge => Loss::Hinge,
            Self::Linear => Loss::Squared,
        }
    }
}

impl Method {
    pub(super) fn target(self) -> Target {
        match self {
            Self::Likelihood => Target::Likelihood,
            Self::Debiased | Self::Sgd => Target::Unbiased,
            Self::Posterior => Target::Posterior(None),
            // The others are of surveys, and refused.
            Self::Naive | Self::Algorithm4 | Self::Algorithm5 | Self::Direct => Target::Naive,
        }
    }
}
