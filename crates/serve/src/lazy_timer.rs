//! The timer of one connection: the waits for its requests, one after the other.
//!
//! Each wait is given up when the request comes, mostly long before its time. It leaves the timer of the runtime as it was set, and the
//! next wait, which is later, sets it anew only once it has rung. That wakes an idle connection once more, and spares a busy one a
//! timer for each request.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::time::{Instant, Sleep, sleep_until};

/// The waits of one task, which has only one of them at a time.
pub(crate) struct LazyTimer {
    until: Instant,
    timer: Option<Pin<Box<Sleep>>>,
}

impl LazyTimer {
    pub(crate) fn until(until: Instant) -> Self {
        Self { until, timer: None }
    }

    /// Gives up what was waited for, and waits anew.
    pub(crate) fn set(&mut self, until: Instant) {
        self.until = until;
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(self.until)));
        if timer.deadline() > self.until {
            timer.as_mut().reset(self.until);
        }
        ready!(timer.as_mut().poll(cx));
        if timer.deadline() < self.until {
            // It rang for a wait that was given up.
            timer.as_mut().reset(self.until);
            ready!(timer.as_mut().poll(cx));
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::{future::poll_fn, time::Duration};

    const LONG: Duration = Duration::from_secs(10);
    const SHORT: Duration = Duration::from_millis(50);

    #[tokio::test(start_paused = true)]
    async fn each_wait_ends_at_its_time_whatever_was_waited_for_before() {
        let mut timer = LazyTimer::until(Instant::now() + LONG);
        for (given_up, wanted) in [(SHORT, LONG), (LONG, SHORT), (SHORT, SHORT)] {
            timer.set(Instant::now() + given_up);
            assert!(poll_fn(|cx| timer.poll(cx)).now_or_never().is_none());
            let began = Instant::now();
            timer.set(began + wanted);
            poll_fn(|cx| timer.poll(cx)).await;
            assert_eq!(began.elapsed(), wanted, "after {given_up:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_until_now_ends_at_once() {
        let began = Instant::now();
        let mut timer = LazyTimer::until(began);
        poll_fn(|cx| timer.poll(cx)).await;
        timer.set(began - SHORT);
        poll_fn(|cx| timer.poll(cx)).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
