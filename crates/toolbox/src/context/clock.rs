//! Clock: the time limit of a call. It is paused while a question to the client is open.

use parking_lot::{Mutex, MutexGuard};
use std::{future::poll_fn, time::Duration};
use tokio::sync::Notify;

use trunkline_resilience::{Moment, Timer};

#[derive(Debug)]
pub(crate) struct Clock {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    /// Total running time that the call is allowed.
    limit: Duration,
    ends: Moment,
    /// Number of open questions; `stopped` is the start of the current pause.
    open: usize,
    stopped: Option<Moment>,
    /// The caller's own deadline; pauses do not extend it.
    latest: Option<Moment>,
}

/// Guard: the clock is paused until this is dropped.
#[derive(Debug)]
pub(crate) struct Pause<'a>(&'a Clock);

impl Clock {
    pub(crate) fn new(limit: Duration, latest: Option<std::time::Instant>) -> Self {
        let state = State {
            limit,
            ends: Moment::now() + limit,
            open: 0,
            stopped: None,
            latest: latest.map(Moment::from),
        };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    /// Restarts with a new limit and without the caller's deadline.
    pub(crate) fn restart(&self, limit: Duration) {
        let mut state = self.state();
        state.limit = limit;
        state.ends = Moment::now() + limit;
        state.latest = None;
        drop(state);
        self.changed.notify_one();
    }

    pub(crate) fn pause(&self) -> Pause<'_> {
        let mut state = self.state();
        state.open += 1;
        state.stopped.get_or_insert_with(Moment::now);
        drop(state);
        self.changed.notify_one();
        Pause(self)
    }

    pub(crate) fn limit(&self) -> Duration {
        self.state().limit
    }

    /// The current deadline; a pause moves it.
    pub(crate) fn ends(&self) -> Moment {
        let state = self.state();
        state.latest.map_or(state.ends, |latest| latest.min(state.ends))
    }

    /// Waits until the deadline has passed.
    pub(crate) async fn expired(&self) {
        let mut timer = Timer::default();
        loop {
            let end = {
                let state = self.state();
                match (state.stopped, state.latest) {
                    (Some(_), latest) => latest,
                    (None, Some(latest)) => Some(latest.min(state.ends)),
                    (None, None) => Some(state.ends),
                }
            };
            let Some(end) = end else {
                self.changed.notified().await;
                continue;
            };
            tokio::select! {
                biased;
                () = self.changed.notified() => {}
                () = poll_fn(|cx| timer.poll(end, cx)) => return,
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.open -= 1;
        if state.open == 0
            && let Some(since) = state.stopped.take()
        {
            state.ends = state.ends + since.elapsed();
        }
        drop(state);
        self.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn time_for_questions_does_not_count() {
        let clock = Clock::new(Duration::from_secs(30), None);
        let started = Instant::now();
        let asking = async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            let pause = clock.pause();
            tokio::time::sleep(Duration::from_mins(5)).await;
            drop(pause);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = clock.expired() => {}
            () = asking => {}
        }
        assert_eq!(started.elapsed().as_secs(), 330);
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_who_left_is_not_waited_for() {
        let latest = Instant::now() + Duration::from_secs(5);
        let clock = Clock::new(Duration::from_secs(30), Some(latest.into_std()));
        let _pause = clock.pause();
        clock.expired().await;
        assert_eq!(Instant::now(), latest);
    }
}
