//! One client connection. Nothing runs beside it: it makes progress when its user polls it.

use super::head::{self, HEAD_LIMIT, HeadError, ResponseHead};
use crate::framing::{FramingError, write_content_length};
use bytes::{Buf as _, Bytes, BytesMut};
use http::{Method, StatusCode};
use memchr::memchr;
use std::{
    fmt,
    io::{self, ErrorKind, IoSlice},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf},
    runtime::{Handle, Id},
    time::Instant,
};

/// A body up to this length is written together with its head.
const SMALL_BODY: usize = 16 * 1024;
/// Room that is reserved when less than the minimum is left.
const ROOM: usize = 8 * 1024;
const MIN_ROOM: usize = 2 * 1024;
/// Most room that a `Content-Length` makes us reserve.
const MAX_ROOM: usize = 256 * 1024;
/// Most interim responses (1xx) before the final one.
const MAX_INTERIM: u32 = 16;

/// A connection to one authority.
pub struct Connection<S> {
    stream: S,
    runtime: Id,
    authority: Arc<str>,
    idle_since: Instant,
    /// The request: its head, and its body if that is small.
    output: Vec<u8>,
    written: usize,
    /// The unwritten part of a large body.
    large_body: Bytes,
    flushed: bool,
    /// The error of a failed write. The response may have arrived nevertheless.
    write_error: Option<io::Error>,
    pub(super) input: BytesMut,
    /// The input buffer has grown for a large response, and is freed when the connection is idle.
    has_grown: bool,
    method: Method,
    interim: u32,
}

/// The reason why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// Nothing of the request was written, so it may be sent over another connection.
    #[error(transparent)]
    Unsent(io::Error),
    #[error(transparent)]
    Failed(#[from] ResponseError),
}

/// The reason why the response to a request that was sent cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ResponseError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Head(#[from] HeadError),
    #[error(transparent)]
    Framing(#[from] FramingError),
    #[error("the server announced an answer more than {MAX_INTERIM} times")]
    TooManyInterim,
    #[error("the server switched to another protocol unasked")]
    Switched,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub fn new(stream: S, authority: Arc<str>) -> Self {
        Self {
            stream,
            runtime: Handle::current().id(),
            authority,
            idle_since: Instant::now(),
            output: Vec::new(),
            written: 0,
            large_body: Bytes::new(),
            flushed: true,
            write_error: None,
            input: BytesMut::new(),
            has_grown: false,
            method: Method::GET,
            interim: 0,
        }
    }

    /// Host and port that it is connected to.
    pub fn authority(&self) -> &Arc<str> {
        &self.authority
    }

    /// True if the server has neither closed the connection nor sent anything unasked. A byte
    /// that is read here is lost, so a connection that is not quiet must be dropped.
    pub fn is_quiet(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        let mut byte = [0];
        Pin::new(&mut self.stream).poll_read(&mut cx, &mut ReadBuf::new(&mut byte)).is_pending()
    }

    /// The runtime that the stream belongs to.
    pub(super) fn runtime(&self) -> Id {
        self.runtime
    }

    pub(super) fn set_idle(&mut self) {
        self.idle_since = Instant::now();
        if std::mem::take(&mut self.has_grown) {
            self.input = BytesMut::new();
        }
        if self.output.capacity() > ROOM + SMALL_BODY {
            self.output = Vec::new();
        }
    }

    pub(super) fn is_idle_for(&self, time: Duration) -> bool {
        self.idle_since.elapsed() >= time
    }

    /// True if the last exchange is complete, so that another one can follow.
    pub(super) fn is_clean(&self) -> bool {
        self.input.is_empty() && self.is_written() && self.write_error.is_none()
    }

    /// Prepares a request, which is written when the response is polled for. `write_head` writes
    /// the request line and all headers but those of the framing.
    pub fn start(&mut self, method: &Method, body: &Bytes, write_head: impl FnOnce(&mut Vec<u8>)) {
        self.output.clear();
        self.written = 0;
        self.flushed = false;
        self.interim = 0;
        self.method.clone_from(method);
        write_head(&mut self.output);
        if !body.is_empty() || matches!(*method, Method::POST | Method::PUT | Method::PATCH) {
            write_content_length(&mut self.output, body.len() as u64);
        }
        self.output.extend_from_slice(b"\r\n");
        if body.len() <= SMALL_BODY {
            self.output.extend_from_slice(body);
        } else {
            self.large_body = body.clone();
        }
    }

    /// Writes the request and waits for the head of the response, which may arrive before all of
    /// the request is written.
    pub fn poll_response(&mut self, cx: &mut Context<'_>) -> Poll<Result<ResponseHead, RequestError>> {
        self.poll_write(cx);
        if self.written == 0
            && let Some(error) = self.write_error.take()
        {
            return Poll::Ready(Err(RequestError::Unsent(error)));
        }
        self.poll_head(cx).map_err(|error| match self.write_error.take() {
            Some(first) => RequestError::Failed(first.into()),
            None => RequestError::Failed(error),
        })
    }

    /// Writes as much as possible; an error is kept for later.
    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>) {
        while !self.is_written() && self.write_error.is_none() {
            let head = &self.output[self.written..];
            let stream = Pin::new(&mut self.stream);
            let wrote = if !self.large_body.is_empty() {
                stream.poll_write_vectored(cx, &[IoSlice::new(head), IoSlice::new(&self.large_body)])
            } else if !head.is_empty() {
                stream.poll_write(cx, head)
            } else {
                match stream.poll_flush(cx) {
                    Poll::Pending => return,
                    Poll::Ready(Ok(())) => self.flushed = true,
                    Poll::Ready(Err(error)) => self.write_error = Some(error),
                }
                continue;
            };
            match wrote {
                Poll::Pending => return,
                Poll::Ready(Ok(0)) => self.write_error = Some(ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(count)) => {
                    let of_head = count.min(self.output.len() - self.written);
                    self.written += of_head;
                    self.large_body.advance(count - of_head);
                }
                Poll::Ready(Err(error)) => self.write_error = Some(error),
            }
        }
    }

    /// Reads more of a response, `remaining` bytes of which are still to come; 0 at EOF.
    pub(super) fn poll_read(
        &mut self,
        remaining: Option<u64>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let remaining = remaining.map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX));
        let wanted = remaining.clamp(MIN_ROOM, MAX_ROOM);
        if self.input.capacity() - self.input.len() < wanted {
            let room = wanted.max(ROOM);
            self.has_grown |= self.input.len() + room > 2 * ROOM;
            self.input.reserve(room);
        }
        pin!(self.stream.read_buf(&mut self.input)).poll(cx)
    }

    /// Written and flushed: a stream with a buffer of its own, such as TLS, may hold some of it.
    fn is_written(&self) -> bool {
        self.flushed && self.written == self.output.len() && self.large_body.is_empty()
    }

    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<ResponseHead, ResponseError>> {
        // An incomplete head is parsed again only when another line has arrived; but its first
        // bytes already show whether it is one.
        let mut scanned = self.input.len();
        loop {
            let begins = scanned == 0 && !self.input.is_empty();
            if begins || memchr(b'\n', &self.input[scanned..]).is_some() {
                scanned = 0;
                match head::parse(&mut self.input, &self.method)? {
                    Some(head) if head.status == StatusCode::SWITCHING_PROTOCOLS => {
                        return Poll::Ready(Err(ResponseError::Switched));
                    }
                    Some(head) if head.status.is_informational() => {
                        self.interim += 1;
                        if self.interim > MAX_INTERIM {
                            return Poll::Ready(Err(ResponseError::TooManyInterim));
                        }
                        continue;
                    }
                    Some(head) => return Poll::Ready(Ok(head)),
                    None => {}
                }
            }
            if self.input.len() > HEAD_LIMIT {
                return Poll::Ready(Err(HeadError::TooLong.into()));
            }
            scanned = self.input.len();
            if ready!(self.poll_read(None, cx))? == 0 {
                return Poll::Ready(Err(FramingError::Truncated.into()));
            }
        }
    }
}

impl<S> fmt::Debug for Connection<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("authority", &self.authority).finish_non_exhaustive()
    }
}
