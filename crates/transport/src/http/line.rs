//! One plain connection. Nothing runs beside it: it moves when whoever uses it asks it to.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use tokio::time::Instant;

use super::connector::Stream;
use super::error::HttpError;

pub(super) struct Line {
    sender: SendRequest<Full<Bytes>>,
    connection: Box<http1::Connection<Stream, Full<Bytes>>>,
    authority: Arc<str>,
    since: Instant,
}

/// Why a request was not answered.
pub(super) enum Unanswered {
    /// It was never sent; here it is again.
    Unsent(Box<Request<Full<Bytes>>>, HttpError),
    Broken(HttpError),
}

impl Line {
    pub(super) async fn open(stream: Stream, authority: Arc<str>) -> Result<Self, HttpError> {
        let (sender, connection) =
            http1::handshake(stream).await.map_err(|error| HttpError::from_broken(error.into()))?;
        Ok(Self { sender, connection: Box::new(connection), authority, since: Instant::now() })
    }

    pub(super) fn authority(&self) -> &Arc<str> {
        &self.authority
    }

    /// Notes that it lies unused from now on.
    pub(super) fn rest(&mut self) {
        self.since = Instant::now();
    }

    pub(super) fn is_older_than(&self, idle: Duration) -> bool {
        self.since.elapsed() >= idle
    }

    /// Moves what can be moved. Ready means that the connection is over.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.connection).poll(cx).map(|ended| {
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            }
        })
    }

    /// Whether it can take a request: the other side may have hung up while nobody looked.
    pub(super) async fn is_ready(&mut self) -> bool {
        poll_fn(|cx| Poll::Ready(self.poll(cx).is_pending() && self.sender.is_ready())).await
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn ask(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Unanswered> {
        let mut answer = std::pin::pin!(self.sender.try_send_request(request));
        let connection = &mut self.connection;
        let mut over = false;
        let answered = poll_fn(|cx| {
            if !over {
                over = Pin::new(&mut *connection).poll(cx).is_ready();
            }
            answer.as_mut().poll(cx)
        });
        answered.await.map_err(|mut error| {
            let unsent = error.take_message();
            let error = HttpError::from_broken(error.into_error().into());
            match unsent {
                Some(unsent) => Unanswered::Unsent(Box::new(unsent), error),
                None => Unanswered::Broken(error),
            }
        })
    }
}
