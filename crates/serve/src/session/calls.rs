//! The requests in flight of one client.

use std::{
    collections::HashMap,
    task::{Context, Poll, Waker},
};
use trunkline_protocol::RequestId;

/// Requests by id, each with a handle that cancels it.
#[derive(Debug)]
pub(crate) struct Calls<T> {
    by_id: HashMap<RequestId, T>,
    waiting: Option<Waker>,
}

impl<T> Calls<T> {
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn get(&self, id: &RequestId) -> Option<&T> {
        self.by_id.get(id)
    }

    pub(crate) fn by_id(&mut self) -> &mut HashMap<RequestId, T> {
        &mut self.by_id
    }

    pub(crate) fn remove(&mut self, id: &RequestId) -> Option<T> {
        let removed = self.by_id.remove(id);
        if self.by_id.is_empty() {
            self.wake();
        }
        removed
    }

    /// Removes and returns all requests.
    pub(crate) fn take(&mut self) -> Vec<T> {
        self.wake();
        self.by_id.drain().map(|(_, call)| call).collect()
    }

    /// Ready when no request is in flight. Only one task can wait at a time.
    pub(crate) fn poll_quiet(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.by_id.is_empty() {
            return Poll::Ready(());
        }
        self.waiting = Some(cx.waker().clone());
        Poll::Pending
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }
}

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Self { by_id: HashMap::new(), waiting: None }
    }
}
