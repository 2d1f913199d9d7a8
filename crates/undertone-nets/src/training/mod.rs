//! Training: steps against the gradient, with momentum, on images that are a little different each time.
//!
//! What comes out is a function of network, examples and options, seed included, to the last bit: a batch is cut into parts of a fixed size,
//! which belong to a fixed number of lanes, and gradients are added up in the order of the lanes, however many cores share the work.

mod augmentation;
mod checkpoint;
mod dataset;
mod fit;
mod lane;
mod need;
mod pieces;
mod schedule;

pub use augmentation::Augmentation;
pub use dataset::Dataset;
pub(crate) use dataset::Scale;
pub use fit::{Hooks, Judge, Progress, check, fit};
pub(crate) use lane::predict;
pub use need::Need;
pub use schedule::Schedule;

use crate::{Loss, NetError};
use serde::{Deserialize, Serialize};

/// How a network is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// How often each example is seen
    pub epochs: usize,
    /// Examples of a step; the last one of an epoch has from half as many to half as many again, unless there are fewer in all
    pub batch: usize,
    /// The size of the steps
    pub schedule: Schedule,
    /// How much of the step before is taken again
    pub momentum: f64,
    /// λ of λ/2·|w|²
    pub l2: f64,
    /// Two examples are mixed in shares of law Beta(α, α), and so are their losses: H. Zhang, M. Cisse, Y. Dauphin, D.
    /// Lopez-Paz, *mixup: beyond empirical risk minimization* (2018)
    pub mixup: Option<f64>,
    /// What is done to images
    pub augmentation: Augmentation,
    /// How reports are taken
    pub loss: Loss,
    /// One in eight is kept aside, and training ends after so many epochs without a gain in the likelihood of their reports;
    /// the weights of the best epoch are taken. Without it everybody is trained on, to the end.
    pub patience: Option<usize>,
    /// Of first weights, order and images
    pub seed: u64,
}

impl Training {
    /// As published for images of 28×28, but for the number of epochs, which is 40 there: Ghazi, Golowich, Kumar, Manurangsi, Zhang, *Deep
    /// Learning with Label Differential Privacy* (2021), appendix B. The batch of 265 is printed so.
    pub fn as_published(epochs: usize, seed: u64) -> Self {
        Self {
            epochs,
            batch: 265,
            schedule: Schedule { peak: 0.02, warm_up: 0.15 },
            momentum: 0.9,
            l2: 1e-4,
            mixup: Some(4.0),
            augmentation: Augmentation { shift: 2, flip: true, cutout: 8 },
            loss: Loss::Plain,
            patience: None,
            seed,
        }
    }

    /// Options that can be followed.
    pub(crate) fn check(&self) -> Result<(), NetError> {
        let wrong = |what, value, expected| Err(NetError::Parameter { what, value, expected });
        if self.epochs == 0 {
            return wrong("the number of epochs", 0.0, "positive");
        }
        if self.batch == 0 {
            return wrong("the size of a batch", 0.0, "positive");
        }
        if !(0.0..1.0).contains(&self.momentum) {
            return wrong("the momentum", self.momentum, "at least zero and less than one");
        }
        if !(self.l2 >= 0.0 && self.l2.is_finite()) {
            return wrong("λ", self.l2, "at least zero and finite");
        }
        if let Some(alpha) = self.mixup.filter(|alpha| !(*alpha > 0.0 && alpha.is_finite())) {
            return wrong("α of mixup", alpha, "positive and finite");
        }
        if self.patience == Some(0) {
            return wrong("the patience", 0.0, "positive");
        }
        self.schedule.check()
    }
}
