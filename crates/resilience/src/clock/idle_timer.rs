//! The timer of one connection, for its waits on the peer, one after the other.
//!
//! Nearly every wait ends long before its time, with the next request. [`Timer`] then leaves
//! tokio's timer as it was set, so a busy connection does not set one for each request.

use super::{Moment, Timer};
use std::{
    task::{Context, Poll, ready},
    time::Duration,
};

/// A thread that could not run for a while sees timers before it sees what its sockets received
/// meanwhile. So the peer gets this much longer, in which what it sent is read.
const GRACE: Duration = Duration::from_millis(10);

/// One wait at a time, which may be restarted.
#[derive(Debug)]
pub struct IdleTimer {
    until: Moment,
    timer: Timer,
    /// The wait that is over, and the end of its grace period.
    grace: Option<(Moment, Moment)>,
}

impl IdleTimer {
    pub fn after(wait: Duration) -> Self {
        Self { until: Moment::now() + wait, timer: Timer::default(), grace: None }
    }

    /// Ends the present wait and begins another.
    pub fn restart(&mut self, wait: Duration) {
        self.until = Moment::now() + wait;
    }

    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let end = match self.grace {
            Some((until, end)) if until == self.until => end,
            _ => {
                ready!(self.timer.poll(self.until, cx));
                let end = Moment::now() + GRACE;
                self.grace = Some((self.until, end));
                end
            }
        };
        self.timer.poll(end, cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::pretend;
    use std::future::poll_fn;
    use tokio::time::{Instant, advance};

    const LONG: Duration = Duration::from_secs(10);
    const SHORT: Duration = Duration::from_millis(50);

    async fn is_pending(timer: &mut IdleTimer) -> bool {
        poll_fn(|cx| Poll::Ready(timer.poll(cx).is_pending())).await
    }

    #[tokio::test(start_paused = true)]
    async fn each_wait_ends_at_its_time_whatever_was_waited_for_before() {
        let mut timer = IdleTimer::after(LONG);
        for (given_up, wanted) in [(SHORT, LONG), (LONG, SHORT), (SHORT, SHORT)] {
            timer.restart(given_up);
            assert!(is_pending(&mut timer).await);
            let began = Instant::now();
            timer.restart(wanted);
            poll_fn(|cx| timer.poll(cx)).await;
            assert_eq!(began.elapsed(), wanted + GRACE, "after {given_up:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_of_no_time_ends_after_the_grace_period_and_may_be_restarted() {
        let began = Instant::now();
        let mut timer = IdleTimer::after(Duration::ZERO);
        poll_fn(|cx| timer.poll(cx)).await;
        timer.restart(Duration::ZERO);
        assert!(is_pending(&mut timer).await);
        timer.restart(LONG);
        poll_fn(|cx| timer.poll(cx)).await;
        assert_eq!(began.elapsed(), GRACE * 2 + LONG);
    }

    #[tokio::test(start_paused = true)]
    async fn suspended_time_is_no_idle_time() {
        let mut timer = IdleTimer::after(LONG);
        assert!(is_pending(&mut timer).await);
        pretend(LONG * 6);
        advance(LONG * 6).await;
        assert!(is_pending(&mut timer).await);
        let resumed = Instant::now();
        poll_fn(|cx| timer.poll(cx)).await;
        assert_eq!(resumed.elapsed(), LONG + GRACE);
    }
}
