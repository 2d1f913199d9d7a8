//! The moments that a collection would have, in law: those of a sample with the noise of the codebook.

use super::Sample;
use crate::LearnError;
use crate::moments::Moments;
use undertone_privacy::statistic::{Moment, MomentRelease};
use undertone_privacy::vector::VectorRandomizer;
use undertone_privacy::vector::stream::PublicStream;

/// What the reports of the people of `sample` would amount to.
pub fn noisy_moments(release: &MomentRelease, sample: &Sample, seed: u64) -> Result<Moments, LearnError> {
    noisy_moments_of(release, sample.moments(), sample.people() as f64, seed)
}

/// What the reports of so many `people` with these first and second moments would amount to: the mean of many codewords is normal,
/// with the variance (1/m² - |v|²)/(n·D) in each coordinate, of which |v|² belongs to the people themselves and is left to them.
pub fn noisy_moments_of(
    release: &MomentRelease,
    (first, second): (Vec<f64>, Vec<f64>),
    people: f64,
    seed: u64,
) -> Result<Moments, LearnError> {
    let mut stream = PublicStream::new(u128::from(seed), 0);
    let mut tell = |mut mean: Vec<f64>, moment| {
        let n = people * release.probability(moment);
        let variance = release.codebook(moment).variance_at_norm(1.0) / (n * mean.len() as f64);
        let mut noise = vec![0.0; mean.len()];
        stream.fill_normal(&mut noise);
        mean.iter_mut().zip(noise).for_each(|(value, z)| *value += variance.sqrt() * z);
        (mean, variance)
    };
    let (mean, variance) = tell(first, Moment::First);
    let second = (release.share().heads() > 0).then(|| tell(second, Moment::Second));
    Moments::new(mean, variance, second)
}
