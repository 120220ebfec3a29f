//! Streamable HTTP of both eras: each request has its own response, and a legacy session also has
//! a GET stream.

mod call;
mod listener;

use super::{Link, cancellations::Cancellations, report::fault_of_http};
use crate::{
    frame_tap::{Direction, FrameTap},
    switchboard::{Outlet, Switchboard},
};
use ::http::HeaderValue;
use parking_lot::{Mutex, MutexGuard};
use std::{sync::Arc, time::Duration};
use tokio::task::AbortHandle;
use trunkline_protocol::{Envelope, Era, Fault, FaultKind, Notification, Revision};
use trunkline_resilience::timeout;
use trunkline_transport::{
    headers::{self, MCP_METHOD, MCP_PROTOCOL_VERSION, MCP_SESSION_ID},
    http::Fields,
    streamable_http::{Endpoint, Resume},
};

pub(super) use call::HttpCall;

/// Timeout of ending a session.
const DELETE_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for a message that has no answer.
const POST_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) struct HttpLink {
    endpoint: Endpoint,
    board: Arc<Switchboard>,
    tap: Option<FrameTap>,
    session: Mutex<HttpSession>,
    listener: Mutex<Option<AbortHandle>>,
    cancellations: Cancellations,
}

/// Values that a legacy server wants repeated with every request.
#[derive(Debug, Clone, Default)]
struct HttpSession {
    id: Option<HeaderValue>,
    revision: Option<Revision>,
}

impl HttpSession {
    fn era(&self) -> Option<Era> {
        self.revision.map(Revision::era)
    }

    fn headers(&self) -> Fields {
        let mut headers = Fields::with_capacity(4);
        self.add_to(&mut headers);
        headers
    }

    /// Adds the session's headers; those of the request itself win.
    fn add_to(&self, headers: &mut Fields) {
        if let Some(id) = &self.id {
            headers.set(MCP_SESSION_ID, id.clone());
        }
        if let Some(revision) = self.revision.filter(|r| r.has_version_header())
            && headers.get(&MCP_PROTOCOL_VERSION).is_none()
        {
            headers.set(MCP_PROTOCOL_VERSION, HeaderValue::from_static(revision.as_str()));
        }
    }

    fn headers_for(&self, notification: &Notification) -> Fields {
        let mut headers = self.headers();
        if self.era() == Some(Era::Modern) {
            headers.set(MCP_METHOD, headers::encode_value(&notification.method));
        }
        headers
    }
}

impl Link {
    pub(crate) fn over_http(endpoint: Endpoint, board: Arc<Switchboard>, tap: Option<FrameTap>) -> Self {
        Self::Http(Arc::new(HttpLink {
            endpoint,
            board,
            tap,
            session: Mutex::default(),
            listener: Mutex::default(),
            cancellations: Cancellations::default(),
        }))
    }
}

impl HttpLink {
    pub(super) fn board(&self) -> &Arc<Switchboard> {
        &self.board
    }

    fn has_batches(&self) -> bool {
        self.session().revision.is_some_and(Revision::has_batches)
    }

    pub(super) fn settle(&self, revision: Revision) {
        self.session().revision = Some(revision);
    }

    /// Forgets the session, so that the next `initialize` begins a new one.
    pub(crate) fn forget_session(&self) {
        *self.session() = HttpSession::default();
        self.stop_listening();
    }

    pub(super) async fn notify(&self, notification: Notification) -> Result<(), Fault> {
        let headers = self.session().headers_for(&notification);
        self.post_message(&notification.into(), headers).await
    }

    /// Sends a message that has no answer: a notification, or the answer to a question.
    async fn post_message(&self, envelope: &Envelope, headers: Fields) -> Result<(), Fault> {
        let body = envelope.to_bytes();
        FrameTap::observe(self.tap.as_ref(), Direction::Sent, &body);
        let accepted = self.endpoint.post(body, headers, Resume::Never);
        match timeout(POST_TIMEOUT, accepted).await {
            // A server may answer 200 with a body; it is ignored.
            Some(Ok(exchange)) => exchange.finish(),
            Some(Err(error)) => return Err(fault_of_http(&error)),
            None => {
                let fault = format!("the server did not accept a notification within {POST_TIMEOUT:?}");
                return Err(Fault::new(FaultKind::Timeout, fault));
            }
        }
        Ok(())
    }

    /// Sends answers to questions. It does not keep the link alive.
    fn outlet(self: &Arc<Self>) -> Outlet {
        let link = Arc::downgrade(self);
        Arc::new(move |envelope| {
            let link = link.upgrade();
            Box::pin(async move {
                let closed = || Fault::new(FaultKind::NotReady, "the connection is closed");
                let link = link.ok_or_else(closed)?;
                let headers = link.session().headers();
                link.post_message(&envelope, headers).await
            })
        })
    }

    pub(super) async fn close(&self) {
        self.cancellations.flush().await;
        self.board.lose(&Fault::new(FaultKind::NotReady, "the connection was closed"));
        self.stop_listening();
        let headers = {
            let session = self.session();
            if session.id.is_none() {
                return;
            }
            session.headers()
        };
        match timeout(DELETE_TIMEOUT, self.endpoint.delete(headers)).await {
            Some(Ok(())) => {}
            // 405 is allowed: the server decides how long it keeps sessions.
            Some(Err(error)) => tracing::debug!(%error, "the server did not end the session"),
            None => tracing::debug!("the server did not answer the end of the session"),
        }
    }

    fn stop_listening(&self) {
        if let Some(listener) = self.listener.lock().take() {
            listener.abort();
        }
    }

    fn session(&self) -> MutexGuard<'_, HttpSession> {
        self.session.lock()
    }
}

impl Drop for HttpLink {
    fn drop(&mut self) {
        self.stop_listening();
    }
}
