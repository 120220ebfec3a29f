//! The deadline of an answer, on a machine that other programs use, too.

use super::cpu_wait;
use std::time::Duration;
use tokio::time::Instant;

/// A shorter wait for a CPU does not move a deadline.
const LEAST: Duration = Duration::from_millis(5);

/// Measures how long the server's process and our own waited for a CPU during one exchange.
#[derive(Debug, Clone, Copy)]
pub(super) struct CpuQueue {
    process: Option<i32>,
    before: Duration,
}

/// A deadline that moves by the time spent waiting for a CPU.
#[derive(Debug)]
pub(super) struct Deadline {
    until: Instant,
    /// It does not move beyond this.
    latest: Instant,
    queue: CpuQueue,
    counted: Duration,
}

impl CpuQueue {
    /// Without a process, such as over HTTP, nothing is measured.
    pub(super) fn start(process: Option<i32>) -> Self {
        Self { process, before: total(process) }
    }

    /// The wait since the start.
    pub(super) fn waited(&self) -> Duration {
        total(self.process).saturating_sub(self.before)
    }
}

fn total(process: Option<i32>) -> Duration {
    process.map_or(Duration::ZERO, |process| cpu_wait::of_server(process) + cpu_wait::of_ourselves())
}

impl Deadline {
    pub(super) fn new(until: Instant, latest: Instant, queue: CpuQueue) -> Self {
        Self { until, latest, queue, counted: Duration::ZERO }
    }

    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// Moves the deadline by the wait that was not counted yet. Returns false if it stays.
    pub(super) fn extend(&mut self) -> bool {
        self.extend_to(self.queue.waited())
    }

    fn extend_to(&mut self, waited: Duration) -> bool {
        let more = waited.saturating_sub(self.counted);
        let next = (self.until + more).min(self.latest);
        if next < self.until + LEAST {
            return false;
        }
        (self.until, self.counted) = (next, waited);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_moves_the_deadline_once_and_not_beyond_the_latest() {
        let began = Instant::now();
        let seconds = |count| Duration::from_secs(count);
        let mut deadline = Deadline::new(began + seconds(3), began + seconds(10), CpuQueue::start(None));
        assert!(!deadline.extend(), "nothing was measured");
        assert!(deadline.extend_to(seconds(2)));
        assert_eq!(deadline.until(), began + seconds(5));
        assert!(!deadline.extend_to(seconds(2)), "it was counted before");
        assert!(deadline.extend_to(seconds(60)));
        assert_eq!(deadline.until(), began + seconds(10));
        assert!(!deadline.extend_to(seconds(90)));
    }
}
