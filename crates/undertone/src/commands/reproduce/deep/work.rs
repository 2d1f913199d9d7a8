//! Running what has not been run yet.

use super::clock::{Clock, Seconds, Stopwatch};
use super::learning::{Circumstances, learn};
use super::networks::Progress;
use super::people::People;
use super::record::{Outcome, Record, Run};
use super::setting::{Method, Setting};
use super::sources::Source;
use crate::progress::progress_bar;
use anyhow::Context;
use indicatif::ProgressBar;
use std::fs;
use std::path::Path;
use undertone_learn::represented::Seen;

/// Steps of the progress bar for a run without epochs.
const WITHOUT_EPOCHS: u64 = 10;

/// People as their features show them, and how long it took to look.
struct Looked {
    seen: Seen,
    took: Seconds,
}

/// Runs all settings that are not in the record, and records each as it ends. Checkpoints are in `folder` until then.
pub(super) fn run(
    settings: &[Setting],
    sources: &[Source],
    record: &mut Record,
    folder: &Path,
) -> anyhow::Result<()> {
    let (done, left): (Vec<&Setting>, Vec<&Setting>) =
        settings.iter().partition(|setting| record.has(setting));
    // Of what was interrupted after it was recorded
    for setting in done {
        let _ = fs::remove_dir_all(folder.join(setting.slug()));
    }
    let bar = progress_bar(left.iter().map(|setting| steps(setting)).sum());
    // Those who are asked are read, and looked at, once for all settings with the same people.
    for same in left.chunk_by(|a, b| (a.set, a.people) == (b.set, b.people)) {
        let source = sources.iter().find(|source| source.set == same[0].set);
        let people = source.context("a setting without people")?.people(same[0].people)?;
        let mut looked = None;
        for setting in same {
            let end = bar.position() + steps(setting);
            let run = one(setting, &people, &mut looked, &folder.join(setting.slug()), &bar)?;
            record.push(run)?;
            // What has ended needs no checkpoints; should they stay, they only take room.
            let _ = fs::remove_dir_all(folder.join(setting.slug()));
            bar.set_position(end);
        }
    }
    // Gone if it is empty
    let _ = fs::remove_dir(folder);
    bar.finish_and_clear();
    Ok(())
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
    folder: &Path,
    bar: &ProgressBar,
) -> anyhow::Result<Run> {
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    bar.set_message(setting.to_string());
    let looks = setting.method == Method::Ours && !setting.set.is_error();
    if looks && looked.is_none() {
        *looked = Some(look(people)?);
    }
    let clock = Clock::go_on(folder);
    let tell = |progress: &Progress| {
        clock.keep();
        bar.inc(1);
        bar.set_message(format!("{setting}, epoch {} of {}", progress.epoch, progress.epochs));
    };
    let looked = looked.as_ref().filter(|_| looks);
    let circumstances =
        Circumstances { seen: looked.map(|looked| &looked.seen), checkpoints: folder, tell: &tell };
    let mut devices = people.secrets.devices(setting.seed);
    let model = learn(setting, &people.public, &mut devices, &circumstances);
    let model = model.with_context(|| setting.to_string())?;
    let judged = people.judge.judge(&model);
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

fn look(people: &People) -> anyhow::Result<Looked> {
    let watch = Stopwatch::new();
    let seen = people.public.seen()?;
    Ok(Looked { seen, took: watch.seconds() })
}
