//! Outbox: what a running call has to say, until somebody listens.

use futures_util::task::AtomicWaker;
use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    task,
};
use trunkline_protocol::{Notification, Question};

/// The most notifications that wait for a listener; beyond that the oldest give way, because the newest say more.
const MAX_WAITING: usize = 1024;

/// Something a running call says.
#[derive(Debug)]
pub(crate) enum Item {
    Notification(Notification),
    Question(Question),
    Detach,
    /// The call wants to go on in the background.
    BecomeTask,
}

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    items: Mutex<VecDeque<Item>>,
    listener: AtomicWaker,
}

impl Outbox {
    pub(crate) fn push(&self, item: Item) {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
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
        self.items.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Has the task woken by the next item. Look into the box again afterwards: something may have come in between.
    pub(crate) fn listen(&self, cx: &task::Context<'_>) {
        self.listener.register(cx.waker());
    }
}
