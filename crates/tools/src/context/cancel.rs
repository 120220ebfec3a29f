//! Cancel: word that a call is over, for work that goes on beside it.

use tokio::sync::watch;

#[derive(Debug)]
pub(crate) struct Cancel(watch::Sender<bool>);

impl Cancel {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    pub(crate) fn cancel(&self) {
        self.0.send_replace(true);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    pub(crate) async fn cancelled(&self) {
        let mut told = self.0.subscribe();
        // The sender lives in `self`, so the wait can only end by being told.
        while !*told.borrow_and_update() {
            if told.changed().await.is_err() {
                return;
            }
        }
    }
}
