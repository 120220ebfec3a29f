//! The timer of one connection: the waits for its requests, one after the other.
//!
//! Each wait is given up when the request comes, mostly long before its time. It leaves the timer of the runtime as it was set, and the
//! next wait, which is later, sets it anew only once it has rung. That wakes an idle connection once more, and spares a busy one a
//! timer for each request.

use crate::session::lock;
use hyper::rt::{Sleep, Timer};
use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::time::{Instant, sleep_until};

/// Waits of one task, which has only one of them at a time.
#[derive(Clone, Default)]
pub(crate) struct LazyTimer(Arc<Mutex<Option<Pin<Box<tokio::time::Sleep>>>>>);

/// One wait.
struct Wait {
    timer: LazyTimer,
    until: Instant,
}

impl LazyTimer {
    fn wait(&self, until: Instant) -> Wait {
        Wait { timer: self.clone(), until }
    }
}

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut timer = lock(&self.timer.0);
        let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(self.until)));
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

impl Sleep for Wait {}

impl Timer for LazyTimer {
    fn sleep(&self, wait: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(self.wait(Instant::now() + wait))
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(self.wait(deadline.into()))
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
    async fn each_wait_ends_at_its_time_whatever_was_waited_for_before() {
        let timer = LazyTimer::default();
        for (given_up, wanted) in [(SHORT, LONG), (LONG, SHORT), (SHORT, SHORT)] {
            assert!(timer.sleep(given_up).now_or_never().is_none());
            let began = Instant::now();
            timer.sleep(wanted).await;
            assert_eq!(began.elapsed(), wanted, "after {given_up:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_until_now_ends_at_once() {
        let timer = LazyTimer::default();
        timer.sleep(SHORT).await;
        let past = timer.now();
        tokio::time::advance(SHORT).await;
        let began = Instant::now();
        timer.sleep_until(past).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
