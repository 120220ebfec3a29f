//! Link: sends requests to one server and receives the responses.
//!
//! Over a pipe (stdio) and over HTTP+SSE all messages share one line, sorted by a [`Switchboard`].
//! Over Streamable HTTP each request has its own answer. [`Exchange`] hides the difference.

mod cancellations;
mod duplex;
mod http;
mod pipe;
mod report;
mod sse;

use crate::{
    inbox::Arrival,
    switchboard::{Outlet, Standing, Switchboard},
};
use bytes::Bytes;
use duplex::{Duplex, DuplexCall};
use http::{HttpCall, HttpLink};
use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};
use tokio::sync::broadcast;
use trunkline_protocol::{Defect, Fault, Frame, Malformed, Notification, Request, Revision};
use trunkline_transport::http::Fields;

pub(crate) use duplex::Process;
pub(crate) use report::{fault_of_http, fault_of_spawn};

/// The transport to one server.
#[derive(Clone)]
pub(crate) enum Link {
    Duplex(Arc<Duplex>),
    Http(Arc<HttpLink>),
}

/// A request with what the transport needs.
pub(crate) struct Outbound {
    pub(crate) request: Request,
    /// Headers of this request; only HTTP has them.
    pub(crate) headers: Fields,
    pub(crate) on_drop: OnDrop,
    pub(crate) standing: Standing,
}

/// The way to cancel a request when its caller drops it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnDrop {
    /// Send `notifications/cancelled`, unless closing the stream cancels already.
    Cancel,
    /// `initialize` may not be cancelled.
    Leave,
}

/// The answer to one request, as it arrives.
pub(crate) enum Exchange {
    Duplex(DuplexCall),
    Http(Box<HttpCall>),
}

impl Link {
    /// Prepares a request; it is sent when its exchange is first polled.
    pub(crate) fn exchange(&self, outbound: Outbound) -> Exchange {
        match self {
            Self::Duplex(link) => Exchange::Duplex(DuplexCall::new(link, outbound)),
            Self::Http(link) => Exchange::Http(HttpCall::new(link, outbound)),
        }
    }

    pub(crate) async fn notify(&self, notification: Notification) -> Result<(), Fault> {
        match self {
            Self::Duplex(link) => link.send(&notification.into()).await,
            Self::Http(link) => link.notify(notification).await,
        }
    }

    /// True if all messages share one line.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Duplex(_))
    }

    /// Sets the revision that both sides agreed on.
    pub(crate) fn settle(&self, revision: Revision) {
        match self {
            Self::Duplex(link) => link.settle(revision),
            Self::Http(link) => link.settle(revision),
        }
    }

    /// Notifications that belong to no request.
    pub(crate) fn events(&self) -> broadcast::Receiver<Arc<Notification>> {
        self.board().events()
    }

    /// Publishes a notification that came with a request and concerns all listeners.
    pub(crate) fn publish(&self, notification: Notification) {
        self.board().publish(notification);
    }

    /// Dispatches incoming messages.
    pub(crate) fn board(&self) -> &Arc<Switchboard> {
        match self {
            Self::Duplex(link) => link.board(),
            Self::Http(link) => link.board(),
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Duplex(link) => link.close().await,
            Self::Http(link) => link.close().await,
        }
    }
}

impl Exchange {
    /// The next arrival. After a response or a loss there is none.
    pub(crate) async fn next(&mut self) -> Arrival {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As [`next`](Self::next), for callers that poll.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Arrival> {
        match self {
            Self::Duplex(call) => call.poll_next(cx),
            Self::Http(call) => call.poll_next(cx),
        }
    }

    /// The HTTP status of the answer, once there is one.
    pub(crate) fn http_status(&self) -> Option<u16> {
        match self {
            Self::Duplex(_) => None,
            Self::Http(call) => call.status(),
        }
    }
}

/// Dispatches the messages of a frame that belongs to no single request. A batch is malformed
/// unless the revision has batches.
fn dispatch(board: &Arc<Switchboard>, frame: &Bytes, outlet: &Outlet, has_batches: impl FnOnce() -> bool) {
    let messages = match Frame::parse_answer(frame) {
        Ok(Frame::One(envelope)) => return board.dispatch(envelope, outlet),
        Ok(Frame::Batch(messages)) if has_batches() => messages,
        Ok(Frame::Batch(_)) => vec![Err(Malformed { defect: Defect::NotAnObject, offset: 0, id: None })],
        Err(malformed) => vec![Err(malformed)],
    };
    for message in messages {
        match message {
            Ok(envelope) => board.dispatch(envelope, outlet),
            Err(malformed) => board.malformed(&malformed),
        }
    }
}
