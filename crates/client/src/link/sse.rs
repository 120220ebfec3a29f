//! A line over HTTP+SSE, the transport of revision 2024-11-05.

use super::{
    Link,
    duplex::{Duplex, Sender},
    report::fault_of_http,
};
use crate::{frame_tap::FrameTap, switchboard::Switchboard};
use std::sync::Arc;
use tracing::Instrument;
use trunkline_protocol::{Fault, FaultKind};
use trunkline_transport::legacy_sse;

impl Link {
    pub(crate) fn over_sse(
        connection: legacy_sse::Connection,
        board: Arc<Switchboard>,
        tap: Option<FrameTap>,
    ) -> Self {
        let (sender, mut receiver) = connection.split();
        let link = Duplex::new(board, Sender::Sse(sender), tap, None);
        let outlet = link.outlet();
        let task = tokio::spawn({
            let link = Arc::downgrade(&link);
            async move {
                let fault = loop {
                    match receiver.next().await {
                        Ok(Some(frame)) => match link.upgrade() {
                            Some(link) => link.receive(&frame, &outlet),
                            None => return,
                        },
                        Ok(None) => {
                            break Fault::new(
                                FaultKind::ConnectionLost,
                                "the server closed the event stream",
                            );
                        }
                        Err(error) => break fault_of_http(&error),
                    }
                };
                if let Some(link) = link.upgrade() {
                    link.board().lose(&fault);
                }
            }
            .in_current_span()
        });
        link.attach(task.abort_handle());
        Self::Duplex(link)
    }
}
