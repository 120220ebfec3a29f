//! The server's counters, and their Prometheus text format.

use std::{
    fmt::Write,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use trunkline_protocol::Outcome;

/// Upper bounds of the latency buckets, in seconds.
const BUCKETS: [f64; 9] = [0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0];

#[derive(Debug, Default)]
pub(crate) struct Metrics {
    calls: AtomicU64,
    failed: AtomicU64,
    denied: AtomicU64,
    connections: AtomicU64,
    micros: AtomicU64,
    buckets: [AtomicU64; BUCKETS.len()],
}

impl Metrics {
    pub(crate) fn call_ended(&self, took: Duration, outcome: &Outcome) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(outcome.is_err()), Ordering::Relaxed);
        self.micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        if let Some(bucket) = BUCKETS.iter().position(|bound| took.as_secs_f64() <= *bound) {
            self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn denied(&self) {
        self.denied.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn connected(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    /// Renders the Prometheus text format. The caller passes the current sessions and parked
    /// calls.
    pub(crate) fn render(&self, sessions: usize, parked: usize) -> String {
        let mut text = String::new();
        let mut line = |name: &str, kind: &str, help: &str, value: u64| {
            let written = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n");
            written.expect("writing to a String does not fail");
        };
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        line("trunkline_calls_total", "counter", "Calls answered.", load(&self.calls));
        line("trunkline_calls_failed_total", "counter", "Calls answered with an error.", load(&self.failed));
        line("trunkline_denied_total", "counter", "Requests refused by the guard.", load(&self.denied));
        line("trunkline_connections_total", "counter", "Connections accepted.", load(&self.connections));
        line("trunkline_sessions", "gauge", "Legacy sessions open.", sessions as u64);
        line("trunkline_parked_calls", "gauge", "Calls that wait for their client.", parked as u64);
        self.render_latency(&mut text);
        text
    }

    fn render_latency(&self, text: &mut String) {
        const NAME: &str = "trunkline_call_seconds";
        let mut below = 0;
        let mut write = |line: String| text.push_str(&line);
        write(format!("# HELP {NAME} Duration of calls.\n# TYPE {NAME} histogram\n"));
        for (bound, count) in BUCKETS.iter().zip(&self.buckets) {
            below += count.load(Ordering::Relaxed);
            write(format!("{NAME}_bucket{{le=\"{bound}\"}} {below}\n"));
        }
        let calls = self.calls.load(Ordering::Relaxed);
        #[expect(clippy::cast_precision_loss, reason = "microseconds beyond 2^53 are 285 years")]
        let seconds = self.micros.load(Ordering::Relaxed) as f64 / 1e6;
        write(format!("{NAME}_bucket{{le=\"+Inf\"}} {calls}\n{NAME}_sum {seconds}\n{NAME}_count {calls}\n"));
    }
}
