//! The events of a response body.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::body::Body as _;

use super::arriving::Arriving;

use super::error::HttpError;
use crate::sse::{Decoder, Event};

/// A body read as an event stream. Reading is cancel safe.
#[derive(Debug)]
pub(crate) struct EventStream {
    body: Arriving,
    decoder: Decoder,
}

impl EventStream {
    pub(crate) fn new(body: Arriving, event_limit: usize) -> Self {
        Self { body, decoder: Decoder::new(event_limit) }
    }

    /// The next event; `None` at the regular end of the stream.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Event>, HttpError>> {
        loop {
            if let Some(event) = self.decoder.next()? {
                return Poll::Ready(Ok(Some(event)));
            }
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                None => return Poll::Ready(Ok(None)),
                Some(Err(error)) => return Poll::Ready(Err(HttpError::from_broken(error))),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.decoder.push(data);
                    }
                }
            }
        }
    }

    pub(crate) async fn next(&mut self) -> Result<Option<Event>, HttpError> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    pub(crate) fn into_body(self) -> Arriving {
        self.body
    }
}
