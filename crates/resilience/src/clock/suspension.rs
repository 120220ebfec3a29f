//! Suspension: for how long the process did not run, in all.
//!
//! A thread reads the clock every [`BEAT`]; if it is far too late, the process was suspended.
//! Each reader of the time checks when the thread last did, so it does not matter which thread of
//! a resumed process runs first. That costs a reader two loads of numbers that rarely change.

use parking_lot::Mutex;
use std::{
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Interval at which the thread reads the clock.
const BEAT: Duration = Duration::from_millis(250);
/// A gap longer than this is suspension; even a busy machine lets the thread run sooner.
const LEAST: Duration = Duration::from_secs(1);
/// Time that the process must run before another gap counts. If it were suspended again and again
/// with less between, limits would never end; so a limit of n seconds is extended at most n + 1
/// times.
const RUN: Duration = Duration::from_secs(1);
const STACK: usize = 64 * 1024;

static WATCH: LazyLock<Watch> = LazyLock::new(Watch::start);

struct Watch {
    origin: Instant,
    /// When the process was last seen to run, in nanoseconds after `origin`. It is far in the
    /// future until the thread has run once, so that no gap is seen if it cannot be started.
    seen: AtomicU64,
    /// All suspensions together, in nanoseconds.
    total: AtomicU64,
    gaps: Mutex<Gaps>,
}

#[derive(Debug, Default)]
struct Gaps {
    seen: Option<Instant>,
    /// When the last suspension ended.
    resumed: Option<Instant>,
}

/// Time for which the process was suspended so far.
#[cfg(not(test))]
pub(super) fn total() -> Duration {
    Duration::from_nanos(WATCH.total.load(Ordering::Relaxed))
}

/// The same, including a suspension that ended just before `now`.
#[cfg(not(test))]
pub(super) fn total_at(now: tokio::time::Instant) -> Duration {
    WATCH.notice(now.into_std());
    total()
}

impl Watch {
    fn start() -> Self {
        let thread = thread::Builder::new().name("clock".to_owned()).stack_size(STACK).spawn(|| {
            loop {
                WATCH.look();
                thread::sleep(BEAT);
            }
        });
        if let Err(error) = thread {
            tracing::warn!(%error, "time limits will count time in which the process is suspended");
        }
        Self {
            origin: Instant::now(),
            seen: AtomicU64::new(u64::MAX),
            total: AtomicU64::new(0),
            gaps: Mutex::default(),
        }
    }

    fn notice(&self, now: Instant) {
        let now = nanos(now.saturating_duration_since(self.origin));
        // Acquire: with the new `seen` comes the new `total`.
        if now.saturating_sub(self.seen.load(Ordering::Acquire)) > nanos(BEAT) {
            self.look();
        }
    }

    /// This thread runs, so the process does.
    fn look(&self) {
        let mut gaps = self.gaps.lock();
        // Not the time that a reader came with: a test may have set its clock.
        let now = Instant::now();
        let gap = gaps.look(now);
        if let Some(gap) = gap {
            self.total.fetch_add(nanos(gap), Ordering::Relaxed);
        }
        self.seen.store(nanos(now.saturating_duration_since(self.origin)), Ordering::Release);
        drop(gaps);
        if let Some(suspended) = gap {
            tracing::info!(?suspended, "the process was suspended, which no time limit counts");
        }
    }
}

impl Gaps {
    /// The process runs at this time. Returns the suspension before it, if there was one.
    fn look(&mut self, now: Instant) -> Option<Duration> {
        let seen = self.seen.replace(now)?;
        let gap = now.saturating_duration_since(seen);
        let has_run = self.resumed.is_none_or(|resumed| seen.saturating_duration_since(resumed) >= RUN);
        if gap <= LEAST || !has_run {
            return None;
        }
        self.resumed = Some(now);
        Some(gap)
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
pub(crate) use tests::pretend;
#[cfg(test)]
pub(super) use tests::{total, total_at};

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const SECOND: Duration = Duration::from_secs(1);
    const TICK: Duration = Duration::from_millis(25);

    thread_local! {
        /// Tests run beside each other in one process, so each thread has suspensions of its own.
        static PRETENDED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    pub(in crate::clock) fn total() -> Duration {
        PRETENDED.get()
    }

    pub(in crate::clock) fn total_at(_: tokio::time::Instant) -> Duration {
        total()
    }

    /// As if a suspension of this length was just noticed.
    pub(crate) fn pretend(suspension: Duration) {
        PRETENDED.set(PRETENDED.get() + suspension);
    }

    fn running(from: Instant) -> Gaps {
        let mut gaps = Gaps::default();
        assert_eq!(gaps.look(from), None, "nothing is known of the time before");
        gaps
    }

    #[test]
    fn a_gap_is_reported_once_and_a_busy_machine_is_none() {
        let start = Instant::now();
        let mut gaps = running(start);
        assert_eq!(gaps.look(start + TICK), None);
        assert_eq!(gaps.look(start + TICK + LEAST), None, "a busy machine");
        let last = start + TICK + LEAST;
        assert_eq!(gaps.look(last + 60 * SECOND), Some(60 * SECOND));
        assert_eq!(gaps.look(last + 60 * SECOND + TICK), None);
    }

    #[test]
    fn each_suspension_counts_once_the_process_has_run_for_a_while() {
        let mut now = Instant::now();
        let mut gaps = running(now);
        for _ in 0..3 {
            now += 60 * SECOND;
            assert_eq!(gaps.look(now), Some(60 * SECOND));
            for _ in 0..RUN.as_millis() / TICK.as_millis() {
                now += TICK;
                assert_eq!(gaps.look(now), None);
            }
        }
    }

    #[test]
    fn limits_of_a_process_that_hardly_ever_runs_still_end() {
        let mut now = Instant::now();
        let mut gaps = running(now);
        let mut counted = Duration::ZERO;
        for _ in 0..100 {
            now += TICK;
            assert_eq!(gaps.look(now), None);
            now += 2 * SECOND;
            counted += (TICK + 2 * SECOND).saturating_sub(gaps.look(now).unwrap_or_default());
        }
        assert!(counted > 90 * SECOND, "{counted:?} of {:?}", 100 * (2 * SECOND + TICK));
    }

    #[test]
    fn the_thread_reads_the_clock_and_so_does_a_reader_who_comes_before_it() {
        let until = Instant::now() + 400 * BEAT;
        let first = WATCH.seen.load(Ordering::Acquire);
        while WATCH.seen.load(Ordering::Acquire) == first {
            assert!(Instant::now() < until, "the thread does not read the clock");
            thread::sleep(BEAT / 10);
        }
        let seen = WATCH.gaps.lock().seen;
        WATCH.seen.store(0, Ordering::Release);
        thread::sleep(BEAT / 10);
        WATCH.notice(WATCH.origin + LEAST);
        assert!(WATCH.gaps.lock().seen > seen);
    }
}
