//! The counters of one method or tool.

use super::{CallFigures, Histogram};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Upper bounds of the latency buckets, in seconds.
pub const BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0, 600.0];

#[derive(Debug, Default)]
pub(super) struct Series {
    calls: AtomicU64,
    failures: AtomicU64,
    micros: AtomicU64,
    buckets: [AtomicU64; BUCKETS.len()],
}

/// If a call succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Success {
    Yes,
    No,
}

impl Series {
    pub(super) fn count(&self, took: Duration, success: Success) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.failures.fetch_add(u64::from(success == Success::No), Ordering::Relaxed);
        self.micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        if let Some(bucket) = BUCKETS.iter().position(|bound| took.as_secs_f64() <= *bound) {
            self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// `None` if there was no call yet.
    pub(super) fn figures(&self, method: &str, tool: Option<&str>) -> Option<CallFigures> {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let calls = load(&self.calls);
        #[expect(clippy::cast_precision_loss, reason = "microseconds beyond 2^53 are 285 years")]
        let sum_seconds = load(&self.micros) as f64 / 1e6;
        let latency =
            Histogram { counts: self.buckets.iter().map(load).collect(), sum_seconds, count: calls };
        (calls > 0).then(|| CallFigures {
            method: method.to_owned(),
            tool: tool.map(str::to_owned),
            calls,
            failures: load(&self.failures),
            latency,
        })
    }
}
