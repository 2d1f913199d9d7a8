//! Several replications side by side: lane l of every number belongs to replication l of the block.
//!
//! Loops over lanes have no branch and no call, so that they are compiled to vectors. Nothing adds up across lanes: what a
//! replication gives does not depend on its neighbours, nor on the processor.

/// Replications of a block. With eight the compiler unrolls the loops before it looks for vectors in them, and finds none.
pub(super) const LANES: usize = 16;
/// One number of each replication.
pub(super) type Lanes = [f64; LANES];

/// `of` each lane. The library's `from_fn` and `map` are not always inlined, and then are compiled for the least of processors.
#[inline(always)]
pub(super) fn each<T: Copy + Default>(mut of: impl FnMut(usize) -> T) -> [T; LANES] {
    let mut values = [T::default(); LANES];
    for (l, value) in values.iter_mut().enumerate() {
        *value = of(l);
    }
    values
}

/// The larger of two numbers, as one instruction.
#[inline(always)]
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// `value` between two bounds.
#[inline(always)]
pub(super) fn between(value: f64, low: f64, high: f64) -> f64 {
    let value = if value < high { value } else { high };
    larger(value, low)
}

/// ⟨a, b⟩ in every lane.
#[inline(always)]
pub(super) fn dot(a: &[Lanes], b: &[Lanes]) -> Lanes {
    let mut sum = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sum[l] = a[l].mul_add(b[l], sum[l]);
        }
    }
    sum
}
