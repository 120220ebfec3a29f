//! The body of a response, which owns the connection until its end.

use super::{connection::Connection, head::Reuse, pool::Pool};
use crate::framing::{Decoded, Framing, FramingError};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::{
    fmt, io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};
use tokio::io::{AsyncRead, AsyncWrite};

/// Read to its end, it gives its connection back to the pool. Dropped before that, it closes the
/// connection, which cancels the request.
pub struct ResponseBody<S> {
    connection: Option<Box<Connection<S>>>,
    pool: Arc<Pool<S>>,
    framing: Framing,
    reuse: Reuse,
}

/// A response body that cannot be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error(transparent)]
    Framing(#[from] FramingError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl<S: AsyncRead + AsyncWrite + Unpin> ResponseBody<S> {
    pub fn new(connection: Box<Connection<S>>, pool: Arc<Pool<S>>, framing: Framing, reuse: Reuse) -> Self {
        let mut body = Self { connection: Some(connection), pool, framing, reuse };
        if body.framing.is_finished() {
            body.end();
        }
        body
    }

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BodyError>> {
        let Some(connection) = &mut self.connection else { return Poll::Ready(Ok(None)) };
        // A response may begin before all of the request is written.
        connection.poll_write(cx);
        loop {
            match self.framing.decode(&mut connection.input)? {
                Decoded::Data(data) => {
                    if self.framing.is_finished() {
                        self.end();
                    }
                    return Poll::Ready(Ok(Some(data)));
                }
                Decoded::End => {
                    self.end();
                    return Poll::Ready(Ok(None));
                }
                Decoded::NeedMore => {}
            }
            if ready!(connection.poll_read(self.framing.remaining(), cx))? == 0 {
                self.framing.on_eof()?;
                self.connection = None;
                return Poll::Ready(Ok(None));
            }
        }
    }

    fn end(&mut self) {
        if let Some(connection) = self.connection.take()
            && self.reuse == Reuse::KeepAlive
            && connection.is_clean()
        {
            self.pool.put(connection);
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> http_body::Body for ResponseBody<S> {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        let data = ready!(this.poll_data(cx));
        if data.is_err() {
            this.connection = None;
        }
        Poll::Ready(data.transpose().map(|data| data.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.connection.is_none() || self.framing.is_finished()
    }

    fn size_hint(&self) -> SizeHint {
        let remaining = if self.connection.is_none() { Some(0) } else { self.framing.remaining() };
        remaining.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl<S> fmt::Debug for ResponseBody<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody").field("framing", &self.framing).finish_non_exhaustive()
    }
}
