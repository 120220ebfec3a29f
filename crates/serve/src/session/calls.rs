//! Requests under way, and whoever waits for the last of them to end.

use std::{
    collections::HashMap,
    task::{Context, Poll, Waker},
};
use trunkline_protocol::RequestId;

/// Requests by their ids, with whatever ends them early.
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

    /// All of them, which are forgotten.
    pub(crate) fn take(&mut self) -> Vec<T> {
        self.wake();
        self.by_id.drain().map(|(_, call)| call).collect()
    }

    /// Ready when nothing is under way. One task waits for it at a time.
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
