//! Alarm: the deadlines of one connection, on one timer.
//!
//! Most deadlines pass unused, a fraction of a second after they were set. So an alarm that is given up leaves the timer set, and the
//! next one, if it is later, moves it only once it has rung. That wakes the connection now and then without need, and spares a timer
//! for each request.

use crate::session::lock;
use hyper::rt::{Sleep, Timer};
use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::time::Instant;

/// The timer of one connection. All its alarms are waited for by the task of that connection.
#[derive(Clone, Default)]
pub(crate) struct Clock(Arc<Mutex<Option<Pin<Box<tokio::time::Sleep>>>>>);

/// A deadline.
pub(crate) struct Alarm {
    clock: Clock,
    at: Instant,
}

impl Clock {
    pub(crate) fn within(&self, wait: Duration) -> Alarm {
        Alarm { clock: self.clone(), at: Instant::now() + wait }
    }

    fn poll(&self, at: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let mut timer = lock(&self.0);
        let timer = timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
        if timer.deadline() > at {
            timer.as_mut().reset(at);
        }
        ready!(timer.as_mut().poll(cx));
        if timer.deadline() < at {
            // It rang for an alarm that was given up.
            timer.as_mut().reset(at);
            ready!(timer.as_mut().poll(cx));
        }
        Poll::Ready(())
    }
}

impl Future for Alarm {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.clock.poll(self.at, cx)
    }
}

impl Sleep for Alarm {}

impl Timer for Clock {
    fn sleep(&self, wait: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(self.within(wait))
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Alarm { clock: self.clone(), at: deadline.into() })
    }

    fn now(&self) -> std::time::Instant {
        Instant::now().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    const LONG: Duration = Duration::from_secs(10);
    const SHORT: Duration = Duration::from_millis(50);

    #[tokio::test(start_paused = true)]
    async fn each_alarm_rings_at_its_time_whatever_was_set_before() {
        let clock = Clock::default();
        for (given_up, wanted) in [(SHORT, LONG), (LONG, SHORT), (SHORT, SHORT)] {
            let mut left = Box::pin(clock.within(given_up));
            assert!((&mut left).now_or_never().is_none());
            drop(left);
            let began = Instant::now();
            clock.within(wanted).await;
            assert_eq!(began.elapsed(), wanted, "after {given_up:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_alarm_of_the_past_rings_at_once() {
        let clock = Clock::default();
        clock.within(SHORT).await;
        let past = clock.within(Duration::ZERO);
        tokio::time::advance(SHORT).await;
        let began = Instant::now();
        past.await;
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
