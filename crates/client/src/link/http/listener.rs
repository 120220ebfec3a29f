//! The stream of a legacy session on which the server speaks unasked.

use super::HttpLink;
use crate::{
    frame_tap::{Direction, Tap},
    switchboard::Outlet,
};
use bytes::Bytes;
use std::{
    sync::{Arc, PoisonError, Weak},
    time::Duration,
};
use tokio::sync::oneshot;
use trunkline_protocol::{Defect, Frame, Malformed};
use trunkline_resilience::timeout;
use trunkline_transport::{
    http::HttpError,
    streamable_http::{Exchange, Reconnect},
};

/// How long a connection waits for its stream before it goes on without.
const PATIENCE: Duration = Duration::from_secs(1);

impl HttpLink {
    /// Begins to listen, if the server has such a stream; most errors mean that it has none, and none of them is fatal.
    ///
    /// Returns once the server has answered, or has not within a moment: what it sends from then on is not missed, and a late
    /// request of ours is not taken for something else.
    pub(crate) async fn listen(self: &Arc<Self>) {
        let (answered, begun) = oneshot::channel();
        let headers = self.session().headers();
        let endpoint = self.endpoint.clone();
        let (link, outlet) = (Arc::downgrade(self), self.outlet());
        let task = tokio::spawn(async move {
            let opened = endpoint.listen(headers, Some(Reconnect::default())).await;
            // Nobody may be waiting any more.
            answered.send(()).ok();
            match opened {
                Ok(stream) => hear(stream, &link, &outlet).await,
                Err(HttpError::Status(refusal)) => {
                    tracing::debug!(status = %refusal.status, "the server has no stream of its own");
                }
                Err(error) => tracing::debug!(%error, "the server's own stream cannot be opened"),
            }
        });
        let old = self.listener.lock().unwrap_or_else(PoisonError::into_inner).replace(task.abort_handle());
        if let Some(old) = old {
            old.abort();
        }
        timeout(PATIENCE, begun).await;
    }

    fn receive(self: &Arc<Self>, frame: &Bytes, outlet: &Outlet) {
        Tap::see(self.tap.as_ref(), Direction::Received, frame);
        match Frame::parse(frame) {
            Ok(Frame::One(envelope)) => self.board.dispatch(envelope, outlet),
            Ok(Frame::Batch(messages)) if self.has_batches() => {
                for message in messages {
                    match message {
                        Ok(envelope) => self.board.dispatch(envelope, outlet),
                        Err(malformed) => self.board.malformed(&malformed),
                    }
                }
            }
            Ok(Frame::Batch(_)) => {
                self.board.malformed(&Malformed { defect: Defect::NotAnObject, offset: 0, id: None });
            }
            Err(malformed) => self.board.malformed(&malformed),
        }
    }
}

/// Hears what the server says, for as long as both sides are there.
async fn hear(mut stream: Exchange, link: &Weak<HttpLink>, outlet: &Outlet) {
    loop {
        match stream.next().await {
            Ok(Some(frame)) => match link.upgrade() {
                Some(link) => link.receive(&frame, outlet),
                None => return,
            },
            Ok(None) => return,
            Err(error) => return tracing::debug!(%error, "the server's own stream has ended"),
        }
    }
}
