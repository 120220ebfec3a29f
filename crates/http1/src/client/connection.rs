//! One plain connection. Nothing runs beside it: it moves when whoever uses it asks it to.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use http::{Method, StatusCode};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::{Handle, Id};
use tokio::time::Instant;

use super::head::{self, Answered, HEAD_LIMIT};
use crate::framing::BadFraming;
use crate::http::error::HttpError;
use crate::http::sending::Request;

/// A body up to this length is written together with its head.
const SHORT_BODY: usize = 16 * 1024;
/// Room that is made when there is less than the least.
const ROOM: usize = 8 * 1024;
const LEAST_ROOM: usize = 2 * 1024;
/// Room for what was announced to come.
const MOST_ROOM: usize = 256 * 1024;
/// How many answers may come before the one that counts.
const MAX_INTERIM: u32 = 16;

pub(super) struct Line<S = TcpStream> {
    stream: S,
    runtime: Id,
    authority: Arc<str>,
    since: Instant,
    /// The request: its head, and its body where that is short.
    out: Vec<u8>,
    written: usize,
    /// A body that is long, as far as it is not written.
    tail: Bytes,
    /// Why the request cannot be written on. The answer may be there all the same.
    unwritable: Option<io::Error>,
    pub(super) input: BytesMut,
    /// Whether room was made for a long answer, which an unused connection does not keep.
    grown: bool,
    method: Method,
    interim: u32,
}

/// Why a request was not answered.
pub(super) enum Unanswered {
    /// Nothing of it was sent.
    Unsent(HttpError),
    Broken(HttpError),
}

#[derive(Debug, thiserror::Error)]
enum NoAnswer {
    #[error("the head of the answer is longer than {HEAD_LIMIT} bytes")]
    LongHead,
    #[error("the server announced an answer more than {MAX_INTERIM} times")]
    Interim,
    #[error("the server switched to another protocol unasked")]
    Switched,
}

impl Line {
    /// Whether it can take a request: one that the server has hung up on, or speaks on unasked, cannot.
    pub(super) fn is_quiet(&self) -> bool {
        matches!(self.stream.try_read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Line<S> {
    pub(super) fn new(stream: S, authority: Arc<str>) -> Self {
        Self {
            stream,
            runtime: Handle::current().id(),
            authority,
            since: Instant::now(),
            out: Vec::new(),
            written: 0,
            tail: Bytes::new(),
            unwritable: None,
            input: BytesMut::new(),
            grown: false,
            method: Method::GET,
            interim: 0,
        }
    }

    pub(super) fn authority(&self) -> &Arc<str> {
        &self.authority
    }

    /// The runtime that it was made in.
    pub(super) fn runtime(&self) -> Id {
        self.runtime
    }

    /// Notes that it lies unused from now on.
    pub(super) fn rest(&mut self) {
        self.since = Instant::now();
        if std::mem::take(&mut self.grown) {
            self.input = BytesMut::new();
        }
        if self.out.capacity() > ROOM + SHORT_BODY {
            self.out = Vec::new();
        }
    }

    pub(super) fn is_older_than(&self, idle: Duration) -> bool {
        self.since.elapsed() >= idle
    }

    /// Whether everything that was begun here is over.
    pub(super) fn is_clear(&self) -> bool {
        self.input.is_empty() && self.is_written() && self.unwritable.is_none()
    }

    /// Takes a request, to be written when the answer is asked for.
    pub(super) fn load(&mut self, request: &Request) {
        self.out.clear();
        self.written = 0;
        self.interim = 0;
        self.method.clone_from(&request.opening.method);
        head::write(&mut self.out, request);
        if request.body.len() <= SHORT_BODY {
            self.out.extend_from_slice(&request.body);
        } else {
            self.tail = request.body.clone();
        }
    }

    /// Writes the request, and waits for the head of the answer, which may come before all is written.
    pub(super) fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answered, Unanswered>> {
        self.poll_write(cx);
        if self.written == 0
            && let Some(error) = self.unwritable.take()
        {
            return Poll::Ready(Err(Unanswered::Unsent(HttpError::broken(error))));
        }
        self.poll_head(cx).map_err(|error| match self.unwritable.take() {
            Some(first) => Unanswered::Broken(HttpError::broken(first)),
            None => Unanswered::Broken(error),
        })
    }

    /// Writes what can be written; a failure is for later.
    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>) {
        while !self.is_written() && self.unwritable.is_none() {
            let head = &self.out[self.written..];
            let stream = Pin::new(&mut self.stream);
            let wrote = if self.tail.is_empty() {
                stream.poll_write(cx, head)
            } else {
                stream.poll_write_vectored(cx, &[IoSlice::new(head), IoSlice::new(&self.tail)])
            };
            match wrote {
                Poll::Pending => return,
                Poll::Ready(Ok(0)) => self.unwritable = Some(ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(count)) => {
                    let of_head = count.min(self.out.len() - self.written);
                    self.written += of_head;
                    self.tail.advance(count - of_head);
                }
                Poll::Ready(Err(error)) => self.unwritable = Some(error),
            }
        }
    }

    /// Reads more; 0 when the server has closed. `announced` is what is known to come.
    pub(super) fn poll_read(
        &mut self,
        announced: Option<u64>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let announced = announced.map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX));
        let wanted = announced.clamp(LEAST_ROOM, MOST_ROOM);
        if self.input.capacity() - self.input.len() < wanted {
            let room = wanted.max(ROOM);
            self.grown |= self.input.len() + room > 2 * ROOM;
            self.input.reserve(room);
        }
        pin!(self.stream.read_buf(&mut self.input)).poll(cx)
    }

    fn is_written(&self) -> bool {
        self.written == self.out.len() && self.tail.is_empty()
    }

    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answered, HttpError>> {
        // A head that is not whole is looked at again only when another line has come; but its first bytes tell whether it is one.
        let mut seen = self.input.len();
        loop {
            let begins = seen == 0 && !self.input.is_empty();
            if begins || memchr(b'\n', &self.input[seen..]).is_some() {
                seen = 0;
                match head::read(&mut self.input, &self.method).map_err(HttpError::broken)? {
                    Some(answered) if answered.head.status == StatusCode::SWITCHING_PROTOCOLS => {
                        return Poll::Ready(Err(HttpError::broken(NoAnswer::Switched)));
                    }
                    Some(answered) if answered.head.status.is_informational() => {
                        self.interim += 1;
                        if self.interim > MAX_INTERIM {
                            return Poll::Ready(Err(HttpError::broken(NoAnswer::Interim)));
                        }
                        continue;
                    }
                    Some(answered) => return Poll::Ready(Ok(answered)),
                    None => {}
                }
            }
            if self.input.len() > HEAD_LIMIT {
                return Poll::Ready(Err(HttpError::broken(NoAnswer::LongHead)));
            }
            seen = self.input.len();
            match ready!(self.poll_read(None, cx)) {
                Ok(0) => return Poll::Ready(Err(HttpError::broken(BadFraming::Early))),
                Ok(_) => {}
                Err(error) => return Poll::Ready(Err(HttpError::broken(error))),
            }
        }
    }
}
