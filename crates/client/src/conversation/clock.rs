//! The timeouts of one call.

use std::task::{Context, Poll, ready};
use trunkline_resilience::{CallTimer, Expired, Moment, Timeouts, Timer};

/// The timer is armed on the first poll.
pub(super) struct Clock {
    limits: CallTimer,
    timer: Timer,
}

/// Tells if a question is open. That suspends the call's timeout, but not its ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenQuestion {
    No,
    Yes,
}

impl Clock {
    pub(super) fn start(timeouts: Timeouts) -> Self {
        Self { limits: CallTimer::start_at(&timeouts, Moment::now()), timer: Timer::default() }
    }

    /// Restarts the call's timeout after a progress notification.
    pub(super) fn progress(&mut self) {
        self.limits.renew();
    }

    /// Waits until the call has timed out.
    pub(super) fn poll(&mut self, question: OpenQuestion, cx: &mut Context<'_>) -> Poll<Expired> {
        loop {
            ready!(self.timer.poll(self.limits.expires_at(), cx));
            match self.limits.expired() {
                Some(Expired::Call { .. }) if question == OpenQuestion::Yes => self.limits.renew(),
                Some(expired) => return Poll::Ready(expired),
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{future::poll_fn, time::Duration};
    use tokio::time::Instant;
    use trunkline_resilience::TimeoutOptions;

    const SECOND: Duration = Duration::from_secs(1);

    fn clock() -> Clock {
        let options = TimeoutOptions { connect: SECOND, call: 3 * SECOND, ceiling: 10 * SECOND };
        Clock::start(Timeouts::new(options).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn progress_puts_the_end_off_and_the_ceiling_stays() {
        let mut clock = clock();
        let start = Instant::now();
        for _ in 0..3 {
            let early = poll_fn(|cx| clock.poll(OpenQuestion::No, cx));
            assert!(tokio::time::timeout(2 * SECOND, early).await.is_err());
            clock.progress();
        }
        let expired = poll_fn(|cx| clock.poll(OpenQuestion::No, cx)).await;
        assert_eq!((expired, start.elapsed()), (Expired::Call { limit: 3 * SECOND }, 9 * SECOND));
        clock.progress();
        let expired = poll_fn(|cx| clock.poll(OpenQuestion::No, cx)).await;
        assert_eq!((expired, start.elapsed()), (Expired::Ceiling { limit: 10 * SECOND }, 10 * SECOND));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_is_thought_about_until_the_ceiling() {
        let mut clock = clock();
        let start = Instant::now();
        let expired = poll_fn(|cx| clock.poll(OpenQuestion::Yes, cx)).await;
        assert_eq!((expired, start.elapsed()), (Expired::Ceiling { limit: 10 * SECOND }, 10 * SECOND));
    }
}
