//! Cancel: tells background work of a call that the call is over.

use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct Cancel {
    over: AtomicBool,
    notify: Notify,
}

impl Cancel {
    pub(crate) fn cancel(&self) {
        self.over.store(true, Ordering::Release);
        self.notify.notify_waiters();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    pub(crate) async fn cancelled(&self) {
        // Registers as a waiter before the check, so a cancel between check and await is not lost.
        let notified = self.notify.notified();
        tokio::pin!(notified);
        notified.as_mut().enable();
        if !self.is_cancelled() {
            notified.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn whoever_waits_is_told_before_and_after() {
        let cancel = Cancel::default();
        let mut early = Box::pin(cancel.cancelled());
        assert!((&mut early).now_or_never().is_none() && !cancel.is_cancelled());
        cancel.cancel();
        assert!(early.now_or_never().is_some());
        assert!(cancel.cancelled().now_or_never().is_some() && cancel.is_cancelled());
    }
}
