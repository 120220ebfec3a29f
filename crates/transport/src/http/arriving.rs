//! The body of an answer, which carries its connection along.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use super::line::Line;
use super::plain::Kept;

/// The body of an answer. Over plain `http` whoever reads it drives the connection, too, and gives it back to the pool at the
/// end; dropped before that, it closes the connection, which takes the request back.
pub struct Arriving {
    body: Incoming,
    line: Option<(Line, Arc<Kept>)>,
}

impl Arriving {
    /// The answer of a connection that somebody else drives.
    pub(super) fn driven_elsewhere(body: Incoming) -> Self {
        Self { body, line: None }
    }

    pub(super) fn on(line: Line, kept: Arc<Kept>, body: Incoming) -> Self {
        let mut arriving = Self { body, line: Some((line, kept)) };
        if arriving.body.is_end_stream() {
            arriving.give_back();
        }
        arriving
    }

    fn give_back(&mut self) {
        if let Some((line, kept)) = self.line.take() {
            kept.keep(line);
        }
    }

    /// Lets the connection read on. One that ends has put into the body all that it will.
    fn drive(&mut self, cx: &mut Context<'_>) {
        if let Some((line, _)) = &mut self.line
            && line.poll(cx).is_ready()
        {
            self.line = None;
        }
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        let mut frame = Pin::new(&mut this.body).poll_frame(cx);
        if frame.is_pending() && this.line.is_some() {
            // Only now does the connection know that more of the body is wanted.
            this.drive(cx);
            frame = Pin::new(&mut this.body).poll_frame(cx);
        }
        let is_over = match &frame {
            Poll::Ready(None) => true,
            Poll::Ready(Some(Ok(_))) => this.body.is_end_stream(),
            Poll::Ready(Some(Err(_))) => {
                this.line = None;
                false
            }
            Poll::Pending => false,
        };
        if is_over {
            // The connection notices it, too, and ends if this was its last answer.
            this.drive(cx);
            this.give_back();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Debug for Arriving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arriving").field("body", &self.body).finish_non_exhaustive()
    }
}
