//! A label mechanism in words.

use crate::arguments;
use crate::exit::Usage;
use undertone_privacy::Epsilon;
use undertone_privacy::label::{LabelKind, LabelMechanism, RrTopK, RrWithPrior, SubsetSelection};

/// A mechanism that reports a set of labels, of which there are K
///
/// rr: randomized response. subset: sets of d labels, with the d of least worst-case second moment; subset-paper: with
/// the published d. bits-paper: independent bits as published; bits: with the best probabilities; unary: symmetric,
/// half of ε a bit; oue: the older name of bits-paper. rr-top-k: randomized response among the labels of --top;
/// rr-prior: among those that --prior makes worth naming.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone audit label --kind oue --classes 10 --epsilon 1")]
pub(crate) struct LabelWords {
    /// Which mechanism
    #[arg(long, value_parser = arguments::label_kind())]
    pub(crate) kind: LabelKind,
    /// K, the number of classes; as many as --prior has entries
    #[arg(long, value_name = "K", value_parser = arguments::classes, allow_hyphen_values = true,
          required_unless_present = "prior")]
    classes: Option<u32>,
    /// ε, the promise
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true)]
    pub(crate) epsilon: Epsilon,
    /// Labels in each report, for --kind subset
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    set_size: Option<u32>,
    /// Public probability of each class, for --kind rr-prior
    #[arg(long, value_name = "P,P,…", value_delimiter = ',', allow_hyphen_values = true)]
    prior: Option<Vec<f64>>,
    /// Labels to answer among, for --kind rr-top-k
    #[arg(long, value_name = "Y,Y,…", value_delimiter = ',', allow_hyphen_values = true)]
    top: Option<Vec<u32>>,
}

impl LabelWords {
    /// What the options describe. Each of the three special ones belongs to one kind.
    pub(crate) fn mechanism(&self) -> Result<LabelMechanism, Usage> {
        let (kind, epsilon) = (self.kind, self.epsilon);
        for (option, given, owner) in [
            ("--set-size", self.set_size.is_some(), LabelKind::Subset),
            ("--prior", self.prior.is_some(), LabelKind::RrPrior),
            ("--top", self.top.is_some(), LabelKind::RrTopK),
        ] {
            if given && kind != owner {
                let (kind, owner) = (kind.name(), owner.name());
                return Err(Usage::new(format!("{option} is for --kind {owner}, not for --kind {kind}")));
            }
        }
        let needs = |option: &str| Usage::new(format!("--kind {} needs {option}", kind.name()));
        let classes = || self.classes.ok_or_else(|| needs("--classes"));
        let built = match (kind, self.set_size) {
            (LabelKind::RrPrior, _) => {
                let prior = self.prior.as_ref().ok_or_else(|| needs("--prior"))?;
                if let Some(classes) = self.classes.filter(|&classes| classes as usize != prior.len()) {
                    let entries = prior.len();
                    return Err(Usage::new(format!(
                        "--classes is {classes}, but --prior has {entries} entries"
                    )));
                }
                RrWithPrior::new(prior, epsilon).map(LabelMechanism::WithPrior)
            }
            (LabelKind::RrTopK, _) => {
                let top = self.top.clone().ok_or_else(|| needs("--top"))?;
                RrTopK::new(classes()?, top, epsilon).map(LabelMechanism::TopK)
            }
            (_, Some(size)) => {
                SubsetSelection::with_size(classes()?, size, epsilon).map(LabelMechanism::Subset)
            }
            _ => kind.mechanism(classes()?, epsilon),
        };
        built.map_err(Usage::new)
    }
}
