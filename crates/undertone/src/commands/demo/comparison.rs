//! What the same people's labels would have told under other conditions.

use crate::collector::Collector;
use crate::commands::simulate::{Data, Method, Promise, StageOptions};
use crate::randomness;
use anyhow::{Context, bail};
use rand_core::Rng;
use serde::Serialize;
use undertone_learn::Predictor;
use undertone_learn::evaluation::Figure;
use undertone_learn::live::Live;
use undertone_privacy::Epsilon;

/// How good one way to learn is.
#[derive(Serialize)]
pub(super) struct Learnt {
    pub(super) method: &'static str,
    pub(super) about: &'static str,
    /// On those who hold no device
    pub(super) accuracy: Figure,
}

/// Learns in four ways from the people whose reports are in `collector`, and judges by others.
pub(super) fn compare(collector: &Collector, data: &Data, seed: Option<u64>) -> anyhow::Result<Vec<Learnt>> {
    let (ours, rival) = (named("one-round")?, named("rr-naive")?);
    let epsilon = Epsilon::new(collector.task().mechanism.level())?;
    let mechanism = collector.task().mechanism_at(epsilon)?;
    let seed = match seed {
        Some(seed) => seed,
        None => randomness::generator(None)?.next_u64(),
    };
    let in_full = |method: &Method, promise| method.model(data, promise, &StageOptions::default(), seed);
    let mut reports = collector.stored()?;
    // Many passes depend a little on the order, which the network decides.
    reports.sort_unstable_by_key(|report| report.id);
    let reports = Live::new(collector.task())?.examples(&reports)?;
    let live = collector.model().context("nothing was learnt")?;
    let Predictor::Linear(live) = &live.predictor else { bail!("the demonstration learns classes") };
    let row = |method, about, accuracy| Learnt { method, about, accuracy };
    Ok(vec![
        row("without privacy", "from everybody's label", data.accuracy(&in_full(&ours, Promise::None)?)?),
        row(
            "undertone",
            "many passes over the reports",
            data.accuracy(&ours.learn(reports, &mechanism, data, seed)?)?,
        ),
        row("undertone, live", "one pass, while they came in: the model on the page", data.accuracy(live)?),
        row(
            "randomized response",
            "each report taken for the truth",
            data.accuracy(&in_full(&rival, Promise::Private(epsilon))?)?,
        ),
    ])
}

fn named(name: &str) -> anyhow::Result<Method> {
    Method::named(name).with_context(|| format!("there is no method `{name}`"))
}
