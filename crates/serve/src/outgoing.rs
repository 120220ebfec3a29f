//! Messages to a client: their memory is counted, and those of stdio and HTTP+SSE are queued.

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::mpsc::{self, error::TrySendError};
use trunkline_protocol::{Envelope, Era, Fault, FaultKind, Response};
use trunkline_resilience::{Backlog, OutOfMemory, Purpose, hold};
use trunkline_transport::{
    sse::{Event, encode},
    stdio::{self, FrameWriter},
};

/// The queue of messages to one client.
#[derive(Debug, Clone)]
pub(crate) enum Outgoing {
    /// Stdio. The writer batches queued messages.
    Pipe(FrameWriter),
    /// HTTP+SSE. The event stream takes one message at a time.
    Queue(EventSender),
}

/// Queues events for one client.
#[derive(Debug, Clone)]
pub(crate) struct EventSender {
    events: mpsc::Sender<Bytes>,
    backlog: Arc<Backlog>,
}

#[derive(Debug)]
pub(crate) struct EventReceiver {
    events: mpsc::Receiver<Bytes>,
    backlog: Arc<Backlog>,
}

/// A message that waits for space in the queue. Dropping the future discards the message.
pub(crate) type Sending = BoxFuture<'static, ()>;

/// A queue of at most `most` events.
pub(crate) fn event_queue(most: usize) -> (EventSender, EventReceiver) {
    let (sender, receiver) = mpsc::channel(most);
    let backlog = Arc::new(Backlog::new(Purpose::Message));
    (EventSender { events: sender, backlog: backlog.clone() }, EventReceiver { events: receiver, backlog })
}

/// The text of a message, counted by `hold`. If no memory is left, a response is replaced by an
/// error, and another message is dropped.
pub(crate) fn held(
    envelope: &Envelope,
    write: impl Fn(&Envelope) -> Bytes,
    hold: impl FnOnce(Bytes) -> Result<Bytes, OutOfMemory>,
) -> Option<Bytes> {
    match (hold(write(envelope)), envelope) {
        (Ok(text), _) => Some(text),
        (Err(full), Envelope::Response(response)) => Some(write(&replaced(response, full).into())),
        (Err(full), Envelope::Request(_) | Envelope::Notification(_)) => {
            tracing::debug!("a message to a client was dropped: {full}");
            None
        }
    }
}

/// The error in place of a response for which no memory is left. Its call has run, so it must not
/// be repeated.
pub(crate) fn replaced(response: &Response, full: OutOfMemory) -> Response {
    let fault = Fault::new(FaultKind::Overloaded, format!("the result was dropped: {full}"));
    let error = fault.harmful_to_repeat().to_error(Era::Modern);
    Response { outcome: Err(error), ..response.clone() }
}

/// An event that carries one message.
pub(crate) fn event_of(envelope: &Envelope) -> Bytes {
    let mut text = BytesMut::new();
    encode(&Event::message(envelope.to_line()), &mut text);
    text.freeze()
}

impl EventReceiver {
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        let event = self.events.recv().await?;
        self.backlog.release(&event);
        Some(event)
    }
}

impl Outgoing {
    /// Queues a message. If the queue is full, the returned future queues it when there is space.
    /// Messages to a disconnected client are dropped.
    pub(crate) fn send(&self, envelope: &Envelope) -> Option<Sending> {
        match self {
            Self::Pipe(writer) => send_line(writer, held(envelope, Envelope::to_line, hold)?),
            Self::Queue(queue) => queue.send(held(envelope, event_of, |event| queue.backlog.hold(event))?),
        }
    }

    /// Queues a message, or drops it if the queue is full.
    pub(crate) fn tell(&self, envelope: &Envelope) {
        if self.send(envelope).is_some() {
            tracing::debug!("a notification was dropped: the client reads too slowly");
        }
    }
}

fn send_line(writer: &FrameWriter, line: Bytes) -> Option<Sending> {
    match writer.try_send(line) {
        Ok(()) => None,
        Err(stdio::TrySendError::Full(frame)) => {
            let writer = writer.clone();
            Some(Box::pin(async move {
                if let Err(error) = writer.send(frame).await {
                    tracing::debug!(%error, "a message could not be written to the client");
                }
            }))
        }
        Err(stdio::TrySendError::Refused(error)) => {
            tracing::debug!(%error, "a message could not be written to the client");
            None
        }
    }
}

impl EventSender {
    fn send(&self, event: Bytes) -> Option<Sending> {
        match self.events.try_send(event) {
            Ok(()) => None,
            Err(TrySendError::Full(event)) => {
                let events = self.events.clone();
                Some(Box::pin(async move { drop(events.send(event).await) }))
            }
            Err(TrySendError::Closed(_)) => {
                tracing::debug!("a message was dropped: the client has disconnected");
                None
            }
        }
    }
}
