//! The body of an answer over a plain connection, which it carries along.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::Kept;
use super::head::After;
use super::line::Line;
use crate::body::BoxError;
use crate::framing::{BadFraming, Framing, Taken};

/// Read to its end, it gives its connection back to the pool; dropped before that, it closes it, which takes the request back.
pub(in crate::http) struct PlainBody<S = TcpStream> {
    line: Option<Box<Line<S>>>,
    kept: Arc<Kept<S>>,
    framing: Framing,
    after: After,
}

impl<S: AsyncRead + AsyncWrite + Unpin> PlainBody<S> {
    pub(super) fn new(line: Box<Line<S>>, kept: Arc<Kept<S>>, framing: Framing, after: After) -> Self {
        let mut body = Self { line: Some(line), kept, framing, after };
        if body.framing.is_over() {
            body.end();
        }
        body
    }

    pub(in crate::http) fn poll_data(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, BoxError>>> {
        let Some(line) = &mut self.line else { return Poll::Ready(None) };
        // An answer may begin before all of the request is written.
        line.poll_write(cx);
        loop {
            match self.framing.take(&mut line.input) {
                Ok(Taken::Data(data)) => {
                    if self.framing.is_over() {
                        self.end();
                    }
                    return Poll::Ready(Some(Ok(data)));
                }
                Ok(Taken::End) => {
                    self.end();
                    return Poll::Ready(None);
                }
                Ok(Taken::Nothing) => {}
                Err(error) => return Poll::Ready(Some(Err(self.fail(error)))),
            }
            match ready!(line.poll_read(self.framing.announced(), cx)) {
                Ok(0) => {
                    return Poll::Ready(match self.framing.close() {
                        Ok(()) => {
                            self.line = None;
                            None
                        }
                        Err(error) => Some(Err(self.fail(error))),
                    });
                }
                Ok(_) => {}
                Err(error) => {
                    self.line = None;
                    return Poll::Ready(Some(Err(error.into())));
                }
            }
        }
    }

    pub(in crate::http) fn is_over(&self) -> bool {
        self.line.is_none() || self.framing.is_over()
    }

    /// How much is to come, if that was said.
    pub(in crate::http) fn announced(&self) -> Option<u64> {
        if self.line.is_none() { Some(0) } else { self.framing.announced() }
    }

    fn end(&mut self) {
        if let Some(line) = self.line.take()
            && self.after == After::Kept
            && line.is_clear()
        {
            self.kept.keep(line);
        }
    }

    fn fail(&mut self, error: BadFraming) -> BoxError {
        self.line = None;
        error.into()
    }
}
