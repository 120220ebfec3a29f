//! `CallSlot`: the slot that one call holds; released while a question to the client is open.

use super::slots::{Permit, QueueFull, Slots, Ticket};
use parking_lot::Mutex;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct CallSlot {
    slots: Arc<Slots>,
    ticket: Ticket,
    permit: Mutex<Held>,
}

#[derive(Debug)]
enum Held {
    No,
    Yes(#[expect(dead_code, reason = "held for its drop")] Permit),
    /// The call is over; its background work does not get a slot again.
    Closed,
}

impl CallSlot {
    pub(crate) fn new(slots: Arc<Slots>, ticket: Ticket) -> Self {
        Self { slots, ticket, permit: Mutex::new(Held::No) }
    }

    pub(crate) async fn take(&self) -> Result<(), QueueFull> {
        if !matches!(*self.held(), Held::No) {
            return Ok(());
        }
        let permit = self.slots.take(self.ticket.clone()).await?;
        let mut held = self.held();
        if matches!(*held, Held::No) {
            *held = Held::Yes(permit);
        }
        Ok(())
    }

    /// Releases the slot until the next `take`.
    pub(crate) fn release(&self) {
        let mut held = self.held();
        if matches!(*held, Held::Yes(_)) {
            *held = Held::No;
        }
    }

    pub(crate) fn close(&self) {
        *self.held() = Held::Closed;
    }

    fn held(&self) -> parking_lot::MutexGuard<'_, Held> {
        self.permit.lock()
    }
}
