//! [`Outgoing`]: sends messages to a client of stdio or HTTP+SSE.

use futures_util::future::BoxFuture;
use tokio::sync::mpsc::{self, error::TrySendError};
use trunkline_protocol::Envelope;
use trunkline_transport::stdio::{self, FrameWriter};

/// The queue of messages to one client.
#[derive(Debug, Clone)]
pub(crate) enum Outgoing {
    /// Stdio. The writer batches queued messages.
    Pipe(FrameWriter),
    /// HTTP+SSE. The event stream takes one message at a time.
    Queue(mpsc::Sender<Envelope>),
}

/// A message that waits for space in the queue. Dropping the future discards the message.
pub(crate) type Sending = BoxFuture<'static, ()>;

impl Outgoing {
    /// Queues a message. If the queue is full, the returned future queues it when there is space.
    /// Messages to a disconnected client are dropped.
    pub(crate) fn send(&self, envelope: Envelope) -> Option<Sending> {
        match self {
            Self::Pipe(writer) => match writer.try_send(envelope.to_line()) {
                Ok(()) => return None,
                Err(stdio::TrySendError::Full(frame)) => {
                    let writer = writer.clone();
                    return Some(Box::pin(async move {
                        if let Err(error) = writer.send(frame).await {
                            tracing::debug!(%error, "a message could not be written to the client");
                        }
                    }));
                }
                Err(stdio::TrySendError::Refused(error)) => {
                    tracing::debug!(%error, "a message could not be written to the client");
                }
            },
            Self::Queue(queue) => match queue.try_send(envelope) {
                Ok(()) => return None,
                Err(TrySendError::Full(envelope)) => {
                    let queue = queue.clone();
                    return Some(Box::pin(async move { drop(queue.send(envelope).await) }));
                }
                Err(TrySendError::Closed(_)) => {
                    tracing::debug!("a message was dropped: the client has disconnected");
                }
            },
        }
        None
    }

    /// Queues a message, or drops it if the queue is full.
    pub(crate) fn tell(&self, envelope: Envelope) {
        if self.send(envelope).is_some() {
            tracing::debug!("a notification was dropped: the client reads too slowly");
        }
    }
}
