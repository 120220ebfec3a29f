//! The timer of one connection: the waits for its requests, one after the other.
//!
//! Each wait is given up when the request comes, mostly long before its time. It leaves the timer of the runtime as it was set, and the
//! next wait, which is later, sets it anew only once it has rung. That wakes an idle connection once more, and spares a busy one a
//! timer for each request.
//!
//! A process that was stopped hears of timers first when it goes on, and of what came meanwhile a moment later. So a wait that is over
//! has that moment left.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep_until};

/// The moment after the end of a wait.
const RESPITE: Duration = Duration::from_millis(10);

/// The waits of one task, which has only one of them at a time.
pub(super) struct LazyTimer {
    until: Instant,
    timer: Option<Pin<Box<Sleep>>>,
    /// The end of the wait that had its moment.
    over: Option<Instant>,
}

impl LazyTimer {
    pub(super) fn until(until: Instant) -> Self {
        Self { until, timer: None, over: None }
    }

    /// Gives up what was waited for, and waits anew.
    pub(super) fn set(&mut self, until: Instant) {
        self.until = until;
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(self.until)));
        if self.over != Some(self.until) {
            if timer.deadline() > self.until {
                timer.as_mut().reset(self.until);
            }
            ready!(timer.as_mut().poll(cx));
            if timer.deadline() < self.until {
                // It rang for a wait that was given up.
                timer.as_mut().reset(self.until);
                ready!(timer.as_mut().poll(cx));
            }
            self.over = Some(self.until);
            timer.as_mut().reset(Instant::now() + RESPITE);
        }
        timer.as_mut().poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::future::poll_fn;

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
            assert_eq!(began.elapsed(), wanted + RESPITE, "after {given_up:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_until_now_ends_in_a_moment_and_goes_on_if_it_is_put_off() {
        let began = Instant::now();
        let mut timer = LazyTimer::until(began);
        poll_fn(|cx| timer.poll(cx)).await;
        timer.set(began - SHORT);
        poll_fn(|cx| timer.poll(cx)).await;
        assert_eq!(began.elapsed(), RESPITE * 2);
        timer.set(Instant::now());
        assert!(poll_fn(|cx| timer.poll(cx)).now_or_never().is_none());
        timer.set(Instant::now() + LONG);
        poll_fn(|cx| timer.poll(cx)).await;
        assert_eq!(began.elapsed(), RESPITE * 3 + LONG);
    }
}
