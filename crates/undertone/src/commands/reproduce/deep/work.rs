//! Running what has not been run yet.

use super::clock::{Clock, Seconds};
use super::learning::{Circumstances, learn};
use super::looking::{Looked, look};
use super::networks::Progress;
use super::people::People;
use super::record::{Outcome, Record, Run};
use super::setting::{Method, Setting};
use super::sources::Source;
use super::unfinished::Unfinished;
use crate::progress::progress_bar;
use anyhow::Context;
use indicatif::ProgressBar;
use std::fs;

/// Steps of the progress bar for a run without epochs.
const WITHOUT_EPOCHS: u64 = 10;

/// Runs all settings that are not in the record, and records each as it ends. What is unfinished is kept until then.
pub(super) fn run(
    settings: &[Setting],
    sources: &[Source],
    record: &mut Record,
    unfinished: &Unfinished,
) -> anyhow::Result<()> {
    let (done, left): (Vec<&Setting>, Vec<&Setting>) =
        settings.iter().partition(|setting| record.has(setting));
    // Of what was interrupted after it was recorded
    for setting in done {
        unfinished.end_run(setting);
        if !left.iter().any(|other| has_people_of(other, setting)) {
            unfinished.end_people(setting);
        }
    }
    let bar = progress_bar(left.iter().map(|setting| steps(setting)).sum());
    // Those who are asked are read, and looked at, once for all settings with the same people.
    for same in left.chunk_by(|a, b| has_people_of(a, b)) {
        let source = sources.iter().find(|source| source.set == same[0].set);
        let people = source.context("a setting without people")?.people(same[0].people)?;
        let mut looked = None;
        for setting in same {
            let end = bar.position() + steps(setting);
            let run = one(setting, &people, &mut looked, unfinished, &bar)?;
            record.push(run)?;
            unfinished.end_run(setting);
            bar.set_position(end);
        }
        unfinished.end_people(same[0]);
    }
    unfinished.end();
    bar.finish_and_clear();
    Ok(())
}

fn has_people_of(a: &Setting, b: &Setting) -> bool {
    (a.set, a.people) == (b.set, b.people)
}

/// Epochs of all stages.
fn steps(setting: &Setting) -> u64 {
    let stages = setting.method.stages().unwrap_or(1) as u64;
    setting.epochs.map_or(WITHOUT_EPOCHS, |epochs| epochs as u64 * stages)
}

fn one(
    setting: &Setting,
    people: &People,
    looked: &mut Option<Looked>,
    unfinished: &Unfinished,
    bar: &ProgressBar,
) -> anyhow::Result<Run> {
    let folder = unfinished.checkpoints(setting);
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    bar.set_message(setting.to_string());
    let looks = setting.method == Method::Ours && !setting.set.is_error();
    if looks && looked.is_none() {
        *looked = Some(look(&people.public, &unfinished.features(setting))?);
    }
    let clock = Clock::go_on(&folder);
    let tell = |progress: &Progress| {
        clock.keep();
        bar.inc(1);
        bar.set_message(format!("{setting}, epoch {} of {}", progress.epoch, progress.epochs));
    };
    let looked = looked.as_ref().filter(|_| looks);
    let circumstances =
        Circumstances { seen: looked.map(|looked| &looked.seen), checkpoints: &folder, tell: &tell };
    let mut devices = people.secrets.devices(setting.seed);
    let model = learn(setting, &people.public, &mut devices, &circumstances);
    let model = model.with_context(|| setting.to_string())?;
    let judged = people.judge.judge(&model)?;
    // Looking is part of every run that needs it, though it is done once.
    let looking = looked.map_or(Seconds { cpu: Some(0.0), wall: 0.0 }, |looked| looked.took);
    let Seconds { cpu, wall } = clock.seconds() + looking;
    let outcome = Outcome {
        value: judged.value,
        sampling_error: judged.sampling_error,
        cpu_seconds: cpu,
        wall_seconds: wall,
    };
    Ok(Run { setting: setting.clone(), outcome })
}
