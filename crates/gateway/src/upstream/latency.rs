//! Latency: a histogram of call durations, of fixed size.
//!
//! Bounds grow by a quarter of an octave, so a percentile is exact within a fifth. It covers the
//! current and the previous minute.

use serde::Serialize;
use std::{
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    time::Duration,
};
use trunkline_resilience::Moment;

/// Buckets per doubling.
const STEPS: u32 = 4;
/// The first bound is 2^FIRST microseconds; faster calls count as that.
const FIRST: u32 = 6;
const BUCKETS: usize = 128;
const WINDOW: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(super) struct Latency {
    origin: Moment,
    /// The current window; even and odd windows alternate.
    window: AtomicU64,
    counts: [[AtomicU32; BUCKETS]; 2],
}

/// Durations of calls, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Percentiles {
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// Calls that were counted.
    pub calls: u64,
}

impl Latency {
    pub(super) fn new() -> Self {
        Self {
            origin: Moment::now(),
            window: AtomicU64::new(0),
            counts: std::array::from_fn(|_| std::array::from_fn(|_| AtomicU32::new(0))),
        }
    }

    pub(super) fn record(&self, took: Duration, now: Moment) {
        let window = self.turn(now);
        self.counts[usize::from(window % 2 == 1)][bucket(took)].fetch_add(1, Ordering::Relaxed);
    }

    /// `None` if there was no call in the window.
    pub(super) fn percentiles(&self) -> Option<Percentiles> {
        self.turn(Moment::now());
        let both = |at: usize| self.counts.iter().map(|c| u64::from(c[at].load(Ordering::Relaxed))).sum();
        let counts: Vec<u64> = (0..BUCKETS).map(both).collect();
        let calls: u64 = counts.iter().sum();
        (calls > 0).then(|| Percentiles {
            p50_ms: percentile(&counts, calls.div_ceil(2)),
            p99_ms: percentile(&counts, calls - calls / 100),
            calls,
        })
    }

    /// The current window; the first caller in it clears the old ones.
    fn turn(&self, now: Moment) -> u64 {
        let now = (now - self.origin).as_secs() / WINDOW.as_secs();
        let last = self.window.load(Ordering::Acquire);
        if now > last && self.window.compare_exchange(last, now, Ordering::AcqRel, Ordering::Acquire).is_ok()
        {
            let stale: &[usize] = if now - last > 1 { &[0, 1] } else { &[usize::from(now % 2 == 1)] };
            for window in stale {
                self.counts[*window].iter().for_each(|count| count.store(0, Ordering::Relaxed));
            }
        }
        now
    }
}

fn bucket(took: Duration) -> usize {
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1 << FIRST);
    let octave = micros.ilog2();
    let within = (micros - (1 << octave)) >> octave.saturating_sub(STEPS.ilog2());
    let place = u64::from((octave - FIRST) * STEPS) + within;
    usize::try_from(place).unwrap_or(BUCKETS).min(BUCKETS - 1)
}

/// The middle of the bucket that holds the call of this rank.
fn percentile(counts: &[u64], rank: u64) -> f64 {
    let mut seen = 0;
    let at = counts.iter().position(|count| {
        seen += count;
        seen >= rank
    });
    let place = u32::try_from(at.unwrap_or(BUCKETS - 1)).unwrap_or(u32::MAX);
    let octave = f64::from(1_u32 << (place / STEPS).min(31));
    let micros =
        f64::from(1_u32 << FIRST) * octave * (1.0 + (f64::from(place % STEPS) + 0.5) / f64::from(STEPS));
    (micros / 10.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn percentiles_lie_near_what_was_measured_and_old_minutes_are_forgotten() {
        let latency = Latency::new();
        assert_eq!(latency.percentiles(), None);
        for _ in 0..98 {
            latency.record(Duration::from_millis(10), Moment::now());
        }
        latency.record(Duration::from_secs(2), Moment::now());
        latency.record(Duration::from_secs(2), Moment::now());
        let percentiles = latency.percentiles().unwrap();
        assert_eq!(percentiles.calls, 100);
        assert!((8.0..12.0).contains(&percentiles.p50_ms), "{percentiles:?}");
        assert!((1600.0..2400.0).contains(&percentiles.p99_ms), "{percentiles:?}");
        tokio::time::advance(Duration::from_mins(1)).await;
        latency.record(Duration::from_millis(1), Moment::now());
        assert_eq!(latency.percentiles().unwrap().calls, 101);
        tokio::time::advance(Duration::from_mins(1)).await;
        assert_eq!(latency.percentiles().unwrap().calls, 1);
        tokio::time::advance(Duration::from_mins(5)).await;
        assert_eq!(latency.percentiles(), None);
    }

    #[test]
    fn the_shortest_and_the_longest_have_a_place() {
        assert_eq!(bucket(Duration::ZERO), 0);
        assert_eq!(bucket(Duration::from_micros(64)), 0);
        assert_eq!(bucket(Duration::from_micros(80)), 1);
        assert_eq!(bucket(Duration::from_micros(128)), 4);
        assert_eq!(bucket(Duration::MAX), BUCKETS - 1);
    }
}
