//! Runs the code of a tool, prompt or resource: with a slot, a time limit, and its panics caught.

use crate::{Context, ToolError, context::QueueFull};
use futures_util::FutureExt;
use std::{any::Any, panic::AssertUnwindSafe, time::Duration};
use trunkline_protocol::{Fault, FaultKind};

/// The reason why work did not finish.
#[derive(Debug)]
pub(super) enum Ending {
    OutOfTime(Duration),
    Refused(QueueFull),
    Panicked,
}

/// Guard: on drop, releases the slot and cancels the clones of the context.
struct EndGuard<'a>(&'a Context);

pub(super) async fn run<T>(cx: &Context, work: impl Future<Output = T>) -> Result<T, Ending> {
    let _guard = EndGuard(cx);
    let work = async {
        cx.shared.slot.take().await.map_err(Ending::Refused)?;
        AssertUnwindSafe(work).catch_unwind().await.map_err(|panic| {
            tracing::error!(subject = &*cx.shared.subject, panic = text(panic.as_ref()), "a call panicked");
            Ending::Panicked
        })
    };
    tokio::select! {
        biased;
        end = work => end,
        () = cx.shared.clock.expired() => Err(Ending::OutOfTime(cx.shared.clock.limit())),
    }
}

impl Ending {
    /// A timeout becomes a tool error for the model, everything else a fault for the client.
    pub(super) fn into_error(self, subject: &str) -> Result<ToolError, Fault> {
        match self {
            Self::OutOfTime(limit) => {
                let message =
                    format!("`{subject}` did not finish within {} s and was stopped", limit.as_secs_f64());
                Ok(ToolError::timeout(message).hint("Ask for less at a time, or try again later."))
            }
            Self::Refused(full) => {
                Err(Fault::new(FaultKind::Overloaded, format!("the server is busy: {full}")))
            }
            Self::Panicked => {
                Err(Fault::new(FaultKind::Unavailable, format!("`{subject}` failed unexpectedly")))
            }
        }
    }

    pub(super) fn into_fault(self, subject: &str) -> Fault {
        self.into_error(subject).map_or_else(|fault| fault, ToolError::into_fault)
    }
}

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.shared.slot.close();
        self.0.shared.cancel.cancel();
    }
}

fn text(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(panic payload is not a string)")
}
