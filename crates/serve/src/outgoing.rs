//! Outgoing: where the messages to a client on one line go.

use futures_util::future::BoxFuture;
use tokio::sync::mpsc::{self, error::TrySendError};
use trunkline_protocol::Envelope;
use trunkline_transport::stdio::{self, FrameWriter};

/// The way out to one client.
#[derive(Debug, Clone)]
pub(crate) enum Outgoing {
    /// Over stdio: the writer gathers what is sent.
    Pipe(FrameWriter),
    /// Over HTTP+SSE: the stream takes one after the other.
    Queue(mpsc::Sender<Envelope>),
}

/// A message that waits for room; dropping this, it is not sent.
pub(crate) type Sending = BoxFuture<'static, ()>;

impl Outgoing {
    /// Sends a message: at once, or as what is returned ends. A client that is gone misses it.
    pub(crate) fn send(&self, envelope: Envelope) -> Option<Sending> {
        match self {
            Self::Pipe(writer) => match writer.try_send(envelope.to_line()) {
                Ok(()) => return None,
                Err(stdio::TrySendError::Full(frame)) => {
                    let writer = writer.clone();
                    return Some(Box::pin(async move {
                        if let Err(error) = writer.send(frame).await {
                            tracing::debug!(%error, "the client does not take our answers");
                        }
                    }));
                }
                Err(stdio::TrySendError::Refused(error)) => {
                    tracing::debug!(%error, "the client does not take our answers");
                }
            },
            Self::Queue(queue) => match queue.try_send(envelope) {
                Ok(()) => return None,
                Err(TrySendError::Full(envelope)) => {
                    let queue = queue.clone();
                    return Some(Box::pin(async move { drop(queue.send(envelope).await) }));
                }
                Err(TrySendError::Closed(_)) => tracing::debug!("the client is gone"),
            },
        }
        None
    }

    /// Sends a message that is not worth waiting for.
    pub(crate) fn tell(&self, envelope: Envelope) {
        if self.send(envelope).is_some() {
            tracing::debug!("a client does not take what it subscribed to");
        }
    }
}
