//! Unused: since when something is, for a housekeeper who looks now and then.

use super::overslept;
use tokio::time::Instant;

/// When the process ran again after a pause, in which nobody could be heard: how long something is unused is counted anew then.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unused {
    resumed: Option<Instant>,
}

impl Unused {
    /// Takes note of a look that was meant for this moment.
    pub fn look(&mut self, due: Instant) {
        if overslept(due) {
            self.resumed = Some(Instant::now());
        }
    }

    /// Since when something is unused that was last used then.
    pub fn since(&self, used: Instant) -> Instant {
        self.resumed.map_or(used, |resumed| used.max(resumed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn only_a_look_that_comes_far_too_late_counts_anew() {
        let (used, mut unused) = (Instant::now(), Unused::default());
        advance(Duration::from_mins(1)).await;
        unused.look(Instant::now());
        assert_eq!(unused.since(used), used);
        unused.look(used);
        assert_eq!(unused.since(used), Instant::now());
        let later = Instant::now() + Duration::from_secs(1);
        assert_eq!(unused.since(later), later);
    }
}
