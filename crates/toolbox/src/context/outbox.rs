//! Outbox: the queue of messages from a running call to its client.

use futures_util::task::AtomicWaker;
use parking_lot::Mutex;
use std::{collections::VecDeque, task};
use trunkline_protocol::{Notification, Question};

/// Queue limit; beyond it the oldest notification is dropped, because newer ones supersede it.
const MAX_WAITING: usize = 1024;

/// One message of a running call.
#[derive(Debug)]
pub(crate) enum Item {
    Notification(Notification),
    Question(Question),
    Detach,
    /// The call asks to continue as a task.
    BecomeTask,
}

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    items: Mutex<VecDeque<Item>>,
    listener: AtomicWaker,
}

impl Outbox {
    pub(crate) fn push(&self, item: Item) {
        let mut items = self.items.lock();
        if items.len() >= MAX_WAITING
            && let Some(oldest) = items.iter().position(|item| matches!(item, Item::Notification(_)))
        {
            items.remove(oldest);
        }
        items.push_back(item);
        drop(items);
        self.listener.wake();
    }

    pub(crate) fn pop(&self) -> Option<Item> {
        self.items.lock().pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.lock().is_empty()
    }

    /// Registers the waker for the next item. Call `pop` afterwards: an item may have been pushed
    /// before the registration.
    pub(crate) fn listen(&self, cx: &task::Context<'_>) {
        self.listener.register(cx.waker());
    }
}
