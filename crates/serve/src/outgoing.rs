//! Outgoing: where the messages to a client on one line go.

use tokio::sync::mpsc;
use trunkline_protocol::Envelope;
use trunkline_transport::stdio::{FrameWriter, TrySendError};

/// The way out to one client.
#[derive(Debug, Clone)]
pub(crate) enum Outgoing {
    /// Over stdio: the writer gathers what is sent.
    Pipe(FrameWriter),
    /// Over HTTP+SSE: the stream takes one after the other.
    Queue(mpsc::Sender<Envelope>),
}

impl Outgoing {
    /// Sends a message, waiting for room. A client that is gone misses it.
    pub(crate) async fn send(&self, envelope: Envelope) {
        match self {
            Self::Pipe(writer) => {
                if let Err(error) = writer.send(envelope.to_line()).await {
                    tracing::debug!(%error, "the client does not take our answers");
                }
            }
            Self::Queue(queue) => {
                if queue.send(envelope).await.is_err() {
                    tracing::debug!("the client is gone");
                }
            }
        }
    }

    /// Sends a message that is not worth waiting for.
    pub(crate) fn tell(&self, envelope: Envelope) {
        let told = match self {
            Self::Pipe(writer) => writer.try_send(envelope.to_line()).map_err(drop::<TrySendError>),
            Self::Queue(queue) => queue.try_send(envelope).map_err(drop),
        };
        if told.is_err() {
            tracing::debug!("a client does not take what it subscribed to");
        }
    }
}
