//! One HTTP/1.1 connection of a server, from its first request to its end.
//!
//! It is one hand-polled state machine, because three things happen at once while a request is
//! answered: the service runs, the request body is fed to it, and EOF is watched for. No task and
//! no queue is involved: a body is read when the service asks for it, and a response body is
//! polled when its last data is written. An idle connection holds no buffers (see `scratch`).

use super::{
    body_reader::{BodyReader, Fed, Skipped, SkippedBody},
    head::{self, HeadError, RequestHead},
    io::BufferedIo,
    request_body::RequestBody,
    response::{self, BodyCoding, Pulled, RequestInfo},
    service::{HalfClose, Pending, ResponseBody, Service},
};
use crate::framing::{Framing, Version};
use ::http::{Method, Request, Response};
use std::{
    fmt, io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::Instant,
};
use trunkline_resilience::{Deadline, IdleTimer};

/// Before a connection with unread input is closed, so much is read and dropped, for so long:
/// closing it at once would reset it, and the client might lose the response.
const LINGER_BYTES: usize = 1024 * 1024;
const LINGER: Duration = Duration::from_secs(1);
/// When the server drains, a connection without any request so far gets this long to send one: its
/// client has just connected, and would take a closed connection for a failure.
pub const FIRST_REQUEST_GRACE: Duration = Duration::from_secs(1);
/// With so many bytes of pipelined requests buffered, nothing more is read.
const MAX_PIPELINED: usize = 16 * 1024;

/// The server side of one connection.
pub struct Connection<S, H: Service> {
    service: H,
    io: BufferedIo<S>,
    timer: IdleTimer,
    keep_alive: KeepAlive,
    /// The client closed its write half (we read EOF).
    read_closed: bool,
    /// No request has arrived on this connection yet.
    fresh: bool,
    stage: ConnectionStage<H::Body>,
}

/// The requests that the connection accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepAlive {
    On,
    /// The next one, after which it is closed.
    OneRequest,
    /// No further one: it is closed as soon as it is idle.
    Draining,
}

enum ConnectionStage<B> {
    /// No byte of the next request has arrived.
    Idle,
    /// A part of a head has arrived, and so many bytes of it were parsed.
    ReadingHead {
        scanned: usize,
    },
    Responding(Pending<B>, InFlight),
    Writing(B, BodyCoding, InFlight),
    /// The response is written, and the rest of the request body is skipped.
    SkippingBody(Box<SkippedBody>),
    /// The write half is closed; so many bytes are still dropped before the rest.
    Lingering(Box<Deadline>, usize),
    Closed,
}

/// The request that is being answered.
struct InFlight {
    info: RequestInfo,
    /// Set while not all of its body was read.
    body: Option<Box<BodyReader>>,
}

/// A connection that ended with a request unanswered.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the client hung up while a request was under way")]
    HungUp,
}

impl<S, H: Service> Connection<S, H>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    pub fn new(stream: S, service: H, keep_alive: KeepAlive) -> Self {
        let options = service.options();
        let timer = IdleTimer::after(options.header_timeout);
        let io = BufferedIo::new(stream, options.write_timeout);
        Self { service, io, timer, keep_alive, read_closed: false, fresh: true, stage: ConnectionStage::Idle }
    }

    /// Accepts no further request, except for the first one within [`FIRST_REQUEST_GRACE`].
    pub fn drain(&mut self) {
        self.keep_alive = if self.fresh { KeepAlive::OneRequest } else { KeepAlive::Draining };
        if self.fresh && matches!(self.stage, ConnectionStage::Idle) {
            self.timer.restart(FIRST_REQUEST_GRACE);
        }
    }

    /// Closes the connection unless a request is being answered.
    pub fn close_if_idle(&mut self) {
        if matches!(self.stage, ConnectionStage::Idle | ConnectionStage::ReadingHead { .. }) {
            self.stage = ConnectionStage::Closed;
        }
    }

    /// Ends the request in flight with this response. A response that is being written goes on:
    /// its body has to end by itself.
    pub fn abort(&mut self, response: impl FnOnce() -> Response<H::Body>) {
        self.keep_alive = KeepAlive::Draining;
        match std::mem::replace(&mut self.stage, ConnectionStage::Closed) {
            ConnectionStage::Responding(_, in_flight) => self.respond(response(), in_flight),
            writing @ ConnectionStage::Writing(..) => self.stage = writing,
            ConnectionStage::Idle
            | ConnectionStage::ReadingHead { .. }
            | ConnectionStage::SkippingBody(_)
            | ConnectionStage::Lingering(..)
            | ConnectionStage::Closed => {}
        }
    }

    /// Serves until the connection is closed.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionError>> {
        loop {
            match &mut self.stage {
                ConnectionStage::Idle | ConnectionStage::ReadingHead { .. } => ready!(self.poll_head(cx))?,
                ConnectionStage::Responding(..) => ready!(self.poll_response(cx))?,
                ConnectionStage::Writing(..) => ready!(self.poll_written(cx))?,
                ConnectionStage::SkippingBody(body) => match ready!(body.poll(&mut self.io, cx))? {
                    Skipped::End(input) => {
                        self.io.input = input;
                        self.wait_for_next();
                    }
                    Skipped::GivenUp => ready!(self.poll_linger(cx))?,
                },
                ConnectionStage::Lingering(timeout, left) => {
                    if Pin::new(&mut **timeout).poll(cx).is_ready() || *left == 0 {
                        self.stage = ConnectionStage::Closed;
                        continue;
                    }
                    let read = ready!(self.io.poll_discard(cx))?;
                    *left = if read == 0 { 0 } else { left.saturating_sub(read) };
                }
                ConnectionStage::Closed => return Poll::Ready(Ok(())),
            }
        }
    }

    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionError>> {
        let (mut scanned, mut started) = match self.stage {
            ConnectionStage::ReadingHead { scanned } => (scanned, true),
            _ => (0, false),
        };
        let error = loop {
            match head::parse(&mut self.io.input, scanned, self.service.options().usual_headers) {
                Ok(Some(head)) => {
                    self.call(head);
                    return Poll::Ready(Ok(()));
                }
                Ok(None) => {}
                Err(error) => break Some(error),
            }
            scanned = self.io.input.len();
            match self.io.poll_fill(cx)? {
                Poll::Ready(0) if scanned == 0 => break None,
                Poll::Ready(0) => return Poll::Ready(Err(ConnectionError::HungUp)),
                Poll::Ready(_) => {}
                Poll::Pending if self.keep_alive == KeepAlive::Draining && scanned == 0 => break None,
                Poll::Pending => {
                    if scanned > 0 && !started {
                        self.timer.restart(self.service.options().header_timeout);
                        self.service.on_head_started(Instant::now());
                        started = true;
                    }
                    // The header timeout starts with the first byte and goes on when that was a
                    // blank line, so trickled blank lines cannot hold a slot.
                    self.stage = if started {
                        ConnectionStage::ReadingHead { scanned }
                    } else {
                        ConnectionStage::Idle
                    };
                    ready!(self.timer.poll(cx));
                    // A client that has sent nothing gets no response.
                    break (scanned > 0).then_some(HeadError::Timeout);
                }
            }
        };
        match error {
            Some(error) => self.reject(error),
            None => self.stage = ConnectionStage::Closed,
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, head: RequestHead) {
        self.fresh = false;
        let RequestHead { method, uri, headers, framing, version, keep_alive, expect } = head;
        let info = RequestInfo { version, keep_alive, head_only: method == Method::HEAD };
        let (body, reader) = match framing {
            Framing::Length(length) if length <= self.io.input.len() as u64 => {
                let length = usize::try_from(length).expect("no more than the bytes in memory");
                (RequestBody::Whole(self.io.input.split_to(length)), None)
            }
            framing => {
                let max_body = self.service.options().max_body;
                let reader = BodyReader::new(framing, std::mem::take(&mut self.io.input), expect, max_body);
                (reader.body(), Some(Box::new(reader)))
            }
        };
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        let pending = self.service.call(request);
        self.stage = ConnectionStage::Responding(pending, InFlight { info, body: reader });
    }

    /// Answers an invalid head. Nothing after it can be parsed, so the connection is closed.
    fn reject(&mut self, error: HeadError) {
        let response = self.service.reject(error);
        let info = RequestInfo { version: Version::Http11, keep_alive: false, head_only: false };
        self.respond(response, InFlight { info, body: None });
    }

    fn poll_response(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionError>> {
        let ConnectionStage::Responding(pending, in_flight) = &mut self.stage else { return Poll::Pending };
        let response = loop {
            if let Poll::Ready(response) = pending.poll(cx) {
                break response;
            }
            let Some(body) = &mut in_flight.body else { return self.poll_hung_up(cx) };
            if let Fed::End(rest) = ready!(body.poll(&mut self.io, cx))? {
                in_flight.body = None;
                self.io.input = rest;
            }
        };
        let stage = std::mem::replace(&mut self.stage, ConnectionStage::Closed);
        let ConnectionStage::Responding(_, in_flight) = stage else { return Poll::Pending };
        self.respond(response, in_flight);
        Poll::Ready(Ok(()))
    }

    fn respond(&mut self, response: Response<H::Body>, mut in_flight: InFlight) {
        let skippable = |body: &BodyReader| body.can_be_skipped(response.status());
        in_flight.info.keep_alive &=
            in_flight.body.as_deref().is_none_or(skippable) && self.keep_alive == KeepAlive::On;
        let (body, coding) = response::write_head(&mut self.io.output, response, &mut in_flight.info);
        self.stage = ConnectionStage::Writing(body, coding, in_flight);
    }

    fn poll_written(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionError>> {
        let ConnectionStage::Writing(body, coding, in_flight) = &mut self.stage else {
            return Poll::Pending;
        };
        loop {
            let pulled = response::pull_body(body, coding, &mut self.io.output, cx);
            if self.io.poll_flush(cx)?.is_pending() {
                // A half-closed client may still read a response that is complete.
                return if pulled == Pulled::End { Poll::Pending } else { self.poll_hung_up(cx) };
            }
            match pulled {
                Pulled::Full => {}
                Pulled::Pending => return self.poll_hung_up(cx),
                Pulled::End => break,
            }
        }
        body.on_sent();
        // The body is dropped with the stage, after it was written.
        if in_flight.info.keep_alive {
            match in_flight.body.take() {
                Some(body) => self.stage = ConnectionStage::SkippingBody(Box::new(body.skip())),
                None => self.wait_for_next(),
            }
        } else if in_flight.body.is_some() || !self.io.input.is_empty() {
            ready!(self.poll_linger(cx))?;
        } else {
            self.stage = ConnectionStage::Closed;
        }
        Poll::Ready(Ok(()))
    }

    fn wait_for_next(&mut self) {
        self.timer.restart(self.service.options().idle_timeout);
        self.service.on_idle(Instant::now());
        self.stage = ConnectionStage::Idle;
    }

    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionError>> {
        ready!(self.io.poll_shutdown(cx))?;
        self.stage = ConnectionStage::Lingering(Box::new(Deadline::after(LINGER)), LINGER_BYTES);
        Poll::Ready(Ok(()))
    }

    /// Ready when the client half-closed and that cancels its request. Pipelined requests are
    /// buffered meanwhile, up to a limit.
    fn poll_hung_up(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionError>> {
        let (reads_body, on_half_close) = match &self.stage {
            ConnectionStage::Responding(pending, in_flight) => {
                (in_flight.body.is_some(), pending.on_half_close())
            }
            ConnectionStage::Writing(body, _, in_flight) => (in_flight.body.is_some(), body.on_half_close()),
            _ => return Poll::Pending,
        };
        while !self.read_closed {
            head::skip_blank_lines(&mut self.io.input);
            if reads_body || self.io.input.len() >= MAX_PIPELINED {
                return Poll::Pending;
            }
            self.read_closed = ready!(self.io.poll_fill(cx))? == 0;
        }
        match on_half_close {
            HalfClose::Continues => Poll::Pending,
            HalfClose::Cancels => Poll::Ready(Err(ConnectionError::HungUp)),
        }
    }
}

impl<S, H: Service> fmt::Debug for Connection<S, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("keep_alive", &self.keep_alive).finish_non_exhaustive()
    }
}
