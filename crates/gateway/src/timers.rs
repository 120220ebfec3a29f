//! Timers that are set again instead of made anew: to put off one that runs costs a small part of what it costs to enter another
//! into the runtime's wheel and to take it out again.

use std::{
    fmt,
    pin::Pin,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};
use tokio::time::{Instant, Sleep, sleep_until};

/// Most timers that are kept for the next who needs one. They run on unheard, and may wake for nothing whoever had them last.
const KEPT: usize = 256;

/// Timers for calls that come and go.
#[derive(Default)]
pub(crate) struct Timers(Mutex<Vec<Pin<Box<Sleep>>>>);

/// A timer that may be running. It has to be given back.
#[derive(Default)]
pub(crate) struct Timer(Option<Pin<Box<Sleep>>>);

impl Timers {
    /// Waits for the moment `at`, which may be another than the last time.
    pub(crate) fn poll(&self, timer: &mut Timer, at: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = timer.0.get_or_insert_with(|| match self.idle().pop() {
            Some(sleep) => sleep,
            None => Box::pin(sleep_until(at)),
        });
        if sleep.deadline() != at {
            sleep.as_mut().reset(at);
        }
        sleep.as_mut().poll(cx)
    }

    pub(crate) fn give_back(&self, timer: &mut Timer) {
        let Some(sleep) = timer.0.take() else { return };
        let mut idle = self.idle();
        if idle.len() < KEPT {
            idle.push(sleep);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Pin<Box<Sleep>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timers").field("idle", &self.idle().len()).finish()
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").field("running", &self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{future::poll_fn, time::Duration};

    #[tokio::test(start_paused = true)]
    async fn a_timer_that_was_given_back_strikes_at_the_next_owners_time() {
        let timers = Timers::default();
        let begin = Instant::now();
        for seconds in [60, 1, 30, 30, 2] {
            let (mut timer, at) = (Timer::default(), Instant::now() + Duration::from_secs(seconds));
            assert!(poll_fn(|cx| Poll::Ready(timers.poll(&mut timer, at, cx))).await.is_pending());
            if seconds == 60 {
                timers.give_back(&mut timer);
                continue;
            }
            poll_fn(|cx| timers.poll(&mut timer, at, cx)).await;
            assert_eq!(Instant::now(), at);
            timers.give_back(&mut timer);
            assert_eq!(timers.idle().len(), 1);
        }
        assert_eq!(begin.elapsed(), Duration::from_secs(63));
    }
}
