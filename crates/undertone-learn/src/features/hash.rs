//! The hash of words: the same on every machine, in every version.
//!
//! FNV-1a in 64 bits over the bytes,
//!
//! > h ← (h xor byte)·0x100000001b3, from h = 0xcbf29ce484222325
//!
//! then, as its high bits are good and its low bits less so, the finalizer of `SplitMix64` (Steele, Lea, Flood, *Fast
//! splittable pseudorandom number generators*). What is hashed is public; nobody's secret depends on it.

const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// The hash of a whole string, before [`bucket`] and [`sign`] look at it.
pub(super) fn of(text: &str) -> u64 {
    text.bytes().fold(START, step)
}

/// The hash of a lower-cased word that stands after what `state` has seen.
pub(super) fn lower_case(state: Option<u64>, word: &str) -> u64 {
    let state = state.unwrap_or(START);
    if word.is_ascii() {
        return word.bytes().map(|byte| byte.to_ascii_lowercase()).fold(state, step);
    }
    let mut utf8 = [0; 4];
    word.chars()
        .flat_map(char::to_lowercase)
        .fold(state, |state, character| character.encode_utf8(&mut utf8).bytes().fold(state, step))
}

/// One byte more.
pub(super) fn step(state: u64, byte: u8) -> u64 {
    (state ^ u64::from(byte)).wrapping_mul(PRIME)
}

/// One of `buckets`.
pub(super) fn bucket(state: u64, buckets: u32) -> usize {
    // The high half of a product scales 0..2^32 down to 0..buckets.
    (((mixed(state) & 0xffff_ffff) * u64::from(buckets)) >> 32) as usize
}

/// Plus or minus one, independent of the bucket: words that collide cancel as often as they add up.
pub(super) fn sign(state: u64) -> f32 {
    if mixed(state) >> 63 == 0 { 1.0 } else { -1.0 }
}

fn mixed(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_values_of_fnv_1a() {
        assert_eq!(of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(of("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn models_of_today_find_their_buckets_tomorrow() {
        let place = |text| (bucket(of(text), 1 << 14), sign(of(text)));
        assert_eq!(["", "word", "two words"].map(place), [(10861, -1.0), (2677, -1.0), (8741, 1.0)]);
    }

    #[test]
    fn case_does_not_matter() {
        assert_eq!(lower_case(None, "Ça VA"), of("ça va"));
        assert_eq!(lower_case(None, "FooBar"), of("foobar"));
        assert_eq!(lower_case(Some(step(of("foo"), b' ')), "BAR"), of("foo bar"));
    }

    #[test]
    fn buckets_fill_evenly_and_signs_are_fair() {
        let (words, buckets) = (64_000, 64_usize);
        let mut counts = vec![0_u32; buckets];
        let mut signs = 0.0;
        for word in 0..words {
            let state = of(&format!("word{word}"));
            counts[bucket(state, buckets as u32)] += 1;
            signs += f64::from(sign(state));
        }
        // χ² with 63 degrees of freedom has variance 126; a sum of fair signs has variance n.
        let expected = f64::from(words) / buckets as f64;
        let chi_squared: f64 =
            counts.iter().map(|&seen| (f64::from(seen) - expected).powi(2) / expected).sum();
        assert!((chi_squared - 63.0).abs() < 5.0 * 126_f64.sqrt(), "{chi_squared}");
        assert!(signs.abs() < 5.0 * f64::from(words).sqrt(), "{signs}");
    }
}
