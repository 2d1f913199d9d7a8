//! A program without the standard library: `no_std`, `no_main`, its own panic handler and its own memory.
//!
//! Were `undertone-privacy` or anything below it to need `std`, this would not link: `std` brings a second panic
//! handler. It also runs: exit code 0 says that reports were drawn, decoded, and came out right on average.
#![no_std]
#![no_main]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};
use core::convert::Infallible;
use core::sync::atomic::{AtomicUsize, Ordering};
use rand_core::{TryCryptoRng, TryRng};
use undertone_privacy::label::{Label, LabelKind};
use undertone_privacy::{Epsilon, Randomizer, Unbiased};

/// Memory that is handed out once and never taken back.
struct Bump;

const MEMORY: usize = 1 << 23;

#[repr(align(64))]
struct Arena(core::cell::UnsafeCell<[u8; MEMORY]>);

// SAFETY: bytes are only reached through pointers that `Bump` gave to one owner each.
unsafe impl Sync for Arena {}

static ARENA: Arena = Arena(core::cell::UnsafeCell::new([0; MEMORY]));
static USED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every allocation is a range of its own, as `USED` only grows.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Room for the alignment as well
        let size = layout.size() + layout.align();
        let start = USED.fetch_add(size, Ordering::Relaxed);
        if start + size > MEMORY {
            return core::ptr::null_mut();
        }
        let pointer = ARENA.0.get().cast::<u8>().wrapping_add(start);
        pointer.wrapping_add(pointer.align_offset(layout.align()))
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static MEMORY_OF_ALL: Bump = Bump;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// SplitMix64, marked as fit for privacy for the sake of this check only.
struct Words(u64);

impl TryRng for Words {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|word| (word >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Ok(z ^ (z >> 31))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for Words {}

/// The share of the true label among 2000 reports, which is one.
fn estimated_share() -> Option<f64> {
    let mechanism = LabelKind::Subset.mechanism(10, Epsilon::new(2.0).ok()?).ok()?;
    let mut words = Words(1);
    let mut sum = 0.0;
    for _ in 0..2000 {
        let report = mechanism.randomize(&Label(3), &mut words).ok()?;
        sum += mechanism.estimate(&report)[3];
    }
    Some(sum / 2000.0)
}

/// What the C runtime calls; 0 if all is well.
#[unsafe(no_mangle)]
pub extern "C" fn main(_: i32, _: *const *const u8) -> i32 {
    match estimated_share() {
        Some(share) if (share - 1.0).abs() < 0.2 => 0,
        _ => 1,
    }
}

/// The precompiled `alloc` names it for unwinding, which never happens here.
#[unsafe(no_mangle)]
pub extern "C" fn rust_eh_personality() {}

// memcpy and the start of the process.
#[link(name = "c")]
unsafe extern "C" {}
