//! What takes the memory of a representation, in words, and what makes it smaller.

use std::fmt;

/// Fewer people help everywhere. Reports of one part of them are learnt from alone.
const FEWER_PEOPLE: &str = "take fewer people, such as the reports of one part of them if parts were asked (privatize --part); nobody who has answered is to be asked again";

/// Something that has to be in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Step {
    /// Everybody's features and reports, before anything is made of them
    #[default]
    Gathered,
    /// Features in full or as what is not zero of them, and the directions in which they differ
    Features {
        /// Features that are made of pixels
        of_images: bool,
    },
    /// Who is like whom
    Graph,
    /// Smooth functions
    Kernel {
        /// As many as there are
        landmarks: usize,
    },
    /// What reports say and what is believed
    Labels {
        /// K
        classes: usize,
    },
}

impl Step {
    /// What else may be done about it than to allow more memory: fewer features are no help where it is people who take it.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Self::Features { of_images: false } => "take fewer features (--buckets, --column NAME=skip)",
            Self::Features { of_images: true } => {
                "take smaller images, or look at their pixels as columns (--column NAME=number)"
            }
            Self::Gathered => {
                "take fewer features (--buckets, --column NAME=skip), or fewer people, such as the reports of one part of them if parts were asked (privatize --part); nobody who has answered is to be asked again"
            }
            Self::Graph | Self::Kernel { .. } | Self::Labels { .. } => FEWER_PEOPLE,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gathered => f.write_str("everybody's features and reports as they are read"),
            Self::Features { of_images } => {
                let whose = if *of_images { "features of images" } else { "features" };
                write!(f, "{whose} and the directions in which they differ")
            }
            Self::Graph => f.write_str("the graph of who is like whom"),
            Self::Kernel { landmarks } => write!(f, "the kernel of {landmarks} landmarks"),
            Self::Labels { classes } => write!(f, "what is believed of {classes} classes"),
        }
    }
}
