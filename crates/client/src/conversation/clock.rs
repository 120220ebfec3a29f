//! The clock of one call.

use crate::resilience::{Expired, Timeouts};
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::time::{Instant, Sleep, sleep_until};

/// A timer runs only while something is waited for.
pub(super) struct Clock {
    timeouts: Timeouts,
    began: Instant,
    /// When something was last heard.
    heard: Instant,
    timer: Option<Pin<Box<Sleep>>>,
}

/// Whether a person thinks about a question, which stops the clock of the call, though not that of its ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    Nobody,
    Somebody,
}

impl Clock {
    pub(super) fn start(timeouts: Timeouts) -> Self {
        let now = Instant::now();
        Self { timeouts, began: now, heard: now, timer: None }
    }

    /// The server showed that it is at work.
    pub(super) fn progress(&mut self) {
        self.heard = Instant::now();
    }

    /// Waits for the end of the call's time.
    pub(super) fn poll(&mut self, thinking: Thinking, cx: &mut Context<'_>) -> Poll<Expired> {
        loop {
            let silence = self.heard + self.timeouts.call();
            let ceiling = self.began + self.timeouts.ceiling();
            let end = silence.min(ceiling);
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
            if timer.deadline() < end {
                timer.as_mut().reset(end);
            }
            ready!(timer.as_mut().poll(cx));
            if silence > ceiling {
                return Poll::Ready(Expired::Ceiling { limit: self.timeouts.ceiling() });
            }
            if thinking == Thinking::Nobody {
                return Poll::Ready(Expired::Call { limit: self.timeouts.call() });
            }
            self.heard = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resilience::TimeoutOptions;
    use std::{future::poll_fn, time::Duration};

    const SECOND: Duration = Duration::from_secs(1);

    fn clock() -> Clock {
        let options = TimeoutOptions { connect: SECOND, call: 3 * SECOND, ceiling: 10 * SECOND };
        Clock::start(Timeouts::new(options).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn progress_puts_the_end_off_and_the_ceiling_stays() {
        let mut clock = clock();
        let start = clock.began;
        for _ in 0..3 {
            let early = poll_fn(|cx| clock.poll(Thinking::Nobody, cx));
            assert!(tokio::time::timeout(2 * SECOND, early).await.is_err());
            clock.progress();
        }
        let expired = poll_fn(|cx| clock.poll(Thinking::Nobody, cx)).await;
        assert_eq!((expired, start.elapsed()), (Expired::Call { limit: 3 * SECOND }, 9 * SECOND));
        clock.progress();
        let expired = poll_fn(|cx| clock.poll(Thinking::Nobody, cx)).await;
        assert_eq!((expired, start.elapsed()), (Expired::Ceiling { limit: 10 * SECOND }, 10 * SECOND));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_is_thought_about_until_the_ceiling() {
        let mut clock = clock();
        let expired = poll_fn(|cx| clock.poll(Thinking::Somebody, cx)).await;
        assert_eq!((expired, clock.began.elapsed()), (Expired::Ceiling { limit: 10 * SECOND }, 10 * SECOND));
    }
}
