//! Seat: the slot that one call holds, given up while the caller is asked something.

use super::slots::{LineFull, Permit, Slots, Ticket};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug)]
pub(crate) struct Seat {
    slots: Arc<Slots>,
    ticket: Ticket,
    permit: Mutex<Held>,
}

#[derive(Debug)]
enum Held {
    No,
    Yes(#[expect(dead_code, reason = "held for its drop")] Permit),
    /// The call is over; work that goes on beside it gets no slot any more.
    Closed,
}

impl Seat {
    pub(crate) fn new(slots: Arc<Slots>, ticket: Ticket) -> Self {
        Self { slots, ticket, permit: Mutex::new(Held::No) }
    }

    pub(crate) async fn take(&self) -> Result<(), LineFull> {
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

    /// Gives the slot to others for a while.
    pub(crate) fn leave(&self) {
        let mut held = self.held();
        if matches!(*held, Held::Yes(_)) {
            *held = Held::No;
        }
    }

    pub(crate) fn close(&self) {
        *self.held() = Held::Closed;
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
