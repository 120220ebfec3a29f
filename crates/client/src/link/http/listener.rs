//! The GET stream of a legacy session, for messages that belong to no request.

use super::HttpLink;
use crate::{
    frame_tap::{Direction, FrameTap},
    link,
    switchboard::Outlet,
};
use bytes::Bytes;
use std::{
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::sync::oneshot;
use tracing::Instrument;
use trunkline_resilience::timeout;
use trunkline_transport::{
    http::HttpError,
    streamable_http::{Exchange, Reconnect},
};

/// Longest wait of a connection for this stream; then it goes on without.
const TIMEOUT: Duration = Duration::from_secs(1);

impl HttpLink {
    /// Opens the stream, if the server has one. Most errors mean that it has none; none is fatal.
    ///
    /// Returns when the server has answered the GET, or after a timeout. So messages that the
    /// server sends after the connect are not missed, and the GET does not overlap with later
    /// requests.
    pub(crate) async fn listen(self: &Arc<Self>) {
        let (answered, begun) = oneshot::channel();
        let headers = self.session().headers();
        let endpoint = self.endpoint.clone();
        let (link, outlet) = (Arc::downgrade(self), self.outlet());
        let listening = async move {
            let opened = endpoint.listen(headers, Some(Reconnect::default())).await;
            // The receiver may have timed out.
            answered.send(()).ok();
            match opened {
                Ok(stream) => hear(stream, &link, &outlet).await,
                Err(HttpError::Status(refusal)) => {
                    tracing::debug!(status = %refusal.status, "the server offers no GET stream for this session");
                }
                Err(error) => tracing::debug!(%error, "the session's GET stream cannot be opened"),
            }
        };
        let task = tokio::spawn(listening.in_current_span());
        let old = self.listener.lock().replace(task.abort_handle());
        if let Some(old) = old {
            old.abort();
        }
        timeout(TIMEOUT, begun).await;
    }

    fn receive(self: &Arc<Self>, frame: &Bytes, outlet: &Outlet) {
        FrameTap::observe(self.tap.as_ref(), Direction::Received, frame);
        link::dispatch(&self.board, frame, outlet, || self.has_batches());
    }
}

/// Dispatches the stream's messages until the stream ends or the link is dropped.
async fn hear(mut stream: Exchange, link: &Weak<HttpLink>, outlet: &Outlet) {
    loop {
        match stream.next().await {
            Ok(Some(frame)) => match link.upgrade() {
                Some(link) => link.receive(&frame, outlet),
                None => return,
            },
            Ok(None) => return,
            Err(error) => return tracing::debug!(%error, "the session's GET stream has ended"),
        }
    }
}
