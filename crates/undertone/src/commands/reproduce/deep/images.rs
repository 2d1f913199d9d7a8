//! Images and their labels from IDX files.

use super::networks::Image;
use super::people::{Input, Judge, People, Public, Secrets};
use super::setting::Set;
use crate::tables::{TableFile, numbers, vectors};
use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use undertone_learn::features::Rows;

/// Of those who are asked, and of those who judge.
pub(super) const FILES: [&str; 2] = ["train-images-idx3-ubyte", "t10k-images-idx3-ubyte"];
/// K
const CLASSES: u32 = 10;

pub(super) fn people(set: Set, [asked, others]: &[PathBuf; 2], count: usize) -> anyhow::Result<People> {
    let (rows, labels) = read(asked, count)?;
    let (judged, truth) = read(others, usize::MAX)?;
    ensure!(
        rows.width() == judged.width(),
        "{} has images of {} pixels, {} of {}",
        asked.display(),
        rows.width(),
        others.display(),
        judged.width()
    );
    let input = Input::Image(square(rows.width()).with_context(|| asked.display().to_string())?);
    let public = Public { rows, input, classes: CLASSES };
    Ok(People { public, secrets: Secrets::new(labels), judge: Judge::new(set, judged, truth) })
}

/// The shape of so many pixels.
fn square(pixels: usize) -> anyhow::Result<Image> {
    let side = pixels.isqrt();
    ensure!(side * side == pixels, "{pixels} pixels are no square image");
    Ok(Image { height: side, width: side, channels: 1 })
}

/// The first so many images, black 0 and white 1, and their labels.
fn read(path: &Path, count: usize) -> anyhow::Result<(Rows, Vec<u32>)> {
    let table = TableFile::open(path)?.select(["image", "label"])?;
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    for batch in table.batches()? {
        let batch = batch?;
        pixels.extend(vectors(batch.column(0))?.into_iter().map(|pixel| pixel / 255.0));
        for label in numbers(batch.column(1))? {
            let row = labels.len() + 1;
            let known = label.fract() == 0.0 && (0.0..f64::from(CLASSES)).contains(&label);
            ensure!(known, "{}: the label of row {row} is {label}, not from 0 to 9", path.display());
            labels.push(label as u32);
        }
        if labels.len() >= count {
            break;
        }
    }
    let width = pixels
        .len()
        .checked_div(labels.len())
        .with_context(|| format!("{}: there is nobody", path.display()))?;
    labels.truncate(count);
    pixels.truncate(labels.len() * width);
    Ok((Rows::dense(width, pixels), labels))
}
