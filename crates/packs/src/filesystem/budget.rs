//! Budget: time limit and cancellation of blocking work, which runs on a blocking thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use trunkline_toolbox::ToolError;

/// Time limit and cancellation flag of a call. Blocking work must check it often.
#[derive(Debug)]
pub(super) struct Budget {
    until: Instant,
    abandoned: Arc<AtomicBool>,
}

/// Guard: cancels the work when the call is dropped.
struct Waiting(Arc<AtomicBool>);

/// Runs blocking work on a blocking thread. If the call is cancelled, the work sees it in its
/// budget.
pub(super) async fn blocking<T: Send + 'static>(
    time: Duration,
    work: impl FnOnce(&Budget) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let waiting = Waiting(Arc::default());
    let budget = Budget { until: Instant::now() + time, abandoned: Arc::clone(&waiting.0) };
    match tokio::task::spawn_blocking(move || work(&budget)).await {
        Ok(done) => done,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(ToolError::new("the server is shutting down")),
        },
    }
}

impl Budget {
    pub(super) fn is_spent(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed) || Instant::now() >= self.until
    }

    /// Fails if the budget is used up, for work whose partial result is useless.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        if self.is_spent() {
            return Err(ToolError::new("this took too long and was stopped").hint("ask for a smaller part"));
        }
        Ok(())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_finds_out_that_its_call_was_dropped() {
        let (started, begun) = tokio::sync::oneshot::channel();
        let (ended, end) = tokio::sync::oneshot::channel();
        let call = blocking(Duration::from_hours(1), move |budget| {
            started.send(()).unwrap();
            while !budget.is_spent() {
                std::thread::yield_now();
            }
            ended.send(()).unwrap();
            Ok(())
        });
        let call = tokio::spawn(call);
        begun.await.unwrap();
        call.abort();
        end.await.unwrap();
    }
}
