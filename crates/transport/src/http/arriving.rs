//! The body of a response.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::net::TcpStream;
use trunkline_http1::client::{BodyError, ResponseBody};

use crate::body::BoxError;

/// The body of a response. Over plain `http` reading it also drives the connection.
pub struct Arriving(BodySource);

enum BodySource {
    Plain(ResponseBody<TcpStream>),
    /// From a connection that a hyper task drives.
    Driven(Incoming),
}

impl Arriving {
    pub(super) fn driven_elsewhere(body: Incoming) -> Self {
        Self(BodySource::Driven(body))
    }

    pub(super) fn plain(body: ResponseBody<TcpStream>) -> Self {
        Self(BodySource::Plain(body))
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
            BodySource::Plain(body) => Pin::new(body).poll_frame(cx).map(|frame| {
                frame.map(|frame| {
                    frame.map_err(|error| match error {
                        BodyError::Io(error) => error.into(),
                        BodyError::Framing(error) => error.into(),
                    })
                })
            }),
            BodySource::Driven(body) => {
                Pin::new(body).poll_frame(cx).map(|frame| frame.map(|frame| frame.map_err(Into::into)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            BodySource::Plain(body) => body.is_end_stream(),
            BodySource::Driven(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            BodySource::Plain(body) => body.size_hint(),
            BodySource::Driven(body) => body.size_hint(),
        }
    }
}

impl fmt::Debug for Arriving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arriving").finish_non_exhaustive()
    }
}
