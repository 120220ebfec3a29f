//! Record: when somebody last saw this process run.

use std::time::{Duration, Instant};

/// A busy machine lets a thread that only looks at the clock run sooner than this; one that does not paused us.
pub(super) const LEAST: Duration = Duration::from_secs(1);
/// So long must the process have run before it is believed that it paused again. Were it never let run for longer, limits would
/// have no end; so a limit of n seconds is put off by no more than n + 1 pauses.
const BREATH: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Record {
    watches: usize,
    /// When the process was last seen to run, while somebody watches.
    seen: Option<Instant>,
    /// When the last pause ended.
    resumed: Option<Instant>,
    /// Whether there is a thread that looks at the clock.
    pub(super) beats: bool,
}

impl Record {
    pub(super) const fn new() -> Self {
        Self { watches: 0, seen: None, resumed: None, beats: false }
    }

    /// Somebody watches from now on; whether a thread that looks at the clock is missing.
    pub(super) fn begin(&mut self, now: Instant) -> bool {
        self.watches += 1;
        self.seen.get_or_insert(now);
        !self.beats
    }

    pub(super) fn end(&mut self) {
        self.watches -= 1;
        if self.watches == 0 {
            self.seen = None;
        }
    }

    /// Whether only one watches, who may have just begun.
    pub(super) fn is_first(&self) -> bool {
        self.watches == 1
    }

    pub(super) fn is_watched(&self) -> bool {
        self.watches > 0
    }

    /// The process runs at this moment. The pause before it, if there was one.
    pub(super) fn look(&mut self, now: Instant) -> Option<Duration> {
        let seen = self.seen.replace(now.max(self.seen?))?;
        let gap = now.saturating_duration_since(seen);
        let took_breath =
            self.resumed.is_none_or(|resumed| seen.saturating_duration_since(resumed) >= BREATH);
        if gap <= LEAST || !took_breath {
            return None;
        }
        self.resumed = Some(now);
        Some(gap)
    }

    #[cfg(test)]
    pub(super) fn seen(&self) -> Option<Instant> {
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const TICK: Duration = Duration::from_millis(25);

    fn watched(from: Instant) -> Record {
        let mut record = Record::new();
        assert!(record.begin(from), "no thread was begun yet");
        record
    }

    #[test]
    fn what_is_far_too_late_was_a_pause_and_is_told_once() {
        let start = Instant::now();
        let mut record = watched(start);
        assert_eq!(record.look(start + TICK), None);
        assert_eq!(record.look(start + TICK + LEAST), None, "a busy machine");
        let last = start + TICK + LEAST;
        assert_eq!(record.look(last + 60 * SECOND), Some(60 * SECOND));
        // Another thread that looked at its clock a little earlier or later.
        assert_eq!(record.look(last + 59 * SECOND), None);
        assert_eq!(record.look(last + 60 * SECOND + TICK), None);
    }

    #[test]
    fn while_nobody_watches_nobody_is_missed() {
        let start = Instant::now();
        let mut record = watched(start);
        record.begin(start);
        record.end();
        assert_eq!(record.look(start + 5 * SECOND), Some(5 * SECOND), "one still watches");
        record.end();
        assert_eq!(record.look(start + 100 * SECOND), None);
        record.begin(start + 200 * SECOND);
        assert_eq!(record.look(start + 200 * SECOND + TICK), None);
    }

    #[test]
    fn each_pause_after_a_breath_counts() {
        let mut now = Instant::now();
        let mut record = watched(now);
        for _ in 0..3 {
            now += 60 * SECOND;
            assert_eq!(record.look(now), Some(60 * SECOND));
            for _ in 0..BREATH.as_millis() / TICK.as_millis() {
                now += TICK;
                assert_eq!(record.look(now), None);
            }
        }
    }

    #[test]
    fn a_process_that_is_hardly_ever_let_run_still_sees_its_limits_end() {
        let mut now = Instant::now();
        let mut record = watched(now);
        let mut counted = Duration::ZERO;
        for _ in 0..100 {
            now += TICK;
            assert_eq!(record.look(now), None);
            now += 2 * SECOND;
            counted += (TICK + 2 * SECOND).saturating_sub(record.look(now).unwrap_or_default());
        }
        assert!(counted > 90 * SECOND, "{counted:?} of {:?}", 100 * (2 * SECOND + TICK));
    }
}
