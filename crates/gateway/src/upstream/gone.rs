//! Gone: whether a session is no more, and who is woken when that happens. Every call asks this once or twice, so a place among
//! those who wait costs no more than a lock.

use std::{
    fmt,
    future::poll_fn,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};
use trunkline_protocol::Fault;

#[derive(Default)]
pub(super) struct Gone(Mutex<State>);

#[derive(Default)]
struct State {
    why: Option<Fault>,
    /// Free places are `None`, and their numbers are in `free`.
    waiting: Vec<Option<Waker>>,
    free: Vec<usize>,
}

/// A place among those who wait; it has to be left.
#[derive(Debug, Default)]
pub(super) struct Seat(Option<usize>);

/// A seat that is left, however whoever has it goes away.
struct Seated<'a>(&'a Gone, Seat);

impl Gone {
    /// Says that the session is no more. Only the first reason counts.
    pub(super) fn tell(&self, why: Fault) {
        let mut state = self.lock();
        if state.why.is_some() {
            return;
        }
        state.why = Some(why);
        let waiting: Vec<Waker> = state.waiting.iter_mut().filter_map(Option::take).collect();
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Why the session is gone, as soon as it is.
    pub(super) fn poll(&self, seat: &mut Seat, cx: &mut Context<'_>) -> Poll<Fault> {
        let mut state = self.lock();
        if let Some(why) = &state.why {
            return Poll::Ready(why.clone());
        }
        let place = *seat.0.get_or_insert_with(|| state.place());
        match &mut state.waiting[place] {
            Some(waker) => waker.clone_from(cx.waker()),
            empty => *empty = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    pub(super) fn leave(&self, seat: &mut Seat) {
        let Some(place) = seat.0.take() else { return };
        let mut state = self.lock();
        let waker = state.waiting[place].take();
        state.free.push(place);
        drop(state);
        // Whoever it wakes may be dropped with it, which takes its time.
        drop(waker);
    }

    pub(super) async fn wait(&self) -> Fault {
        let mut seated = Seated(self, Seat::default());
        poll_fn(|cx| seated.0.poll(&mut seated.1, cx)).await
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn place(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.waiting.push(None);
            self.waiting.len() - 1
        })
    }
}

impl Drop for Seated<'_> {
    fn drop(&mut self) {
        self.0.leave(&mut self.1);
    }
}

impl fmt::Debug for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gone").field("why", &self.lock().why).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::Arc, time::Duration};
    use trunkline_protocol::FaultKind;

    #[tokio::test(start_paused = true)]
    async fn all_who_wait_hear_the_first_reason_and_places_are_used_again() {
        let gone = Arc::new(Gone::default());
        for _ in 0..10 {
            tokio::time::timeout(Duration::from_millis(1), gone.wait()).await.unwrap_err();
        }
        assert_eq!(gone.lock().waiting.len(), 1);
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let gone = Arc::clone(&gone);
                tokio::spawn(async move { gone.wait().await.kind() })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(1)).await;
        gone.tell(Fault::new(FaultKind::ServerExited, "first"));
        gone.tell(Fault::new(FaultKind::Timeout, "second"));
        for waiter in waiters {
            assert_eq!(waiter.await.unwrap(), FaultKind::ServerExited);
        }
        assert_eq!(gone.wait().await.message(), "first");
    }
}
