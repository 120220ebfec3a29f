//! Inbox: a queue of messages for one call.
//!
//! The reader of a connection must never wait for one slow caller, so an inbox is bounded and
//! never blocks: beyond the bound, progress replaces older progress, other notifications are
//! dropped and counted, and the response always fits.

use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::VecDeque,
    future::poll_fn,
    task::{Context, Poll, Waker},
};
use trunkline_protocol::{ErrorObject, Fault, Notification, Question, Raw, method};

/// Limit of queued notifications for one call.
pub(crate) const INBOX_LIMIT: usize = 256;

/// A message for a call.
#[derive(Debug)]
pub(crate) enum Arrival {
    Notification(Notification),
    Question(Question),
    /// The server asked a question that the client behind us cannot answer; it would need these
    /// capabilities.
    Unanswerable(Raw),
    Response(Result<Raw, ErrorObject>),
    /// No response will come.
    Lost(Loss),
}

/// The reason why no response will come.
#[derive(Debug, Clone)]
pub(crate) struct Loss {
    pub(crate) fault: Fault,
    pub(crate) how: LossKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LossKind {
    /// The connection broke, or was never open.
    Line,
    /// The server answered with this HTTP status and no usable message.
    Status(u16),
    /// The server no longer knows our session; it did not process the request.
    Session,
}

#[derive(Debug, Default)]
pub(crate) struct Inbox(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    arrivals: VecDeque<Arrival>,
    /// The response or the loss, after all that is queued.
    last: Option<Arrival>,
    waker: Option<Waker>,
    dropped: u64,
}

impl Arrival {
    /// True if nothing comes after it.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self, Self::Response(_) | Self::Lost(_))
    }
}

impl Inbox {
    pub(crate) fn push(&self, arrival: Arrival) {
        let mut queue = self.lock();
        queue.push(arrival);
        let waker = queue.waker.take();
        drop(queue);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) async fn next(&self) -> Arrival {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    pub(crate) fn poll_next(&self, cx: &Context<'_>) -> Poll<Arrival> {
        let mut queue = self.lock();
        if let Some(arrival) = queue.pop() {
            return Poll::Ready(arrival);
        }
        if !queue.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            queue.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock()
    }
}

impl Queue {
    fn pop(&mut self) -> Option<Arrival> {
        self.arrivals.pop_front().or_else(|| self.last.take())
    }

    fn push(&mut self, arrival: Arrival) {
        if arrival.is_last() {
            self.last.get_or_insert(arrival);
            return;
        }
        let is_progress = |a: &Arrival| matches!(a, Arrival::Notification(n) if n.method == method::PROGRESS);
        if self.arrivals.len() < INBOX_LIMIT || !matches!(arrival, Arrival::Notification(_)) {
            self.arrivals.push_back(arrival);
            return;
        }
        self.dropped += 1;
        if self.dropped == 1 {
            tracing::warn!("notifications arrive faster than the caller reads them; some are dropped");
        }
        if is_progress(&arrival)
            && let Some(older) = self.arrivals.iter_mut().rev().find(|a| is_progress(a))
        {
            *older = arrival;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn progress(value: usize) -> Arrival {
        let params = Raw::parse(format!("{{\"progress\":{value}}}")).unwrap();
        Arrival::Notification(Notification::new(method::PROGRESS, Some(params)))
    }

    #[test]
    fn a_flood_of_progress_is_bounded_and_keeps_the_newest_and_the_answer() {
        let inbox = Inbox::default();
        for value in 0..10_000 {
            inbox.push(progress(value));
        }
        inbox.push(Arrival::Response(Ok(Raw::null())));
        let mut taken = Vec::new();
        while let Some(arrival) = inbox.next().now_or_never() {
            taken.push(arrival);
        }
        assert_eq!(taken.len(), INBOX_LIMIT + 1);
        assert!(matches!(taken.pop(), Some(Arrival::Response(Ok(_)))));
        let Some(Arrival::Notification(last)) = taken.pop() else { panic!() };
        assert_eq!(last.params.unwrap().as_str(), "{\"progress\":9999}");
        assert_eq!(inbox.lock().dropped, 10_000 - INBOX_LIMIT as u64);
    }

    #[tokio::test]
    async fn a_waiting_taker_is_woken() {
        let inbox = std::sync::Arc::new(Inbox::default());
        let taker = tokio::spawn({
            let inbox = inbox.clone();
            async move { inbox.next().await }
        });
        tokio::task::yield_now().await;
        inbox.push(progress(1));
        assert!(matches!(taker.await.unwrap(), Arrival::Notification(_)));
    }
}
