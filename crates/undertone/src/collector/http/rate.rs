//! How fast one address may ask: a bucket of tokens for each, which fills at an even rate.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Addresses that are remembered. When there are more, those whose buckets are full are forgotten, at no harm.
const MOST: usize = 1 << 16;

pub(super) struct Rate {
    /// Tokens a second
    per_second: f64,
    burst: f64,
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Rate {
    pub(super) fn new(rate: f64, burst: f64) -> Self {
        Self { per_second: rate, burst: burst.max(1.0), buckets: Mutex::default() }
    }

    /// Whether one more request from there may come now.
    pub(super) fn allows(&self, address: IpAddr, now: Instant) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let filled = |bucket: &Bucket| {
            let seconds = now.saturating_duration_since(bucket.at).as_secs_f64();
            (bucket.tokens + self.per_second * seconds).min(self.burst)
        };
        if buckets.len() >= MOST && !buckets.contains_key(&address) {
            buckets.retain(|_, bucket| filled(bucket) < self.burst);
            if buckets.len() >= MOST {
                return false;
            }
        }
        let bucket = buckets.entry(address).or_insert(Bucket { tokens: self.burst, at: now });
        let tokens = filled(bucket);
        let allowed = tokens >= 1.0;
        *bucket = Bucket { tokens: if allowed { tokens - 1.0 } else { tokens }, at: now };
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::time::Duration;

    #[test]
    fn a_burst_passes_and_then_the_rate_does() {
        let (rate, start) = (Rate::new(10.0, 5.0), Instant::now());
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let passed = |address, at| (0..20).filter(|_| rate.allows(address, at)).count();
        assert_eq!(passed(one, start), 5);
        assert_eq!(passed(other, start), 5);
        assert_eq!(passed(one, start + Duration::from_millis(250)), 2);
        assert_eq!(passed(one, start + Duration::from_mins(1)), 5);
    }

    #[test]
    fn a_million_addresses_do_not_fill_the_memory() {
        let (rate, start) = (Rate::new(1000.0, 2.0), Instant::now());
        for (number, micros) in (0..200_000u32).zip((0..).step_by(10)) {
            rate.allows(Ipv4Addr::from(number).into(), start + Duration::from_micros(micros));
        }
        assert!(rate.buckets.lock().unwrap().len() <= MOST);
    }
}
