//! Images of nothing: ten blurred shapes, moved about and under noise, so that methods can be compared where there is no data.
//!
//! Shapes, moves and noise come from public streams of their own, so that everybody has the same people.

use super::networks::Image;
use super::people::{Input, Judge, People, Public, Secrets};
use super::setting::Set;
use undertone_learn::features::Rows;
use undertone_privacy::vector::stream::PublicStream;

/// As many as can be asked.
pub(super) const MOST_PEOPLE: usize = 20_000;
/// Those who judge.
const JUDGES: usize = 2000;
const CLASSES: usize = 10;
/// Pixels of a side
const SIDE: usize = 16;
const PIXELS: usize = SIDE * SIDE;
/// Pixels that a shape is moved by, at most, in either direction
const MOVE: usize = 2;
/// The deviation of the noise; shapes have one
const NOISE: f64 = 1.0;
/// How often a pixel is averaged with its neighbours
const BLUR: usize = 2;

pub(super) fn people(count: usize) -> People {
    let shapes: Vec<Vec<f64>> = (0..CLASSES).map(shape).collect();
    let [(rows, labels), (judged, truth)] = [(count.min(MOST_PEOPLE), 1), (JUDGES, 2)]
        .map(|(count, lane)| drawn(&shapes, count, &mut PublicStream::new(1, lane)));
    let input = Input::Image(Image { height: SIDE, width: SIDE, channels: 1 });
    let public = Public { rows, input, classes: CLASSES as u32 };
    let judge = Judge::new(Set::Synthetic, judged, truth);
    People { public, secrets: Secrets::new(labels), judge }
}

/// Noise that was blurred, with mean 0 and deviation 1.
fn shape(class: usize) -> Vec<f64> {
    let mut pixels = vec![0.0; PIXELS];
    PublicStream::new(2, class as u64).fill_normal(&mut pixels);
    for _ in 0..BLUR {
        pixels = (0..PIXELS).map(|at| around(at).iter().map(|&at| pixels[at]).sum()).collect();
    }
    let mean = pixels.iter().sum::<f64>() / PIXELS as f64;
    let variance = pixels.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / PIXELS as f64;
    pixels.into_iter().map(|x| (x - mean) / variance.sqrt()).collect()
}

/// A pixel and its neighbours, beyond an edge those at the other.
fn around(at: usize) -> [usize; 5] {
    let (y, x) = (at / SIDE, at % SIDE);
    let wrapped = |y: usize, x: usize| (y % SIDE) * SIDE + x % SIDE;
    [at, wrapped(y + 1, x), wrapped(y + SIDE - 1, x), wrapped(y, x + 1), wrapped(y, x + SIDE - 1)]
}

/// So many images, and of which shape each is.
fn drawn(shapes: &[Vec<f64>], count: usize, stream: &mut PublicStream) -> (Rows, Vec<u32>) {
    let (mut pixels, mut labels) = (Vec::with_capacity(count * PIXELS), Vec::with_capacity(count));
    let mut noise = [0.0; PIXELS];
    for _ in 0..count {
        let mut below = |end: usize| ((u128::from(stream.next_word()) * end as u128) >> 64) as usize;
        let (class, down, right) = (below(CLASSES), below(2 * MOVE + 1), below(2 * MOVE + 1));
        stream.fill_normal(&mut noise);
        for (at, noise) in noise.iter().enumerate() {
            let (y, x) = ((at / SIDE + down) % SIDE, (at % SIDE + right) % SIDE);
            // Between 0 and 1, as pixels are
            let value = 0.5 + (shapes[class][y * SIDE + x] + NOISE * noise) / 8.0;
            pixels.push(value.clamp(0.0, 1.0) as f32);
        }
        labels.push(class as u32);
    }
    (Rows::dense(PIXELS, pixels), labels)
}
