//! An execution as an event stream: `progress`, `partial` and `message`, then one `result`.

use super::answer::Finished;
use crate::execution::{
    Follower, Happened, Watch,
    run::{Run, RunEvent},
};
use bytes::{Bytes, BytesMut};
use tracing::debug;
use trunkline_protocol::Raw;
use trunkline_resilience::hold;
use trunkline_transport::sse::{Event, Line, encode};

/// The events of a call that ends with its stream, or of an execution that outlives it.
pub(crate) enum RestStream {
    Call(CallStream),
    Execution(ExecutionStream),
}

/// Dropping it cancels the call.
pub(crate) struct CallStream {
    id: String,
    run: Run,
    sent: u64,
}

pub(crate) struct ExecutionStream {
    pub(super) follower: Follower,
    pub(super) reader: super::executions::Reader,
    pub(super) _watch: Watch,
}

impl RestStream {
    pub(super) fn of_call(id: String, run: Run) -> Self {
        Self::Call(CallStream { id, run, sent: 0 })
    }

    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        match self {
            Self::Call(stream) => stream.next().await,
            Self::Execution(stream) => stream.next().await,
        }
    }
}

impl CallStream {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let (name, data) = match self.run.next().await? {
                RunEvent::Progress(data) => ("progress", data),
                RunEvent::Partial(data) => ("partial", data),
                RunEvent::Message(data) => ("message", data),
                RunEvent::Finished(outcome) => {
                    ("result", Finished::now(&self.id, self.run.started, &outcome).body())
                }
                // Nobody can answer questions here, so none are asked.
                RunEvent::Started | RunEvent::Question(_) | RunEvent::Questions(_) => continue,
            };
            self.sent += 1;
            match hold(event(name, self.sent, &data)) {
                Ok(text) => return Some(text),
                Err(full) if name == "result" => {
                    let dropped = Finished::dropped(&self.id, self.run.started, full);
                    return Some(event(name, self.sent, &dropped.body()));
                }
                Err(full) => debug!("an event of an execution was dropped: {full}"),
            }
        }
    }
}

impl ExecutionStream {
    /// The stream ends early if the store fails or no memory is left; the client can resume it.
    async fn next(&mut self) -> Option<Bytes> {
        let next = self.follower.next().await;
        let (number, happened) =
            next.inspect_err(|error| debug!(%error, "the events of an execution cannot be read")).ok()??;
        let (name, data) = match happened {
            Happened::State(data) => ("state", data),
            Happened::Progress(data) => ("progress", data),
            Happened::Partial(data) => ("partial", data),
            Happened::Message(data) => ("message", data),
            Happened::Question(data) => ("question", data),
            Happened::Truncated(data) => ("truncated", data),
            Happened::End => ("result", self.reader.result().await?),
        };
        hold(event(name, number, &data)).inspect_err(|full| debug!("a stream was ended: {full}")).ok()
    }
}

fn event(name: &'static str, number: u64, data: &Raw) -> Bytes {
    let event = Event {
        id: Line::new(number.to_string()).ok(),
        event: Line::new(name).ok(),
        data: data.bytes().clone(),
        retry: None,
    };
    let mut text = BytesMut::new();
    encode(&event, &mut text);
    text.freeze()
}
