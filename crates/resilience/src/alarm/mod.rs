//! Alarms: time limits that cost next to nothing when they are not reached.
//!
//! A timer of the runtime that is due before all others wakes the thread that sleeps for the next one, once for each call. Nearly
//! all limits of calls are never reached, so here they only stand in a list, which a task looks through every [`TICK`]. An alarm
//! that is due sooner than that is a timer of the runtime.
//!
//! Pauses of the process are no time of an alarm: it rings so much later.

mod reminder;
mod ticker;

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use crate::pause::{self, Mark, Watch};
pub use reminder::Reminder;
use ticker::{TICK, Ticker};
use tokio::time::{Instant, Sleep, sleep_until};

/// A future that is ready at its time, not before it and hardly later. If the process paused meanwhile, it is ready so much later.
#[must_use = "an alarm does nothing unless it is awaited"]
pub struct Alarm {
    due: Instant,
    /// The pauses before it are in `due`.
    mark: Mark,
    stage: Stage,
}

enum Stage {
    Unset,
    /// Its place in a list.
    Listed(Arc<Ticker>, usize),
    Timer(Pin<Box<Sleep>>, Watch),
    Rung,
}

/// What comes next.
enum Step {
    Ready,
    Pending,
    Again,
}

impl Alarm {
    pub fn at(due: Instant) -> Self {
        Self { due, mark: Mark::set(), stage: Stage::Unset }
    }

    pub fn after(wait: Duration) -> Self {
        Self::at(Instant::now() + wait)
    }

    fn start(&mut self, cx: &mut Context<'_>) -> Step {
        let ticker = Ticker::of_this_thread();
        if let Some(place) = ticker.list_later(self.due, cx.waker()) {
            self.stage = Stage::Listed(ticker, place);
            return Step::Pending;
        }
        let wait = self.due.saturating_duration_since(Instant::now());
        if wait.is_zero() {
            return self.ring();
        }
        if wait < TICK {
            self.stage = Stage::Timer(Box::pin(sleep_until(self.due)), Watch::begin());
            return Step::Again;
        }
        let place = ticker.list(self.due, cx.waker());
        self.stage = Stage::Listed(ticker, place);
        Step::Pending
    }

    /// Its time has come, unless there was a pause.
    fn ring(&mut self) -> Step {
        pause::look();
        self.leave();
        let missed = self.mark.missed();
        if missed == 0 {
            self.stage = Stage::Rung;
            return Step::Ready;
        }
        self.mark.forgive(missed);
        self.due += Duration::from_nanos(missed);
        self.stage = Stage::Unset;
        Step::Again
    }

    /// Gives its place in a list back.
    fn leave(&mut self) {
        if let Stage::Listed(ticker, place) = &self.stage {
            ticker.strike_out(*place);
        }
    }
}

impl Future for Alarm {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let rung = match &mut self.stage {
                Stage::Unset => Poll::Ready(self.start(cx)),
                Stage::Listed(ticker, place) => ticker.look(*place, cx.waker()).map(|()| self.ring()),
                Stage::Timer(timer, _) => timer.as_mut().poll(cx).map(|()| self.ring()),
                Stage::Rung => Poll::Ready(Step::Ready),
            };
            match ready!(rung) {
                Step::Ready => return Poll::Ready(()),
                Step::Pending => return Poll::Pending,
                Step::Again => {}
            }
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.leave();
    }
}

impl fmt::Debug for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alarm").field("due", &self.due).finish_non_exhaustive()
    }
}

/// What `work` gives, or nothing if that takes longer than `limit`. The alarm is set only when `work` is not done at once.
pub async fn within_time<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    unless(|| Alarm::after(limit), work).await
}

/// What `work` gives, or nothing if that is not there at this moment.
pub async fn before<T>(end: Instant, work: impl Future<Output = T>) -> Option<T> {
    unless(|| Alarm::at(end), work).await
}

/// What `work` gives, unless the alarm rings first. What is there counts, even at the last moment.
async fn unless<T>(set: impl Fn() -> Alarm, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let mut alarm = None;
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        Pin::new(alarm.get_or_insert_with(&set)).poll(cx).map(|()| None)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pause::pretend;
    use std::future::pending;
    use tokio::time::{advance, sleep};

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn an_alarm_rings_at_its_time() {
        for wait in
            [Duration::ZERO, Duration::from_millis(3), TICK, Duration::from_millis(50), SECOND, SECOND * 600]
        {
            let begin = Instant::now();
            Alarm::after(wait).await;
            // The runtime counts whole milliseconds.
            assert!(
                begin.elapsed() >= wait && begin.elapsed() <= wait + Duration::from_millis(1),
                "{wait:?}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_alarm_of_many_wakes_its_own_task() {
        let begin = Instant::now();
        let tasks: Vec<_> = (0..200u32)
            .rev()
            .map(|number| {
                let wait = TICK + Duration::from_millis(7) * number;
                tokio::spawn(async move {
                    Alarm::after(wait).await;
                    (wait, begin.elapsed())
                })
            })
            .collect();
        for task in tasks {
            let (wait, took) = task.await.unwrap();
            assert!(took >= wait && took <= wait + Duration::from_millis(1), "{wait:?} took {took:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_is_used_again_by_somebody_else() {
        let mut first = Alarm::after(SECOND);
        assert!(futures_are_pending(&mut first).await);
        drop(first);
        let mut second = Alarm::after(SECOND * 5);
        assert!(futures_are_pending(&mut second).await);
        advance(SECOND * 2).await;
        assert!(futures_are_pending(&mut second).await);
        let begin = Instant::now();
        second.await;
        assert_eq!(begin.elapsed(), SECOND * 3);
    }

    #[tokio::test(start_paused = true)]
    async fn alarms_ring_after_a_long_rest() {
        Alarm::after(SECOND).await;
        sleep(SECOND * 3600).await;
        let begin = Instant::now();
        Alarm::after(SECOND).await;
        assert_eq!(begin.elapsed(), SECOND);
    }

    #[test]
    fn alarms_ring_in_the_second_runtime_of_a_thread_while_the_first_rests() {
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (first, second) = (runtime(), runtime());
        for runtime in [&first, &second, &first] {
            runtime.block_on(Alarm::after(TICK * 2));
        }
        drop(first);
        second.block_on(Alarm::after(TICK * 2));
        drop(second);
        runtime().block_on(Alarm::after(TICK * 2));
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_takes_too_long_is_given_up() {
        assert_eq!(within_time(SECOND, async { 7 }).await, Some(7));
        assert_eq!(within_time(SECOND, sleep(SECOND / 2)).await, Some(()));
        let begin = Instant::now();
        assert_eq!(within_time(SECOND, pending::<()>()).await, None);
        assert_eq!(begin.elapsed(), SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_are_no_time_of_an_alarm() {
        for wait in [Duration::from_millis(3), SECOND, SECOND * 600] {
            let begin = Instant::now();
            let mut alarm = Alarm::after(wait);
            assert!(futures_are_pending(&mut alarm).await);
            pretend(SECOND * 60);
            advance(SECOND * 60).await;
            assert!(futures_are_pending(&mut alarm).await, "{wait:?}");
            pretend(SECOND * 5);
            advance(SECOND * 5).await;
            alarm.await;
            let ran = begin.elapsed().saturating_sub(SECOND * 65);
            assert!(ran >= wait && ran <= wait + Duration::from_millis(2), "{wait:?}: {ran:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_before_an_alarm_is_first_waited_for_counts_and_one_before_it_was_made_does_not() {
        pretend(SECOND * 60);
        let (early, late) = (Alarm::after(SECOND), Alarm::at(Instant::now() - SECOND));
        pretend(SECOND * 60);
        advance(SECOND * 60).await;
        let begin = Instant::now();
        late.await;
        assert_eq!(begin.elapsed(), Duration::ZERO);
        early.await;
        assert_eq!(begin.elapsed(), SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn work_is_given_up_only_when_it_had_its_time_without_pauses() {
        let work = async {
            sleep(SECOND).await;
            pretend(SECOND * 60);
            sleep(SECOND * 61).await;
            7
        };
        assert_eq!(within_time(SECOND * 3, work).await, Some(7));
        let begin = Instant::now();
        let work = async {
            pretend(SECOND * 60);
            pending::<()>().await;
        };
        assert_eq!(before(begin + SECOND, work).await, None);
        assert_eq!(begin.elapsed(), SECOND, "the alarm was set after the pause");
    }

    async fn futures_are_pending(alarm: &mut Alarm) -> bool {
        poll_fn(|cx| Poll::Ready(Pin::new(&mut *alarm).poll(cx).is_pending())).await
    }
}
