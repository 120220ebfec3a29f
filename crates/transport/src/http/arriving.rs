//! The body of an answer.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::net::TcpStream;
use trunkline_http1::client::{BodyError, ResponseBody};

use crate::body::BoxError;

/// The body of an answer. Over plain `http` its reader drives the connection, too.
pub struct Arriving(Carrier);

enum Carrier {
    Plain(ResponseBody<TcpStream>),
    /// The answer of a connection that a task of hyper drives.
    Driven(Incoming),
}

impl Arriving {
    pub(super) fn driven_elsewhere(body: Incoming) -> Self {
        Self(Carrier::Driven(body))
    }

    pub(super) fn plain(body: ResponseBody<TcpStream>) -> Self {
        Self(Carrier::Plain(body))
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.get_mut().0 {
            Carrier::Plain(body) => Pin::new(body).poll_frame(cx).map(|frame| {
                frame.map(|frame| {
                    frame.map_err(|error| match error {
                        BodyError::Io(error) => error.into(),
                        BodyError::Framing(error) => error.into(),
                    })
                })
            }),
            Carrier::Driven(body) => {
                Pin::new(body).poll_frame(cx).map(|frame| frame.map(|frame| frame.map_err(Into::into)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Carrier::Plain(body) => body.is_end_stream(),
            Carrier::Driven(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Carrier::Plain(body) => body.size_hint(),
            Carrier::Driven(body) => body.size_hint(),
        }
    }
}

impl fmt::Debug for Arriving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arriving").finish_non_exhaustive()
    }
}
