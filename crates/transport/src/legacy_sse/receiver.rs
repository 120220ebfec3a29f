//! The half that reads messages.

use bytes::Bytes;

use crate::http::{EventStream, HttpError};

/// Reads the server's messages. Dropping it closes the stream, and with it the connection.
#[derive(Debug)]
pub struct Receiver {
    stream: EventStream,
}

impl Receiver {
    pub(super) fn new(stream: EventStream) -> Self {
        Self { stream }
    }

    /// The next message; `None` when the server has closed the stream. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        while let Some(event) = self.stream.next().await? {
            if event.is("message") && !event.data.is_empty() {
                return Ok(Some(event.data));
            }
        }
        Ok(None)
    }
}
