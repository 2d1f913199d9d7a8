//! A vector mechanism in words.

use crate::arguments;
use crate::exit::Usage;
use undertone_privacy::vector::{Ball, VectorKind, VectorMechanism};
use undertone_privacy::{Delta, Epsilon, Guarantee, Mu, PrivacyError, Rho};

/// A mechanism that reports about a vector in a ball around zero
///
/// Under --epsilon: laplace, discrete Laplace noise on every coordinate; codebook, one of 256 public random vectors,
/// which is what devices send; and in floating-point numbers, for simulation only, l2-laplace, duchi and privunit. Under
/// --epsilon and --delta: gaussian. Under --mu: gdp. Under --rho: discrete-gaussian. laplace is calibrated to the l1
/// sensitivity 2R√P, the Gaussians to the l2 sensitivity 2R.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone audit vector --kind gdp --dimension 3 --radius 1 --mu 1")]
pub(crate) struct VectorWords {
    /// Which mechanism; without it, the best that may leave a device
    #[arg(long, value_parser = arguments::vector_kind())]
    kind: Option<VectorKind>,
    /// P, the number of coordinates
    #[arg(long, value_name = "P", value_parser = arguments::dimension, allow_hyphen_values = true)]
    dimension: usize,
    /// R, the radius of the ball; longer vectors are scaled back to it
    #[arg(long, value_name = "R", value_parser = arguments::number, allow_hyphen_values = true)]
    radius: f64,
    /// ε, the promise
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true)]
    epsilon: Option<Epsilon>,
    /// δ, the probability on which the promise of ε may fail
    #[arg(long, value_name = "D", value_parser = arguments::delta, allow_hyphen_values = true)]
    delta: Option<Delta>,
    /// μ, the promise of Gaussian differential privacy
    #[arg(long, value_name = "M", value_parser = arguments::mu, allow_hyphen_values = true)]
    mu: Option<Mu>,
    /// ρ, the promise of zero-concentrated differential privacy
    #[arg(long, value_name = "RHO", value_parser = arguments::rho, allow_hyphen_values = true)]
    rho: Option<Rho>,
}

impl VectorWords {
    /// What the options describe.
    pub(crate) fn mechanism(&self) -> Result<VectorMechanism, Usage> {
        let promise = self.promise()?;
        let ball = Ball::new(self.dimension, self.radius).map_err(Usage::new)?;
        match self.kind {
            Some(kind) => {
                VectorMechanism::new(kind, ball, promise).map_err(|error| refused(kind, promise, &error))
            }
            None => VectorMechanism::best(ball, promise).map_err(Usage::new),
        }
    }

    /// The one promise that the options make.
    fn promise(&self) -> Result<Guarantee, Usage> {
        match (self.epsilon, self.delta, self.mu, self.rho) {
            (Some(epsilon), None, None, None) => Ok(Guarantee::Pure(epsilon)),
            (Some(epsilon), Some(delta), None, None) => Ok(Guarantee::Approximate(epsilon, delta)),
            (None, None, Some(mu), None) => Ok(Guarantee::Gaussian(mu)),
            (None, None, None, Some(rho)) => Ok(Guarantee::Concentrated(rho)),
            (None, Some(_), None, None) => Err(Usage::new("--delta is given, but --epsilon is missing")),
            (None, None, None, None) => Err(Usage::new(match self.kind {
                Some(kind) => format!("the promise is missing: --kind {kind} takes {}", currency(kind)),
                None => "the promise is missing: --epsilon E [--delta D], or --mu M, or --rho R".to_string(),
            })),
            _ => Err(Usage::new("one promise is expected: --epsilon E [--delta D], or --mu M, or --rho R")),
        }
    }
}

/// The options in which the promise of a kind is made.
fn currency(kind: VectorKind) -> &'static str {
    match kind {
        VectorKind::Gaussian => "--epsilon and --delta",
        VectorKind::Gdp => "--mu",
        VectorKind::DiscreteGaussian => "--rho",
        _ => "--epsilon alone",
    }
}

/// Why there is no such mechanism, and for a promise of the wrong currency what to do about it.
fn refused(kind: VectorKind, promise: Guarantee, error: &PrivacyError) -> Usage {
    let PrivacyError::WrongPromise { .. } = error else { return Usage::new(error) };
    let cure = match (kind, promise) {
        (VectorKind::Gaussian, Guarantee::Pure(_)) => "; --delta is missing",
        (VectorKind::Gaussian | VectorKind::Gdp | VectorKind::DiscreteGaussian, _) => "",
        (_, Guarantee::Approximate(..)) => "; leave --delta out",
        _ => "",
    };
    Usage::new(format!("{error}: it takes {}{cure}", currency(kind)))
}
