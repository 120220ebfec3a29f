//! Hang-up: what becomes of a request whose client says no more.
//!
//! That a client has closed its half of the connection is all that can be seen of it: it may be gone, or it may go on listening. A
//! modern call is taken back by it, as its revision says. A legacy one is not: it goes on, and is answered if somebody still listens.
//! Which of the two a request is, is known only by whoever answers it; it says so each time that it has to wait.

use std::{cell::Cell, pin::pin};

thread_local! {
    static GOES_ON: Cell<bool> = const { Cell::new(false) };
}

/// Work that a hang-up does not end.
pub(super) async fn outlasting<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    std::future::poll_fn(|cx| {
        let polled = work.as_mut().poll(cx);
        if polled.is_pending() {
            GOES_ON.set(true);
        }
        polled
    })
    .await
}

/// Polls work; [`goes_on`] knows of it from now on.
pub(super) fn polled<T>(poll: impl FnOnce() -> T) -> T {
    GOES_ON.set(false);
    poll()
}

/// Whether the work that was polled last by this thread is such that a hang-up does not end it.
pub(super) fn goes_on() -> bool {
    GOES_ON.get()
}
