//! The interface between a server connection and the application.

use super::{HeadError, RequestBody};
use ::http::{HeaderName, Request, Response};
use bytes::Bytes;
use futures_core::future::BoxFuture;
use std::{
    fmt,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::time::Instant;

/// Answers the requests of one connection.
pub trait Service {
    type Body: ResponseBody;

    fn options(&self) -> &Options;

    /// Starts to answer a request. Failures are responses, too.
    fn call(&mut self, request: Request<RequestBody>) -> Pending<Self::Body>;

    /// The response to a request whose head is invalid. The connection is closed after it.
    fn reject(&mut self, error: HeadError) -> Response<Self::Body>;

    /// The connection waits for its next request.
    fn on_idle(&mut self, _now: Instant) {}

    /// The first bytes of a request head arrived, but not all of it.
    fn on_head_started(&mut self, _now: Instant) {}
}

/// Limits of a server connection, and the headers that its clients send.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Limit on receiving a request head, and on a new connection that sends nothing.
    pub header_timeout: Duration,
    /// Limit on waiting for the next request.
    pub idle_timeout: Duration,
    /// Limit on a write of which the client takes nothing.
    pub write_timeout: Duration,
    /// Bytes of a request body. The service refuses a longer one; this tells it early.
    pub max_body: usize,
    /// Headers of nearly every request: for a name in this list nothing is allocated.
    pub usual_headers: &'static [HeaderName],
}

/// A response, or the way to one. Idle connections hold room for it, so it is small.
pub enum Pending<B> {
    Ready(Option<Box<Response<B>>>),
    /// The call runs. A half-close of the client ends it or does not.
    Running(BoxFuture<'static, Response<B>>, HalfClose),
    /// Something has to be awaited before the call is known, such as the body of the request.
    Preparing(BoxFuture<'static, Pending<B>>),
}

/// The treatment of a request whose client closed its write half (we read EOF). The client may
/// have disconnected or may still read; the server cannot distinguish the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HalfClose {
    /// The request is dropped, and the connection closed.
    Cancels,
    /// The response is sent.
    Continues,
}

/// The body of a response.
pub trait ResponseBody {
    /// The next bytes; `None` at the end.
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;

    /// The length, if known. Then all of the body is in memory.
    fn length(&self) -> Option<u64>;

    /// The treatment of a half-close while this body is sent.
    fn on_half_close(&self) -> HalfClose {
        HalfClose::Continues
    }

    /// All of it was written. Not called when the connection breaks before.
    fn on_sent(&mut self) {}
}

impl<B> Pending<B> {
    pub fn ready(response: Response<B>) -> Self {
        Self::Ready(Some(Box::new(response)))
    }

    pub fn running(
        response: impl Future<Output = Response<B>> + Send + 'static,
        half_close: HalfClose,
    ) -> Self {
        Self::Running(Box::pin(response), half_close)
    }

    pub fn preparing(next: impl Future<Output = Self> + Send + 'static) -> Self {
        Self::Preparing(Box::pin(next))
    }

    /// Changes the response when it is there.
    #[must_use]
    pub fn map(self, change: impl FnOnce(Response<B>) -> Response<B> + Send + 'static) -> Self
    where
        B: 'static,
    {
        match self {
            Self::Ready(response) => Self::Ready(response.map(|response| Box::new(change(*response)))),
            Self::Running(response, half_close) => {
                Self::running(async move { change(response.await) }, half_close)
            }
            Self::Preparing(next) => Self::preparing(async move { next.await.map(change) }),
        }
    }

    /// Must not be polled again after it was ready.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response<B>> {
        loop {
            match self {
                Self::Ready(response) => {
                    let response = response.take().expect("a response is taken once");
                    return Poll::Ready(*response);
                }
                Self::Running(response, _) => return response.as_mut().poll(cx),
                Self::Preparing(next) => *self = ready!(next.as_mut().poll(cx)),
            }
        }
    }

    pub(super) fn on_half_close(&self) -> HalfClose {
        match self {
            Self::Running(_, half_close) => *half_close,
            Self::Ready(_) | Self::Preparing(_) => HalfClose::Cancels,
        }
    }
}

/// A body in one piece.
impl ResponseBody for Bytes {
    fn poll_data(&mut self, _: &mut Context<'_>) -> Poll<Option<Bytes>> {
        Poll::Ready(Some(std::mem::take(self)).filter(|bytes| !bytes.is_empty()))
    }

    fn length(&self) -> Option<u64> {
        Some(self.len() as u64)
    }
}

impl<B> fmt::Debug for Pending<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready(_) => "Ready",
            Self::Running(..) => "Running",
            Self::Preparing(_) => "Preparing",
        })
    }
}
