//! The stream of a legacy session on which the server speaks unasked.

use super::HttpLink;
use crate::tap::{Direction, Tap};
use std::sync::{Arc, PoisonError};
use trunkline_protocol::{Defect, Frame, Malformed};
use trunkline_transport::{http::HttpError, streamable_http::Reconnect};

impl HttpLink {
    /// Begins to listen, if the server has such a stream; most errors mean that it has none, and none of them is fatal.
    pub(crate) fn listen(self: &Arc<Self>) {
        let headers = self.session().headers();
        let endpoint = self.endpoint.clone();
        let (link, outlet) = (Arc::downgrade(self), self.outlet());
        let task = tokio::spawn(async move {
            let mut stream = match endpoint.listen(headers, Some(Reconnect::default())).await {
                Ok(stream) => stream,
                Err(HttpError::Status(refusal)) => {
                    return tracing::debug!(status = %refusal.status, "the server has no stream of its own");
                }
                Err(error) => return tracing::debug!(%error, "the server's own stream cannot be opened"),
            };
            loop {
                let frame = match stream.next().await {
                    Ok(Some(frame)) => frame,
                    Ok(None) => return,
                    Err(error) => return tracing::debug!(%error, "the server's own stream has ended"),
                };
                let Some(link) = link.upgrade() else { return };
                Tap::see(link.tap.as_ref(), Direction::Received, &frame);
                match Frame::parse(&frame) {
                    Ok(Frame::One(envelope)) => link.board.dispatch(envelope, &outlet),
                    Ok(Frame::Batch(messages)) if link.has_batches() => {
                        for message in messages {
                            match message {
                                Ok(envelope) => link.board.dispatch(envelope, &outlet),
                                Err(malformed) => link.board.malformed(&malformed),
                            }
                        }
                    }
                    Ok(Frame::Batch(_)) => {
                        link.board.malformed(&Malformed { defect: Defect::NotAnObject, offset: 0, id: None });
                    }
                    Err(malformed) => link.board.malformed(&malformed),
                }
            }
        });
        let old = self.listener.lock().unwrap_or_else(PoisonError::into_inner).replace(task.abort_handle());
        if let Some(old) = old {
            old.abort();
        }
    }
}
