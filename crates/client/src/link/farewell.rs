//! Farewells: word to a server that a caller no longer waits, which a line lets out before it closes.

use std::{sync::Arc, time::Duration};
use tokio::{runtime, sync::RwLock};
use trunkline_protocol::Fault;
use trunkline_resilience::timeout;

/// How long a line that closes waits for them.
const PATIENCE: Duration = Duration::from_secs(2);

/// Those under way on one line. Each holds the lock for reading until it is said.
#[derive(Debug, Default)]
pub(super) struct Farewells(Arc<RwLock<()>>);

impl Farewells {
    /// Says it beside whatever else is going on. Callers are dropped and cannot wait themselves; without a runtime there is
    /// no line any more.
    pub(super) fn say(&self, word: impl Future<Output = Result<(), Fault>> + Send + 'static) {
        let Ok(runtime) = runtime::Handle::try_current() else { return };
        let under_way = self.0.clone().try_read_owned();
        runtime.spawn(async move {
            if let Err(fault) = word.await {
                tracing::debug!(%fault, "could not tell the server of a cancellation");
            }
            drop(under_way);
        });
    }

    /// Waits until all of them are said, but not for ever.
    pub(super) async fn said(&self) {
        if timeout(PATIENCE, self.0.write()).await.is_none() {
            tracing::debug!("the server was not told of every cancellation");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::{sync::oneshot, time::Instant};

    #[tokio::test(start_paused = true)]
    async fn closing_waits_for_what_is_being_said() {
        let farewells = Farewells::default();
        farewells.said().await;
        let (go, gone) = oneshot::channel::<()>();
        let (tell, mut told) = oneshot::channel();
        farewells.say(async move {
            gone.await.ok();
            tell.send(()).ok();
            Ok(())
        });
        let said = farewells.said();
        go.send(()).unwrap();
        said.await;
        assert_eq!(told.try_recv(), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_takes_nothing_is_not_waited_for_for_ever() {
        let farewells = Farewells::default();
        farewells.say(std::future::pending());
        let start = Instant::now();
        farewells.said().await;
        assert_eq!(start.elapsed(), PATIENCE);
    }
}
