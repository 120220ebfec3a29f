//! One connection of HTTP/1.1, from its first request to its end.
//!
//! It is a future that is polled by hand: it reads a request, polls whoever answers it, and writes the answer, one request after the
//! other. Nothing runs beside it and nothing is queued: a body is read when it is asked for, and a stream is asked on when what it
//! gave is written. An idle connection holds no buffers; those belong to the thread (`spare`).

mod accept;
mod date;
mod head;
mod incoming;
mod outbox;
mod reading;
mod remainder;
mod reply;
mod spare;
mod trial;
mod wire;

use super::{
    Deaf,
    answer::{Answer, error, plain},
    hang_up,
    line::{Answering, Line},
};
use crate::lazy_timer::LazyTimer;
use ::http::{Method, Request, Response, StatusCode};
use accept::Takes;
use head::Asked;
use reading::{Fed, Reading};
use remainder::{Behind, Remainder};
use reply::{Coding, Pulled, To};
use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{net::TcpStream, time::Instant};
use trunkline_protocol::{Era, Fault, FaultKind};
use trunkline_resilience::Alarm;
use trunkline_transport::framing::{Framing, Version};
use wire::Wire;

pub(crate) use head::BadHead;
pub(crate) use incoming::Incoming;
pub use trial::{End, Heard, hear};

/// How much more of a request that was refused unread is passed over, and how long, so that its sender can hear the refusal.
const LINGER_BYTES: usize = 1024 * 1024;
const LINGER: Duration = Duration::from_secs(1);
/// How much may come behind a request that is being answered before nothing more is read.
const AHEAD: usize = 16 * 1024;

pub(crate) struct Connection {
    line: Arc<Line>,
    wire: Wire,
    timer: LazyTimer,
    stay: Stay,
    /// The client says no more.
    hushed: bool,
    stage: Stage,
}

/// How long a connection is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stay {
    /// As long as the client likes.
    Open,
    /// For one request.
    Once,
    /// For what is under way.
    Leaving,
}

enum Stage {
    /// For a request, of which so many bytes have been looked at.
    Waiting(usize),
    Answering(Answering, Underway),
    Sending(Answer, Coding, Underway),
    /// The request is answered, and its body is still coming.
    PassingOver(Box<Remainder>),
    /// Everything is said, but the client may not have heard it yet.
    Lingering(Box<Alarm>, usize),
    Over,
}

/// The request that is being answered.
struct Underway {
    to: To,
    /// Its body, as long as not all of it was read.
    reading: Option<Box<Reading>>,
}

/// A connection that ended before its time.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the client hung up while a request was under way")]
    Gone,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, line: Arc<Line>, stay: Stay) -> Self {
        let limits = &line.doors.main.options.limits;
        let timer = LazyTimer::until(Instant::now() + limits.header_timeout);
        let wire = Wire::new(stream, limits.write_timeout);
        Self { line, wire, timer, stay, hushed: false, stage: Stage::Waiting(0) }
    }

    /// Takes no further request.
    pub(crate) fn leave(&mut self) {
        self.stay = Stay::Leaving;
    }

    /// Ends if it still waits for a request and its place was given to another.
    pub(crate) fn give_way(&mut self) {
        if matches!(self.stage, Stage::Waiting(_)) && self.line.is_dismissed() {
            tracing::debug!("a connection that waits for a request gives way to another");
            self.stage = Stage::Over;
        }
    }

    /// Ends what is under way. What is an answer already may still be heard: a stream knows itself that it is over.
    pub(crate) fn cut(&mut self) {
        self.stay = Stay::Leaving;
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Answering(_, underway) => {
                let fault = Fault::new(FaultKind::Cancelled, "the server stopped before there was an answer");
                let refusal = error(StatusCode::INTERNAL_SERVER_ERROR, None, fault.to_error(Era::Modern));
                self.respond(refusal, underway);
            }
            sending @ Stage::Sending(..) => self.stage = sending,
            Stage::Waiting(_) | Stage::PassingOver(_) | Stage::Lingering(..) | Stage::Over => {}
        }
    }

    /// Serves until the connection is over.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        loop {
            match &mut self.stage {
                Stage::Waiting(_) => ready!(self.poll_asked(cx))?,
                Stage::Answering(..) => ready!(self.poll_answer(cx))?,
                Stage::Sending(..) => ready!(self.poll_sent(cx))?,
                Stage::PassingOver(remainder) => match ready!(remainder.poll(&mut self.wire, cx))? {
                    Behind::Next(input) => {
                        self.wire.input = input;
                        self.rest();
                    }
                    Behind::Unknown => ready!(self.poll_linger(cx))?,
                },
                Stage::Lingering(alarm, left) => {
                    if Pin::new(&mut **alarm).poll(cx).is_ready() || *left == 0 {
                        self.stage = Stage::Over;
                        continue;
                    }
                    let came = ready!(self.wire.poll_discard(cx))?;
                    *left = if came == 0 { 0 } else { left.saturating_sub(came) };
                }
                Stage::Over => return Poll::Ready(Ok(())),
            }
        }
    }

    /// Waits for the head of a request.
    fn poll_asked(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        let Stage::Waiting(mut seen) = self.stage else { return Poll::Pending };
        let refused = loop {
            match head::find(&mut self.wire.input, seen) {
                Ok(Some(asked)) => {
                    self.ask(asked);
                    return Poll::Ready(Ok(()));
                }
                Ok(None) => {}
                Err(bad) => break Some(bad),
            }
            seen = self.wire.input.len();
            match self.wire.poll_fill(cx)? {
                Poll::Ready(0) if seen == 0 => break None,
                Poll::Ready(0) => return Poll::Ready(Err(Broken::Gone)),
                Poll::Ready(_) => {}
                Poll::Pending if self.stay == Stay::Leaving && seen == 0 => break None,
                Poll::Pending => {
                    if seen > 0 && matches!(self.stage, Stage::Waiting(0)) {
                        let now = Instant::now();
                        self.timer.set(now + self.line.doors.main.options.limits.header_timeout);
                        self.line.begins(now);
                    }
                    // Who has begun has begun, even if it was an empty line; else a byte at a time would hold a place for ever.
                    let begun = matches!(self.stage, Stage::Waiting(1..));
                    self.stage = Stage::Waiting(if begun { seen.max(1) } else { seen });
                    ready!(self.timer.poll(cx));
                    // Who has not begun has nothing to be told.
                    break (seen > 0).then_some(BadHead::Late);
                }
            }
        };
        match refused {
            Some(bad) => self.refuse(bad),
            None => self.stage = Stage::Over,
        }
        Poll::Ready(Ok(()))
    }

    /// Begins to answer a request.
    fn ask(&mut self, asked: Asked) {
        let Asked { method, uri, fields, framing, version, keeps, expects, takes } = asked;
        let to = To { version, keeps, head_only: method == Method::HEAD };
        let (body, reading) = match framing {
            Framing::Length(length) if length <= self.wire.input.len() as u64 => {
                let length = usize::try_from(length).expect("no more than what is in memory");
                (Incoming::Whole(self.wire.input.split_to(length)), None)
            }
            framing => {
                let limit = self.line.doors.main.options.limits.body;
                let reading = Reading::new(framing, std::mem::take(&mut self.wire.input), expects, limit);
                (Incoming::Arriving(reading.reader()), Some(Box::new(reading)))
            }
        };
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = fields;
        if takes == Takes::Else {
            request.extensions_mut().insert(Deaf);
        }
        self.stage = Stage::Answering(self.line.answer(request), Underway { to, reading });
    }

    /// Answers what is no request. Nothing behind it can be read.
    fn refuse(&mut self, bad: BadHead) {
        self.line.refused(bad);
        let to = To { version: Version::Usual, keeps: false, head_only: false };
        let response = plain(bad.status(), &format!("{bad}\n"));
        self.respond(response, Underway { to, reading: None });
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        let Stage::Answering(answering, underway) = &mut self.stage else { return Poll::Pending };
        let response = loop {
            if let Poll::Ready(response) = hang_up::polled(|| answering.poll_answer(cx)) {
                break response;
            }
            let Some(reading) = &mut underway.reading else { return self.poll_gone(cx) };
            if let Fed::End(rest) = ready!(reading.poll(&mut self.wire, cx))? {
                underway.reading = None;
                self.wire.input = rest;
            }
        };
        let Stage::Answering(_, underway) = std::mem::replace(&mut self.stage, Stage::Over) else {
            return Poll::Pending;
        };
        self.respond(response, underway);
        Poll::Ready(Ok(()))
    }

    /// Begins to send an answer.
    fn respond(&mut self, response: Response<Answer>, mut underway: Underway) {
        let ends = |reading: &Reading| Remainder::can_be_passed_over(reading, response.status());
        underway.to.keeps &= underway.reading.as_deref().is_none_or(ends) && self.stay == Stay::Open;
        let (answer, coding, keeps) = reply::begin(&mut self.wire.outbox, response, underway.to);
        underway.to.keeps = keeps;
        self.stage = Stage::Sending(answer, coding, underway);
    }

    fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        let Stage::Sending(answer, coding, underway) = &mut self.stage else { return Poll::Pending };
        loop {
            let pulled = reply::pull(answer, coding, &mut self.wire.outbox, cx);
            if self.wire.poll_flush(cx)?.is_pending() {
                // Who says no more may still hear what is made already.
                return if pulled == Pulled::End { Poll::Pending } else { self.poll_gone(cx) };
            }
            match pulled {
                Pulled::Enough => {}
                Pulled::Nothing => return self.poll_gone(cx),
                Pulled::End => break,
            }
        }
        answer.sent();
        // What made the answer goes away only now that it is written.
        if underway.to.keeps {
            match underway.reading.take() {
                Some(reading) => self.stage = Stage::PassingOver(Box::new(Remainder::of(*reading))),
                None => self.rest(),
            }
        } else if underway.reading.is_some() || !self.wire.input.is_empty() {
            ready!(self.poll_linger(cx))?;
        } else {
            self.stage = Stage::Over;
        }
        Poll::Ready(Ok(()))
    }

    /// Waits for the next request.
    fn rest(&mut self) {
        let now = Instant::now();
        self.timer.set(now + self.line.doors.main.options.limits.idle_timeout);
        self.line.rests(now);
        self.stage = Stage::Waiting(0);
    }

    /// Says no more, and passes over what still comes.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        ready!(self.wire.poll_shutdown(cx))?;
        self.stage = Stage::Lingering(Box::new(Alarm::after(LINGER)), LINGER_BYTES);
        Poll::Ready(Ok(()))
    }

    /// Ends when the client has hung up, if that takes its request back. It is listened to as long as what it sent meanwhile is not
    /// too much.
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        let (reading, goes_on) = match &self.stage {
            Stage::Answering(_, underway) => (underway.reading.is_some(), hang_up::goes_on()),
            Stage::Sending(answer, _, underway) => (underway.reading.is_some(), answer.goes_on()),
            _ => (false, false),
        };
        while !self.hushed {
            head::skip_empty_lines(&mut self.wire.input);
            if reading || self.wire.input.len() >= AHEAD {
                return Poll::Pending;
            }
            self.hushed = ready!(self.wire.poll_fill(cx))? == 0;
        }
        if goes_on { Poll::Pending } else { Poll::Ready(Err(Broken::Gone)) }
    }
}
