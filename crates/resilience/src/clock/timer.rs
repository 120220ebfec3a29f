//! Timers, and the futures that are made of them.
//!
//! They are tokio's timers: a list of our own cost no less (`cargo xtask bench timers`).

use super::Moment;
use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::time::{Sleep, sleep_until};

/// Waits for a moment that may change from one poll to the next. It is armed when it is first
/// polled. Moving the moment later costs nothing: the timer fires at the old one and is set anew.
#[derive(Debug, Default)]
pub struct Timer(Option<Pin<Box<Sleep>>>);

/// A future that is ready at its moment.
#[must_use = "a deadline does nothing unless it is polled"]
#[derive(Debug)]
pub struct Deadline {
    due: Moment,
    timer: Timer,
}

impl Timer {
    pub fn poll(&mut self, due: Moment, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let at = due.instant();
            let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(at)));
            if sleep.deadline() > at {
                sleep.as_mut().reset(at);
            }
            ready!(sleep.as_mut().poll(cx));
            if due <= Moment::now() {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(due.instant());
        }
    }
}

impl Deadline {
    pub fn at(due: Moment) -> Self {
        Self { due, timer: Timer::default() }
    }

    pub fn after(wait: Duration) -> Self {
        Self::at(Moment::now() + wait)
    }
}

impl Future for Deadline {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let due = self.due;
        self.timer.poll(due, cx)
    }
}

/// The result of `work`; `None` if that takes longer than `limit`. A timer is made only if `work`
/// is not done at once.
pub async fn timeout<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    unless(|| Deadline::after(limit), work).await
}

/// The result of `work`; `None` if it is not done at that moment.
pub async fn timeout_at<T>(end: Moment, work: impl Future<Output = T>) -> Option<T> {
    unless(|| Deadline::at(end), work).await
}

/// A result that is there counts, even if the deadline has passed.
async fn unless<T>(deadline: impl Fn() -> Deadline, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let mut set = None;
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        Pin::new(set.get_or_insert_with(&deadline)).poll(cx).map(|()| None)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::pretend;
    use std::future::pending;
    use tokio::time::{Instant, advance, sleep};

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_deadline_is_ready_at_its_time() {
        let waits = [0, 3, 25, 50, 1000, 600_000].map(Duration::from_millis);
        for wait in waits {
            let begin = Instant::now();
            Deadline::after(wait).await;
            // The runtime counts whole milliseconds.
            assert!(
                begin.elapsed() >= wait && begin.elapsed() <= wait + Duration::from_millis(1),
                "{wait:?}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_moment_may_be_put_off_or_come_sooner() {
        let mut timer = Timer::default();
        let begin = Moment::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        for moment in [at(60), at(90), at(30)] {
            assert!(poll_fn(|cx| Poll::Ready(timer.poll(moment, cx))).await.is_pending());
        }
        for moment in [at(30), at(31), at(100)] {
            poll_fn(|cx| timer.poll(moment, cx)).await;
            assert_eq!(Moment::now(), moment);
        }
        assert!(poll_fn(|cx| Poll::Ready(timer.poll(at(50), cx))).await.is_ready());
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_takes_too_long_is_given_up() {
        assert_eq!(timeout(SECOND, async { 7 }).await, Some(7));
        assert_eq!(timeout(SECOND, sleep(SECOND / 2)).await, Some(()));
        let begin = Instant::now();
        assert_eq!(timeout(SECOND, pending::<()>()).await, None);
        assert_eq!(begin.elapsed(), SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn suspended_time_does_not_count() {
        for wait in [Duration::from_millis(3), SECOND, SECOND * 600] {
            let begin = Instant::now();
            let mut deadline = Deadline::after(wait);
            assert!(is_pending(&mut deadline).await);
            pretend(SECOND * 60);
            advance(SECOND * 60).await;
            assert!(is_pending(&mut deadline).await, "{wait:?}");
            pretend(SECOND * 5);
            advance(SECOND * 5).await;
            deadline.await;
            let ran = begin.elapsed().saturating_sub(SECOND * 65);
            assert!(ran >= wait && ran <= wait + Duration::from_millis(2), "{wait:?}: {ran:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn suspension_before_the_first_poll_does_not_count_either() {
        pretend(SECOND * 60);
        let (early, late) = (Deadline::after(SECOND), Deadline::at(Moment::now()));
        pretend(SECOND * 60);
        advance(SECOND * 60).await;
        let begin = Instant::now();
        late.await;
        assert_eq!(begin.elapsed(), Duration::ZERO);
        early.await;
        assert_eq!(begin.elapsed(), SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn work_is_given_up_only_when_it_had_its_time_without_suspension() {
        let work = async {
            sleep(SECOND).await;
            pretend(SECOND * 60);
            sleep(SECOND * 61).await;
            7
        };
        assert_eq!(timeout(SECOND * 3, work).await, Some(7));
        let begin = Instant::now();
        let work = async {
            pretend(SECOND * 60);
            advance(SECOND * 60).await;
            pending::<()>().await;
        };
        assert_eq!(timeout_at(Moment::now() + SECOND, work).await, None);
        assert_eq!(begin.elapsed(), SECOND * 61);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_idle_before_a_suspension_is_not_idle_for_longer_after_it() {
        let used = Moment::now();
        advance(SECOND).await;
        pretend(SECOND * 60);
        advance(SECOND * 60).await;
        assert_eq!(used.elapsed(), SECOND);
        assert_eq!(Moment::from(Instant::now()) - used, SECOND);
        assert_eq!(used - Moment::now(), Duration::ZERO);
    }

    async fn is_pending(deadline: &mut Deadline) -> bool {
        poll_fn(|cx| Poll::Ready(Pin::new(&mut *deadline).poll(cx).is_pending())).await
    }
}
