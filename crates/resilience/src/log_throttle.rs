//! Log throttle: lets a log line that a peer can cause pass once per interval, with a count.

use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// Time between two lines.
const INTERVAL: Duration = Duration::from_secs(30);

/// The events since the last line.
#[derive(Debug, Default)]
pub struct LogThrottle(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    events: u64,
}

impl LogThrottle {
    /// Adds events; returns how many there were since the last line, if it is time for one.
    pub fn count(&self, events: u64) -> Option<u64> {
        let mut state = self.0.lock();
        state.events = state.events.saturating_add(events);
        if state.last.is_some_and(|last| last.elapsed() < INTERVAL) {
            return None;
        }
        state.last = Some(Instant::now());
        Some(std::mem::take(&mut state.events))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn u05_a_line_passes_once_per_interval_with_the_count() {
        let throttle = LogThrottle::default();
        assert_eq!(throttle.count(1), Some(1));
        assert_eq!((throttle.count(2), throttle.count(3)), (None, None));
        tokio::time::advance(INTERVAL).await;
        assert_eq!(throttle.count(1), Some(6));
    }
}
