//! The phases of a server, which its connections and streams observe.

use tokio::sync::watch;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Phase {
    #[default]
    Serving,
    /// Connections and streams without a call in flight end; calls in flight may finish.
    Draining,
    /// No connection is accepted any more.
    Closing,
    /// Calls in flight are aborted.
    Stopped,
}

/// Resolves when the server has reached the phase `wanted` or a later one.
pub(crate) async fn reached(phase: &mut watch::Receiver<Phase>, wanted: Phase) -> Phase {
    if let Ok(now) = phase.wait_for(|now| *now >= wanted).await {
        return *now;
    }
    // Without a sender the phase never changes.
    std::future::pending().await
}
