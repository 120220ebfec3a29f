//! Cancellation notices to the server. A closing line first waits until they are sent.

use std::{sync::Arc, time::Duration};
use tokio::{runtime, sync::RwLock};
use trunkline_protocol::Fault;
use trunkline_resilience::timeout;

/// Longest wait of a closing line for its notices.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The notices of one line. Each holds a read lock until it is sent.
#[derive(Debug, Default)]
pub(super) struct Cancellations(Arc<RwLock<()>>);

impl Cancellations {
    /// Sends a notice in a task of its own, because it is called from `Drop`. Without a runtime
    /// the line no longer exists.
    pub(super) fn send(&self, notice: impl Future<Output = Result<(), Fault>> + Send + 'static) {
        let Ok(runtime) = runtime::Handle::try_current() else { return };
        let in_flight = self.0.clone().try_read_owned();
        runtime.spawn(async move {
            if let Err(fault) = notice.await {
                tracing::debug!(%fault, "could not send a cancellation to the server");
            }
            drop(in_flight);
        });
    }

    /// Waits until all notices are sent, up to the timeout.
    pub(super) async fn flush(&self) {
        if timeout(TIMEOUT, self.0.write()).await.is_none() {
            tracing::debug!("not every cancellation was sent before the connection closed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::{sync::oneshot, time::Instant};

    #[tokio::test(start_paused = true)]
    async fn closing_waits_for_what_is_being_said() {
        let cancellations = Cancellations::default();
        cancellations.flush().await;
        let (go, gone) = oneshot::channel::<()>();
        let (done, mut is_done) = oneshot::channel();
        cancellations.send(async move {
            gone.await.ok();
            done.send(()).ok();
            Ok(())
        });
        let flushed = cancellations.flush();
        go.send(()).unwrap();
        flushed.await;
        assert_eq!(is_done.try_recv(), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_takes_nothing_is_not_waited_for_for_ever() {
        let cancellations = Cancellations::default();
        cancellations.send(std::future::pending());
        let start = Instant::now();
        cancellations.flush().await;
        assert_eq!(start.elapsed(), TIMEOUT);
    }
}
