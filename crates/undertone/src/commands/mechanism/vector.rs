//! `mechanism vector`: how a vector of a ball becomes a report, in the integers that run.

use super::integers::{Integers, OF_WORDS};
use crate::digits::digits;
use crate::exit::Usage;
use crate::output::{self, Drawing};
use crate::promise::Promise;
use crate::{arguments, vector_chart};
use serde::Serialize;
use std::io::Write;
use undertone_privacy::accounting::{
    mu_for, mu_for_concentrated, pure_for_concentrated, pure_for_gaussian, rho_for,
};
use undertone_privacy::vector::{Ball, STEPS, VectorKind, VectorMechanism};
use undertone_privacy::{Delta, Epsilon, Guarantee, Mu, PrivacyError, Rho};

/// A mechanism that reports about a vector in a ball around zero
///
/// Under --epsilon: laplace, discrete Laplace noise on every coordinate; codebook, one of 256 public random vectors,
/// which is what devices send; and in floating-point numbers, for simulation only, l2-laplace, duchi and privunit. Under
/// --epsilon and --delta: gaussian. Under --mu: gdp. Under --rho: discrete-gaussian. laplace is calibrated to the l1
/// sensitivity 2R√P, the Gaussians to the l2 sensitivity 2R.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone mechanism vector --kind codebook --dimension 11 --radius 1 --epsilon 1
  undertone mechanism vector --kind gaussian --dimension 11 --radius 1 --epsilon 1 --delta 1e-6 --json
  undertone mechanism vector --kind gdp --dimension 11 --radius 1 --mu 0.5 --svg vector.svg")]
pub(crate) struct Vector {
    /// Which mechanism
    #[arg(long, value_parser = arguments::vector_kind())]
    kind: VectorKind,
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
    #[command(flatten)]
    drawing: Drawing,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Vector {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let promise = self.promise()?;
        let ball = Ball::new(self.dimension, self.radius).map_err(Usage::new)?;
        let mechanism = VectorMechanism::new(self.kind, ball, promise)
            .map_err(|error| refused(self.kind, promise, &error))?;
        let facts = Facts::new(&mechanism)?;
        let drawn = self.drawing.write(|| {
            let alike = sufficient(promise).into_iter().find_map(|promise| promise.to_pure().ok());
            let epsilon = alike.ok_or_else(|| Usage::new(format!("--svg: no pure ε implies {promise}")))?;
            vector_chart::svg(&mechanism, epsilon)
        })?;
        if self.json {
            return output::json(&facts, out);
        }
        facts.explain(promise, out)?;
        compare(&mechanism, out)?;
        if let Some(path) = drawn {
            writeln!(out, "\nDrawn in {}", path.display())?;
        }
        Ok(())
    }

    /// The one promise that the options make.
    fn promise(&self) -> Result<Guarantee, Usage> {
        match (self.epsilon, self.delta, self.mu, self.rho) {
            (Some(epsilon), None, None, None) => Ok(Guarantee::Pure(epsilon)),
            (Some(epsilon), Some(delta), None, None) => Ok(Guarantee::Approximate(epsilon, delta)),
            (None, None, Some(mu), None) => Ok(Guarantee::Gaussian(mu)),
            (None, None, None, Some(rho)) => Ok(Guarantee::Concentrated(rho)),
            (None, Some(_), None, None) => Err(Usage::new("--delta is given, but --epsilon is missing")),
            (None, None, None, None) => Err(Usage::new(format!(
                "the promise is missing: --kind {} takes {}",
                self.kind,
                currency(self.kind)
            ))),
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

/// Everything about a mechanism that can be put in a number.
#[derive(Serialize)]
struct Facts {
    kind: &'static str,
    dimension: usize,
    radius: f64,
    promise: Promise,
    variance_at_radius: f64,
    variance_at_zero: f64,
    noise_scale: Option<f64>,
    cap: Option<f64>,
    report_bytes: Option<usize>,
    /// Whether a report may leave a device; if not, the mechanism is for simulation only
    device_safe: bool,
    grid_steps: u32,
    integers: Integers,
}

impl Facts {
    fn new(mechanism: &VectorMechanism) -> Result<Self, Usage> {
        let (ball, kind) = (mechanism.ball(), mechanism.kind());
        let radius = ball.radius();
        let variance_at_zero = mechanism.variance_at_norm(0.0);
        if !variance_at_zero.is_finite() {
            return Err(Usage::new(format!(
                "the radius is {radius}, so large that no float holds the variance; use larger units"
            )));
        }
        Ok(Self {
            kind: kind.name(),
            dimension: ball.dimension(),
            radius,
            promise: mechanism.guarantee().into(),
            variance_at_radius: mechanism.variance_at_norm(radius),
            variance_at_zero,
            noise_scale: mechanism.noise_scale(),
            cap: mechanism.cap(),
            report_bytes: mechanism.report_bytes(),
            device_safe: kind.is_device_safe(),
            grid_steps: STEPS,
            integers: integers(mechanism),
        })
    }

    fn explain(&self, promise: Guarantee, out: &mut impl Write) -> anyhow::Result<()> {
        let Self { kind, dimension, radius, .. } = self;
        writeln!(out, "{kind}: a vector of {dimension} in the ball of radius {radius}")?;
        if !self.device_safe {
            writeln!(out, "\n*** SIMULATION ONLY: NO REPORT OF THIS MECHANISM MAY LEAVE A DEVICE ***")?;
            writeln!(
                out,
                "Its law keeps the promise, but the floating-point numbers that run do not: which of"
            )?;
            writeln!(
                out,
                "them can come out depends on the vector, so that some reports are possible under one"
            )?;
            writeln!(
                out,
                "vector and impossible under another, a loss without bound. Devices send codebook."
            )?;
        }

        writeln!(out, "\nPromise")?;
        writeln!(out, "  {promise}: {}", meaning(promise))?;

        if !self.integers.is_empty() {
            writeln!(out, "\nIntegers that run")?;
            let name = "grid_steps";
            writeln!(
                out,
                "  {name:<20}{:>21}   from zero to the radius, on every coordinate",
                self.grid_steps
            )?;
            self.integers.explain(out)?;
        }

        writeln!(out, "\nExact variances, E|estimate - g|² over all coordinates; the estimate is unbiased")?;
        writeln!(out, "  for a vector on the sphere     {:>23}", self.variance_at_radius)?;
        writeln!(out, "  for the zero vector            {:>23}", self.variance_at_zero)?;
        if let Some(scale) = self.noise_scale {
            writeln!(out, "  scale of the noise             {scale:>23}   {}", scale_meaning(promise, kind))?;
        }
        if let Some(cap) = self.cap {
            writeln!(out, "  cosine at which the cap begins {cap:>23}")?;
        }

        writeln!(out, "\nReport")?;
        match self.report_bytes {
            Some(bytes) => writeln!(out, "  {bytes} bytes, always")?,
            None => writeln!(out, "  none that may be sent")?,
        }
        Ok(())
    }
}

/// What a promise says, to whoever made none before.
fn meaning(promise: Guarantee) -> String {
    match promise {
        Guarantee::Pure(epsilon) => format!(
            "no report is more than e^ε = {:.6} times likelier under one vector than another",
            epsilon.exp()
        ),
        Guarantee::Approximate(epsilon, _) => format!(
            "no event is likelier under one vector than e^ε = {:.6} times its probability under another plus δ",
            epsilon.exp()
        ),
        Guarantee::Gaussian(_) => "two vectors are as hard to tell apart as N(0, 1) and N(μ, 1)".to_string(),
        Guarantee::Concentrated(_) => {
            "every Rényi divergence of order α between two vectors is at most ρ·α".to_string()
        }
    }
}

/// What the noise was made wide enough for.
fn scale_meaning(promise: Guarantee, kind: &str) -> &'static str {
    match promise {
        Guarantee::Pure(_) if kind == VectorKind::Laplace.name() => "b = 2R√P/ε, from the l1 sensitivity",
        Guarantee::Pure(_) => "2R/ε, from the l2 sensitivity",
        Guarantee::Approximate(..) => "σ = 2R/μ at the largest μ that implies (ε, δ)",
        Guarantee::Gaussian(_) => "σ = 2R/μ, from the l2 sensitivity",
        Guarantee::Concentrated(_) => "σ = 2R/√(2ρ), from the l2 sensitivity",
    }
}

/// The numbers that a device draws by; none where floats decide.
fn integers(mechanism: &VectorMechanism) -> Integers {
    let none = Integers::new();
    match mechanism {
        VectorMechanism::Laplace(laplace) => {
            let scale = laplace.noise().scale();
            none.and(
                "scale_numerator",
                scale.numerator(),
                "P(noise z) ∝ exp(-|z| · denominator / numerator),",
            )
            .and("scale_denominator", scale.denominator(), "in grid steps, on every coordinate")
        }
        VectorMechanism::Gaussian(gaussian) | VectorMechanism::Gdp(gaussian) => none.and(
            "sigma_steps",
            gaussian.noise().scale(),
            "σ of an exact Gaussian in grid steps, then rounded, on every coordinate",
        ),
        VectorMechanism::DiscreteGaussian(gaussian) => {
            let square = gaussian.noise().square();
            none.and(
                "square_numerator",
                square.numerator(),
                "P(noise z) ∝ exp(-z² / 2σ²), σ² = numerator / denominator,",
            )
            .and(
                "square_denominator",
                square.denominator(),
                "in squared grid steps, on every coordinate",
            )
        }
        VectorMechanism::Codebook(codebook) => none
            .and("codewords", codebook.codewords(), "random unit vectors, made from a public seed")
            .and("top", codebook.top(), "of them, those closest to the vector, are likelier")
            .and("top_words", codebook.keep().heads(), format_args!("{OF_WORDS} report one of these")),
        VectorMechanism::L2Laplace(_) | VectorMechanism::Duchi(_) | VectorMechanism::PrivUnit(_) => none,
    }
}

/// This promise, then the weakest in other currencies that imply it.
fn sufficient(promise: Guarantee) -> Vec<Guarantee> {
    let others = match promise {
        Guarantee::Pure(_) => Vec::new(),
        Guarantee::Approximate(epsilon, delta) => vec![
            Ok(Guarantee::Pure(epsilon)),
            mu_for(epsilon, delta).map(Guarantee::Gaussian),
            rho_for(epsilon, delta).map(Guarantee::Concentrated),
        ],
        Guarantee::Gaussian(mu) => vec![pure_for_gaussian(mu).map(Guarantee::Pure)],
        Guarantee::Concentrated(rho) => vec![
            pure_for_concentrated(rho).map(Guarantee::Pure),
            mu_for_concentrated(rho).map(Guarantee::Gaussian),
        ],
    };
    // One that no float can state is no alternative.
    std::iter::once(promise).chain(others.into_iter().flatten()).collect()
}

/// Every kind that can keep the same promise, if by keeping another that implies it, the best first.
fn compare(mechanism: &VectorMechanism, out: &mut impl Write) -> anyhow::Result<()> {
    let (ball, promise) = (mechanism.ball(), mechanism.guarantee());
    let promises = sufficient(promise);
    let able = |kind| promises.iter().find_map(|&own| VectorMechanism::new(kind, ball, own).ok());
    let mut all: Vec<VectorMechanism> = VectorKind::ALL.into_iter().filter_map(able).collect();
    let variance = |one: &VectorMechanism| one.variance_at_norm(ball.radius());
    all.sort_by(|a, b| variance(a).total_cmp(&variance(b)));
    let least = variance(&all[0]);
    writeln!(out, "\nEvery kind that keeps {promise}, by its variance on the sphere")?;
    let header = ["mechanism", "variance", "× least", "bytes", "kept through"];
    writeln!(out, "  {:<20}{:>12}{:>12}{:>14}   {}", header[0], header[1], header[2], header[3], header[4])?;
    for other in &all {
        let (kind, value, own) = (other.kind(), variance(other), other.guarantee());
        let times = digits(if value > least { value / least } else { 1.0 });
        let bytes = other.report_bytes().map_or("simulated".to_string(), |bytes| bytes.to_string());
        let here = if kind == mechanism.kind() { "   ← this one" } else { "" };
        writeln!(out, "  {kind:<20}{:>12}{times:>12}{bytes:>14}   {own}{here}", digits(value))?;
    }
    Ok(())
}
