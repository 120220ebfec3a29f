//! An execution as an event stream: `progress`, `partial` and `message`, then one `result`.

use super::run::{Run, RunEvent};
use bytes::{Bytes, BytesMut};
use tracing::debug;
use trunkline_protocol::Raw;
use trunkline_resilience::hold;
use trunkline_transport::sse::{Event, Line, encode};

/// Dropping it cancels the execution.
pub(crate) struct RestStream {
    run: Run,
    sent: u64,
}

impl RestStream {
    pub(super) fn new(run: Run) -> Self {
        Self { run, sent: 0 }
    }

    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        loop {
            let (name, data) = match self.run.next().await? {
                RunEvent::Progress(data) => ("progress", data),
                RunEvent::Partial(data) => ("partial", data),
                RunEvent::Message(data) => ("message", data),
                RunEvent::Finished(finished) => ("result", finished.body),
            };
            self.sent += 1;
            match hold(event(name, self.sent, &data)) {
                Ok(text) => return Some(text),
                Err(full) if name == "result" => {
                    let dropped = self.run.execution.dropped(full);
                    return Some(event(name, self.sent, &dropped.body));
                }
                Err(full) => debug!("an event of an execution was dropped: {full}"),
            }
        }
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
