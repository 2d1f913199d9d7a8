//! What an online descent over gradients of whole records should come to.

use super::labels::Labels;
use crate::arguments;
use crate::digits::digits;
use crate::exit::Usage;
use crate::output;
use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;
use std::io::Write;
use undertone_learn::online::laws::{Budgets, Design, DesignKind, Law, Prediction};
use undertone_learn::online::{Doubt, Steps};
use undertone_privacy::gradient::Weight;
use undertone_privacy::{Epsilon, Guarantee, Mu, PrivacyError, Rho};

/// What is asked about a descent.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Learning from whole records, one after the other")]
pub(super) struct Online {
    /// The design: a regression with its scale, or a label 0 or 1
    #[arg(
        id = "online",
        long = "online",
        value_name = "DESIGN",
        value_parser = designs(),
        requires_all = ["dimension", "eta", "alpha"],
        conflicts_with_all = ["classes", "radius", "lipschitz", "loss", "top", "target", "svg"]
    )]
    kind: Option<DesignKind>,
    /// μ, the promise to each person, in place of --epsilon; `inf` is no privacy
    #[arg(long, value_name = "M", value_parser = promise, allow_hyphen_values = true, requires = "online", conflicts_with_all = ["epsilon", "delta"])]
    mu: Option<Promise>,
    /// Each ε, or μ, that a person may choose, the one above first
    #[arg(long, value_name = "LEVEL,…", value_delimiter = ',', value_parser = arguments::positive, allow_hyphen_values = true, requires_all = ["online", "shares"])]
    tiers: Option<Vec<f64>>,
    /// The share of people in each of --tiers
    #[arg(long, value_name = "SHARE,…", value_delimiter = ',', value_parser = arguments::share, allow_hyphen_values = true, requires = "tiers")]
    shares: Option<Vec<f64>>,
    /// η, of steps η·i^-α
    #[arg(long, value_name = "H", value_parser = arguments::positive, allow_hyphen_values = true, requires = "online")]
    eta: Option<f64>,
    /// α, from 0 to 1; intervals need 1/2 < α < 1
    #[arg(long, value_name = "A", value_parser = arguments::number, allow_hyphen_values = true, requires = "online")]
    alpha: Option<f64>,
    /// How records are weighted: R²/|x|², as published, or R/|x|, which is better
    #[arg(long, value_name = "WEIGHTS", value_parser = weights(), requires = "online", default_value = "square")]
    weights: Weight,
    /// i₀, of steps η·(i + i₀)^-α
    #[arg(long, value_name = "I", value_parser = clap::value_parser!(u64).range(..=1 << 53), requires = "online", default_value_t = 0)]
    offset: u64,
    /// What noise is made for: all gradients at every point, as published, or those at the public point, as devices do
    #[arg(long, value_name = "WHERE", value_parser = noises(), requires = "online", default_value = "everywhere")]
    noise: NoiseAt,
    /// The mean width of 95 % intervals that is wanted: how many people does it take?
    #[arg(long, value_name = "W", value_parser = arguments::positive, allow_hyphen_values = true, requires = "online")]
    target_width: Option<f64>,
}

/// Which gradients noise has to hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoiseAt {
    Everywhere,
    PublicPoint,
}

impl NoiseAt {
    fn name(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::PublicPoint => "public-point",
        }
    }
}

fn noises() -> impl TypedValueParser<Value = NoiseAt> {
    PossibleValuesParser::new(["everywhere", "public-point"]).map(|name| match name.as_str() {
        "everywhere" => NoiseAt::Everywhere,
        _ => NoiseAt::PublicPoint,
    })
}

/// μ, or none.
#[derive(Clone, Copy, Debug)]
enum Promise {
    Gaussian(Mu),
    NoPrivacy,
}

fn promise(text: &str) -> anyhow::Result<Promise> {
    if text == "inf" { Ok(Promise::NoPrivacy) } else { Ok(Promise::Gaussian(arguments::mu(text)?)) }
}

fn designs() -> impl TypedValueParser<Value = DesignKind> {
    PossibleValuesParser::new(["linear", "logistic"]).map(|name| match name.as_str() {
        "linear" => DesignKind::Linear,
        _ => DesignKind::Logistic,
    })
}

fn weights() -> impl TypedValueParser<Value = Weight> {
    PossibleValuesParser::new(["square", "linear"]).map(|name| match name.as_str() {
        "square" => Weight::Square,
        _ => Weight::Linear,
    })
}

impl Online {
    /// What was asked for, if anything was.
    pub(super) fn descent(
        &self,
        dimension: Option<usize>,
        labels: &Labels,
    ) -> anyhow::Result<Option<Descent>> {
        let Some(kind) = self.kind else { return Ok(None) };
        let dimension = dimension.context("--dimension is needed")?;
        let (eta, alpha) = (self.eta.context("--eta is needed")?, self.alpha.context("--alpha is needed")?);
        let promise = self.promise(labels)?;
        let steps = Steps::new(eta, alpha, self.offset).map_err(Usage::new)?;
        let design = Design::new(kind, self.weights, dimension).map_err(Usage::new)?;
        let budgets = self.budgets(&design, promise)?;
        let law = match self.noise {
            NoiseAt::Everywhere => design.law(budgets),
            NoiseAt::PublicPoint => design.law_at_public_point(budgets)?,
        };
        let (weights, offset, noise) = (self.weights, self.offset, self.noise);
        let tiers = self.tiers.clone().zip(self.shares.clone());
        let asked = Asked { promise, tiers, budgets };
        Ok(Some(Descent {
            design,
            weights,
            asked,
            noise,
            law,
            steps,
            offset,
            target_width: self.target_width,
        }))
    }

    /// What everybody, or the first tier, is promised; none is no privacy.
    fn promise(&self, labels: &Labels) -> Result<Option<Guarantee>, Usage> {
        Ok(match (self.mu, labels.epsilon, labels.delta) {
            (Some(Promise::NoPrivacy), ..) => None,
            (Some(Promise::Gaussian(mu)), ..) => Some(Guarantee::Gaussian(mu)),
            (None, Some(epsilon), Some(delta)) => Some(Guarantee::Approximate(epsilon, delta)),
            (None, Some(epsilon), None) => Some(Guarantee::Pure(epsilon)),
            (None, None, _) => {
                return Err(Usage::new("--online needs --mu, or --epsilon with or without --delta"));
            }
        })
    }

    /// E\[1/μ²\] over the tiers.
    fn budgets(&self, design: &Design, promise: Option<Guarantee>) -> anyhow::Result<Budgets> {
        let Some(promise) = promise else {
            return match self.tiers {
                Some(_) => Err(Usage::new("--tiers are of people who are promised something").into()),
                None => Ok(Budgets::NO_PRIVACY),
            };
        };
        let (levels, shares) = match (&self.tiers, &self.shares) {
            (Some(levels), Some(shares)) => (levels.clone(), shares.clone()),
            _ => (vec![level(promise)], vec![1.0]),
        };
        if levels[0].to_bits() != level(promise).to_bits() {
            let (first, own) = (levels[0], level(promise));
            return Err(
                Usage::new(format!("--tiers begins with {first}, but has to begin with {own}")).into()
            );
        }
        if levels.len() != shares.len() {
            let (levels, shares) = (levels.len(), shares.len());
            return Err(Usage::new(format!("--tiers has {levels} levels, and --shares {shares}")).into());
        }
        let around = design.ball(self.noise == NoiseAt::PublicPoint)?;
        let tier = |(&level, &share): (&f64, &f64)| -> Result<(f64, Mu), Usage> {
            let promise = at_level(promise, level).map_err(Usage::new)?;
            Ok((share, design.gaussian_equivalent(promise, &around).map_err(Usage::new)?))
        };
        let tiers = levels.iter().zip(&shares).map(tier).collect::<Result<Vec<_>, _>>()?;
        Ok(Budgets::tiers(&tiers).map_err(Usage::new)?)
    }
}

/// ε or μ of a promise.
fn level(promise: Guarantee) -> f64 {
    match promise {
        Guarantee::Pure(epsilon) | Guarantee::Approximate(epsilon, _) => epsilon.get(),
        Guarantee::Gaussian(mu) => mu.get(),
        Guarantee::Concentrated(rho) => rho.get(),
    }
}

/// The same promise at another level.
fn at_level(promise: Guarantee, level: f64) -> Result<Guarantee, PrivacyError> {
    Ok(match promise {
        Guarantee::Pure(_) => Guarantee::Pure(Epsilon::new(level)?),
        Guarantee::Approximate(_, delta) => Guarantee::Approximate(Epsilon::new(level)?, delta),
        Guarantee::Gaussian(_) => Guarantee::Gaussian(Mu::new(level)?),
        Guarantee::Concentrated(_) => Guarantee::Concentrated(Rho::new(level)?),
    })
}

/// What people are promised.
struct Asked {
    promise: Option<Guarantee>,
    /// Levels and shares
    tiers: Option<(Vec<f64>, Vec<f64>)>,
    budgets: Budgets,
}

/// A design and how it is learnt.
pub(super) struct Descent {
    design: Design,
    weights: Weight,
    asked: Asked,
    noise: NoiseAt,
    law: Law,
    steps: Steps,
    offset: u64,
    target_width: Option<f64>,
}

/// What is printed for machines.
#[derive(Serialize)]
struct OnlinePlan {
    online: &'static str,
    dimension: usize,
    weights: &'static str,
    /// `null` unless that is the promise
    mu: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tiers: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shares: Option<Vec<f64>>,
    /// The μ that Gaussian noise of the same variance has in the mean over people; `null` without privacy
    effective_mu: Option<f64>,
    /// What the noise is made for
    noise: &'static str,
    eta: f64,
    alpha: f64,
    offset: u64,
    n: u64,
    least_curvature: f64,
    #[serde(flatten)]
    prediction: Prediction,
    doubts: Vec<Doubt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Target>,
}

/// What a width takes.
#[derive(Serialize)]
struct Target {
    width: f64,
    /// `null` if there are not as many people
    n_needed: Option<u64>,
    doubts: Vec<Doubt>,
}

impl Descent {
    pub(super) fn run(&self, n: u64, json: bool, out: &mut impl Write) -> anyhow::Result<()> {
        let plan = self.plan(n);
        if json {
            return output::json(&plan, out);
        }
        table(&plan, out)
    }

    fn plan(&self, n: u64) -> OnlinePlan {
        let (law, Asked { promise, tiers, budgets }) = (&self.law, &self.asked);
        let (epsilon, delta, mu) = match promise {
            Some(Guarantee::Pure(epsilon)) => (Some(epsilon.get()), None, None),
            Some(Guarantee::Approximate(epsilon, delta)) => (Some(epsilon.get()), Some(delta.get()), None),
            Some(Guarantee::Gaussian(mu)) => (None, None, Some(mu.get())),
            // which nobody can ask for
            Some(Guarantee::Concentrated(_)) | None => (None, None, None),
        };
        let (tiers, shares) = tiers.clone().unzip();
        OnlinePlan {
            online: match self.design.kind() {
                DesignKind::Linear => "linear",
                DesignKind::Logistic => "logistic",
            },
            dimension: self.design.dimension(),
            weights: self.weights.name(),
            mu,
            epsilon,
            delta,
            tiers,
            shares,
            effective_mu: promise.map(|_| budgets.mean_inverse_square().sqrt().recip()),
            noise: self.noise.name(),
            eta: self.steps.eta(),
            alpha: self.steps.alpha(),
            offset: self.offset,
            n,
            least_curvature: law.least_curvature(),
            prediction: law.predict(&self.steps, n),
            doubts: law.doubts(&self.steps, n),
            target: self.target_width.map(|width| self.target(law, width)),
        }
    }

    fn target(&self, law: &Law, width: f64) -> Target {
        let n_needed = law.people_for(width);
        let doubts = n_needed.map_or(Vec::new(), |n| law.doubts(&self.steps, n));
        Target { width, n_needed, doubts }
    }
}

fn table(plan: &OnlinePlan, out: &mut impl Write) -> anyhow::Result<()> {
    let OnlinePlan { online, dimension, weights, eta, alpha, offset, n, prediction, .. } = plan;
    let promise = promise_words(plan);
    writeln!(out, "{online}, {dimension} covariates and a constant, {weights} weights, {promise}")?;
    let index = if *offset == 0 { "i".to_owned() } else { format!("(i + {offset})") };
    writeln!(out, "steps {eta}·{index}^-{alpha}, {n} people, each asked once")?;
    writeln!(out, "noise for the gradients {}\n", noise_words(plan))?;
    let mut text = |what: &str, value: &str| writeln!(out, "{what:<52}{value:>14}");
    let law = |value: Option<f64>| value.map_or("no law".to_owned(), digits);
    text("last iterate, expected squared error", &law(prediction.last_iterate_error))?;
    text("mean of iterates, expected squared error", &law(prediction.averaged_error))?;
    let mut line = |what: &str, value: f64| text(what, &digits(value));
    line("95 % intervals by random scaling, mean width", prediction.interval_width)?;
    line("transient exponent (5 forgets the start)", prediction.transient_exponent)?;
    line("correlation times (30 for intervals that cover)", prediction.correlation_times)?;
    line("least curvature of the loss", plan.least_curvature)?;
    writeln!(out, "\nThese are laws for many people; {}", reach(&plan.doubts))?;
    warnings(&plan.doubts, out)?;
    if plan.alpha >= 1.0 {
        let least = digits(0.5 / plan.least_curvature);
        writeln!(
            out,
            "  warning: at α = 1 the last iterate falls like 1/n only with η above {least}, and has another law"
        )?;
    }
    if let Some(Target { width, n_needed, doubts }) = &plan.target {
        match n_needed {
            Some(n) => writeln!(out, "\nIntervals of width {width} take {n} people.")?,
            None => writeln!(out, "\nIntervals of width {width} take more people than there are.")?,
        }
        warnings(doubts, out)?;
    }
    Ok(())
}

fn promise_words(plan: &OnlinePlan) -> String {
    let named = [("μ", plan.mu), ("ε", plan.epsilon), ("δ", plan.delta)];
    let named: Vec<String> =
        named.iter().filter_map(|(name, value)| value.map(|value| format!("{name} = {value}"))).collect();
    match (plan.effective_mu, &plan.tiers) {
        (None, _) => "no privacy".to_owned(),
        (Some(_), None) if plan.mu.is_some() => named.join(", "),
        (Some(mu), None) => format!("{}, with the noise of μ = {}", named.join(", "), digits(mu)),
        (Some(mu), Some(tiers)) => {
            let tiers = tiers.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
            format!("{}, in tiers of {tiers}, with the noise of μ = {}", named.join(", "), digits(mu))
        }
    }
}

fn noise_words(plan: &OnlinePlan) -> &'static str {
    if plan.noise == NoiseAt::PublicPoint.name() {
        "at the public point, as devices add it"
    } else {
        "at every point, as published; devices add what the public point needs (--noise public-point)"
    }
}

/// How far to believe the figures.
fn reach(doubts: &[Doubt]) -> &'static str {
    if doubts.is_empty() {
        "runs as long as this come within some per cent of them in the mean over runs."
    } else {
        "this run may be far from them:"
    }
}

fn warnings(doubts: &[Doubt], out: &mut impl Write) -> anyhow::Result<()> {
    for doubt in doubts {
        writeln!(out, "  warning: {doubt}")?;
    }
    Ok(())
}
