//! Pauses: time in which this process did not run, because somebody stopped it or froze it. Time limits leave it out.
//!
//! A process that is stopped sees the clock go on. So a thread that does nothing else looks at the clock every [`BEAT`] for as
//! long as there are alarms; what it misses by far was a pause. Whoever is about to let an alarm ring looks first, too, so that it
//! does not matter who wakes first. A call reads one number that nearly never changes, and neither clock nor lock.

mod record;
mod unused;

use record::Record;
use std::{
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
pub use unused::Unused;

/// How often the clock is looked at.
const BEAT: Duration = Duration::from_millis(250);
const STACK: usize = 64 * 1024;

static RECORD: Mutex<Record> = Mutex::new(Record::new());
static BEGUN: Condvar = Condvar::new();
/// All pauses together, in nanoseconds.
static PAUSED: AtomicU64 = AtomicU64::new(0);

/// From here on pauses are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(u64);

/// Pauses are noticed while this lives.
#[derive(Debug)]
pub(crate) struct Watch(());

/// This thread runs, which tells whether there was a pause before.
pub(crate) fn look() {
    let pause = note(&mut lock());
    tell(pause);
}

/// Whether this moment is so long ago that the process cannot have run when it came. For housekeepers: what looks unused after a
/// pause was perhaps wanted meanwhile, and nobody could hear it.
pub fn overslept(due: tokio::time::Instant) -> bool {
    due.elapsed() > record::LEAST
}

impl Mark {
    pub(crate) fn set() -> Self {
        Self(paused())
    }

    /// The pauses since, in nanoseconds.
    pub(crate) fn missed(self) -> u64 {
        paused().saturating_sub(self.0)
    }

    /// What was missed so far is accounted for.
    pub(crate) fn forgive(&mut self, missed: u64) {
        self.0 += missed;
    }
}

impl Watch {
    pub(crate) fn begin() -> Self {
        let mut record = lock();
        if record.begin(Instant::now()) {
            match thread::Builder::new().name("pulse".to_owned()).stack_size(STACK).spawn(beat) {
                Ok(_) => record.beats = true,
                // Those who look before they ring are left, and the next one tries again.
                Err(error) => tracing::warn!(%error, "pauses of the process are noticed less exactly"),
            }
        }
        if record.is_first() {
            BEGUN.notify_one();
        }
        Self(())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        lock().end();
    }
}

fn beat() {
    loop {
        let record = lock();
        let mut record = if record.is_watched() {
            let waited = BEGUN.wait_timeout(record, BEAT);
            waited.unwrap_or_else(PoisonError::into_inner).0
        } else {
            BEGUN.wait(record).unwrap_or_else(PoisonError::into_inner)
        };
        let pause = note(&mut record);
        drop(record);
        tell(pause);
    }
}

fn note(record: &mut Record) -> Option<Duration> {
    let pause = record.look(Instant::now())?;
    let nanos = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
    PAUSED.fetch_add(nanos, Ordering::Relaxed);
    Some(pause)
}

fn tell(pause: Option<Duration>) {
    if let Some(pause) = pause {
        tracing::info!(?pause, "the process did not run for a while, which no time limit counts");
    }
}

fn lock() -> MutexGuard<'static, Record> {
    RECORD.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(not(test))]
fn paused() -> u64 {
    PAUSED.load(Ordering::Relaxed)
}

#[cfg(test)]
pub(crate) use tests::{paused, pretend};

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// Tests run beside each other in one process, so that each has pauses of its own.
        static PRETENDED: Cell<u64> = const { Cell::new(0) };
    }

    pub(crate) fn paused() -> u64 {
        PRETENDED.get()
    }

    /// As if a pause of this length was just noticed.
    pub(crate) fn pretend(pause: Duration) {
        PRETENDED.set(PRETENDED.get() + u64::try_from(pause.as_nanos()).unwrap());
    }

    #[test]
    fn the_clock_is_looked_at_while_somebody_watches() {
        let (first, second) = (Watch::begin(), Watch::begin());
        drop(first);
        let seen = lock().seen().unwrap();
        let until = Instant::now() + 400 * BEAT;
        while lock().seen() == Some(seen) {
            assert!(Instant::now() < until, "nobody looks");
            thread::sleep(BEAT / 10);
        }
        drop(second);
    }
}
