//! Times the simulation of online learning: gradient, noise, step, average and interval, on one thread.
//!
//! Printed: updates a second, and the mean squared distances of the last point and of the average from the truth, by which
//! `compare.py` sees that both do the same work. Arguments: people, replications, d.

use std::time::Instant;
use undertone_learn::online::Steps;
use undertone_learn::online::laws::DesignKind;
use undertone_learn::online_study::{Kept, Noise, People, Setting};
use undertone_privacy::Mu;
use undertone_privacy::gradient::{Weight, Weighting};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let mut next = || {
        words
            .next()
            .ok_or("people, replications and d are missing")?
            .map_err(|_| "a whole number is expected")
    };
    let (count, replications, dimension) = (next()?, next()?, next()?);
    let people = People { kind: DesignKind::Linear, dimension };
    let setting = Setting {
        model: people.model(Weighting::new(Weight::Square, 2f64.sqrt())?)?,
        noise: Noise::Gaussian(Mu::new(1.0)?),
        steps: Steps::new(0.2, 0.5, 0)?,
        kept: Kept { spread: true, ..Kept::default() },
    };
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let start = Instant::now();
    let paths =
        setting.replicate(people, &setting.model.start(), &[count as u64], replications, 1, &|_| ())?;
    let seconds = start.elapsed().as_secs_f64();
    let distance = |of: &dyn Fn(usize) -> Vec<f64>| -> f64 {
        let square =
            |r: usize| -> f64 { of(r).iter().zip(people.truth()).map(|(a, b)| (a - b) * (a - b)).sum() };
        (0..replications).map(square).sum::<f64>() / replications as f64
    };
    let last = distance(&|r| paths[r][0].last.clone());
    let average = distance(&|r| paths[r][0].average.clone());
    println!("{:.6e} {last:.6} {average:.6}", (count * replications) as f64 / seconds);
    Ok(())
}
