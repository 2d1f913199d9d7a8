//! Intervals, and what speaks against them.
//!
//! An interval by random scaling is right in the limit. Some runs are known to be far from it, and then none is given; others
//! may be, and then it comes with a doubt. It is right at a number of reports that was fixed beforehand: whoever looks again
//! and again until an interval pleases them will find one.

use super::Level;
use super::bend::MOST_BIAS;
use serde::Serialize;
use std::fmt;

/// Iterates after the burn-in below which there is no interval.
pub(super) const LEAST_ITERATES: u64 = 1000;
/// The transient exponent below which the start is not forgotten.
const LEAST_EXPONENT: f64 = 5.0;
/// n·η_n·m, correlation times, below which intervals cover too seldom.
const LEAST_CORRELATION_TIMES: f64 = 30.0;
/// The share of steps that may end on the border of the feasible set.
pub(super) const MOST_ON_BORDER: f64 = 1e-3;

/// An estimate with how far the truth may be from it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The middle
    pub estimate: f64,
    /// From the middle to either end
    pub half_width: f64,
}

impl Interval {
    /// Whether it holds `value`.
    pub fn covers(&self, value: f64) -> bool {
        (value - self.estimate).abs() <= self.half_width
    }
}

/// The interval of each coordinate, with what is to be doubted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Intervals {
    /// How often each of them should cover
    pub level: f64,
    /// Of each coordinate of θ
    pub coordinates: Vec<Interval>,
    /// What is to be doubted, and does not forbid an interval
    pub doubts: Vec<Doubt>,
}

/// What speaks against intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Doubt {
    /// α is not between ½ and 1, where means of iterates are normal
    Exponent {
        /// α
        alpha: f64,
    },
    /// Steps of one length, or of lengths like 1/i: the last iterate has another law than with those between
    LastIterate {
        /// α
        alpha: f64,
    },
    /// Fewer than a thousand iterates after the burn-in
    TooFew {
        /// How many there are
        iterates: u64,
    },
    /// The start is not forgotten
    NotConverged {
        /// m·Ση_i, which should be at least 5
        exponent: f64,
    },
    /// The projection binds: the optimum may lie outside
    OnBorder {
        /// The share of steps that ended there
        share: f64,
    },
    /// Gradients are clipped, and what they lead to is not the optimum
    Clipped,
    /// People of some tier came more often in one part of the run than in another
    MixChanged,
    /// Tiers did not come as often as the factors on their steps suppose
    MixUnlikeShares,
    /// The loss bends where iterates scatter, and their mean lies beside the optimum
    Biased {
        /// By so much of the half width of an interval, about, which should be at most 0.2
        share: f64,
    },
    /// Iterates that depend on each other for too long
    FewCorrelationTimes {
        /// n·η_n·m, which should be at least 30
        times: f64,
    },
    /// Nobody said what m is, so that neither the start nor the dependence could be judged
    CurvatureUnknown,
}

impl Doubt {
    /// Whether there is no interval because of it.
    pub fn refuses(&self) -> bool {
        match self {
            Self::Exponent { .. }
            | Self::LastIterate { .. }
            | Self::TooFew { .. }
            | Self::NotConverged { .. }
            | Self::OnBorder { .. }
            | Self::Clipped
            | Self::MixChanged => true,
            Self::MixUnlikeShares
            | Self::Biased { .. }
            | Self::FewCorrelationTimes { .. }
            | Self::CurvatureUnknown => false,
        }
    }
}

/// What is to be doubted about `iterates` because there are few of them.
pub(super) fn too_few(iterates: u64) -> Option<Doubt> {
    (iterates < LEAST_ITERATES).then_some(Doubt::TooFew { iterates })
}

/// What is to be doubted because of the steps: m·Ση_i is `exponent`, and n·η_n·m is `times`.
pub(super) fn doubts_of_steps(exponent: f64, times: f64) -> impl Iterator<Item = Doubt> {
    let converged = (exponent < LEAST_EXPONENT).then_some(Doubt::NotConverged { exponent });
    let long = (times < LEAST_CORRELATION_TIMES).then_some(Doubt::FewCorrelationTimes { times });
    converged.into_iter().chain(long)
}

/// What is to be doubted because an interval is beside its place by so many of its half widths.
pub(super) fn biased(share: f64) -> Option<Doubt> {
    (share > MOST_BIAS).then_some(Doubt::Biased { share })
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exponent { alpha } => {
                write!(f, "α is {alpha}, and the law of the mean, with its intervals, needs 1/2 < α < 1")
            }
            Self::LastIterate { alpha } => {
                write!(f, "α is {alpha}, and the law of the last iterate needs 0 < α < 1")
            }
            Self::TooFew { iterates } => {
                write!(f, "{iterates} iterates after the burn-in, and {LEAST_ITERATES} are needed")
            }
            Self::NotConverged { exponent } => {
                write!(
                    f,
                    "not converged: the start is forgotten to e^-{exponent:.1} only, and e^-{LEAST_EXPONENT} is needed"
                )
            }
            Self::OnBorder { share } => {
                write!(
                    f,
                    "{:.1} % of the steps ended on the border of what is allowed; the optimum may lie outside",
                    100.0 * share
                )
            }
            Self::Clipped => f.write_str(
                "gradients are clipped, by more or less as the response is, and lead to another point than the optimum",
            ),
            Self::MixChanged => {
                f.write_str("the mix of budgets has changed; intervals begin anew with the next block of reports")
            }
            Self::MixUnlikeShares => f.write_str(
                "the mix of budgets is not what the task says, and steps are longer or shorter than they seem",
            ),
            Self::Biased { share } => write!(
                f,
                "the loss bends under so much noise: intervals lie about {share:.2} of their half width beside the optimum, and {MOST_BIAS} is allowed; it takes shorter steps and more people"
            ),
            Self::FewCorrelationTimes { times } => write!(
                f,
                "the run is {times:.1} correlation times long; with fewer than {LEAST_CORRELATION_TIMES} intervals cover too seldom"
            ),
            Self::CurvatureUnknown => f.write_str(
                "the least curvature is not known, so that nobody can say whether this has converged",
            ),
        }
    }
}

/// Why there is no interval.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[error("no interval: {}", self.doubts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct Refused {
    /// Everything that was found, at least one of which refuses
    pub doubts: Vec<Doubt>,
}

impl Intervals {
    /// These intervals, unless a doubt refuses them.
    pub(super) fn unless(
        doubts: Vec<Doubt>,
        level: Level,
        coordinates: impl FnOnce() -> Vec<Interval>,
    ) -> Result<Self, Refused> {
        if doubts.iter().any(Doubt::refuses) {
            return Err(Refused { doubts });
        }
        Ok(Self { level: level.get(), coordinates: coordinates(), doubts })
    }
}
