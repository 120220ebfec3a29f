//! Phase: from serving to the end, as connections and streams hear of it.

use tokio::sync::watch;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Phase {
    #[default]
    Serving,
    /// What has nothing under way ends, and the rest may finish.
    Leaving,
    /// Nobody is let in any more.
    Closing,
    /// What still runs is cut off.
    Over,
}

/// Resolves once it has come so far.
pub(crate) async fn reached(phase: &mut watch::Receiver<Phase>, wanted: Phase) -> Phase {
    if let Ok(now) = phase.wait_for(|now| *now >= wanted).await {
        return *now;
    }
    // A sender that is gone can tell nothing any more.
    std::future::pending().await
}
