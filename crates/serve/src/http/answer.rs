//! Answers: one JSON message, a stream of events, or a word of plain text.

use super::sse::Seat;
use crate::{
    access::Finish,
    era::ModernReply,
    phase::{Phase, reached},
    session::{Reader, Session},
};
use ::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, Sleep},
};
use trunkline_protocol::{Envelope, ErrorObject, RequestId, Response as RpcResponse};
use trunkline_transport::sse::{Event, KEEP_ALIVE, encode};

/// A result of so many bytes is sent from where it lies.
const LARGE: usize = 16 * 1024;
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The body of an answer.
pub(crate) enum Answer {
    Whole(Option<Bytes>),
    /// A large result between what stands before and behind it, which are not worth a copy of it.
    Parts(Box<[Bytes; 3]>),
    Stream(Box<EventBody>),
    /// One that is told of when it is over.
    Watched(Box<Watched>),
}

/// An answer on its way to the access log. The body goes away first, and tells how its call ended.
pub(crate) struct Watched {
    body: Answer,
    finish: Finish,
}

/// A stream of events, with a comment now and then while it is quiet.
pub(crate) struct EventBody {
    /// Whether a client that says no more is taken to listen on.
    goes_on: bool,
    /// What is sent before anything else.
    first: Option<Bytes>,
    next: Option<BoxFuture<'static, (Option<Bytes>, EventSource)>>,
    quiet: Pin<Box<Sleep>>,
    keep_alive: Duration,
}

/// Where events come from, until the server stops.
pub(crate) struct EventSource {
    pub(crate) events: Events,
    pub(crate) phase: watch::Receiver<Phase>,
}

pub(crate) enum Events {
    Modern(Box<ModernReply>),
    /// The stream of a call.
    Call(Reader),
    /// The stream of a session.
    Session(Reader, Arc<Session>),
    Line {
        queue: mpsc::Receiver<Envelope>,
        seat: Seat,
    },
}

impl EventSource {
    /// The next event. When the server stops, what has no call under way ends at once, and the rest when its time is up.
    async fn next(mut self) -> (Option<Bytes>, Self) {
        let phase = &mut self.phase;
        let event = match &mut self.events {
            Events::Modern(reply) => reply.next_until(phase).await.as_ref().map(event_of),
            Events::Call(reader) => tokio::select! {
                biased;
                item = reader.next() => item.event(),
                _ = reached(phase, Phase::Over) => None,
            },
            Events::Session(reader, session) => tokio::select! {
                biased;
                item = reader.next() => item.event(),
                () = quiet(phase, |cx| session.poll_quiet(cx)) => None,
            },
            Events::Line { queue, seat } => tokio::select! {
                biased;
                envelope = queue.recv() => envelope.as_ref().map(event_of),
                () = quiet(phase, |cx| seat.poll_quiet(cx)) => None,
            },
        };
        (event, self)
    }
}

/// Resolves when the server stops and no call is under way any more.
async fn quiet(phase: &mut watch::Receiver<Phase>, poll: impl FnMut(&mut Context<'_>) -> Poll<()>) {
    reached(phase, Phase::Leaving).await;
    tokio::select! {
        () = poll_fn(poll) => {}
        _ = reached(phase, Phase::Over) => {}
    }
}

/// An event that carries one message.
pub(crate) fn event_of(envelope: &Envelope) -> Bytes {
    let mut text = BytesMut::new();
    encode(&Event::message(envelope.to_line()), &mut text);
    text.freeze()
}

impl Answer {
    pub(crate) fn watched(self, finish: Finish) -> Self {
        Self::Watched(Box::new(Watched { body: self, finish }))
    }

    pub(crate) fn events(first: Option<Bytes>, source: EventSource, keep_alive: Duration) -> Self {
        Self::Stream(Box::new(EventBody {
            goes_on: matches!(source.events, Events::Call(_)),
            first,
            next: Some(Box::pin(source.next())),
            quiet: Box::pin(tokio::time::sleep(keep_alive)),
            keep_alive,
        }))
    }

    /// The next bytes of it.
    pub(crate) fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match self {
            Self::Whole(bytes) => Poll::Ready(bytes.take()),
            Self::Parts(parts) => {
                Poll::Ready(parts.iter_mut().find(|part| !part.is_empty()).map(std::mem::take))
            }
            Self::Stream(events) => events.poll(cx),
            Self::Watched(watched) => {
                let bytes = ready!(watched.body.poll_data(cx));
                watched.finish.bytes_out += bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
                Poll::Ready(bytes)
            }
        }
    }

    /// All of it was sent.
    pub(crate) fn sent(&mut self) {
        if let Self::Watched(watched) = self {
            watched.finish.cut = false;
        }
    }

    /// Whether a client that says no more is taken to listen on.
    pub(crate) fn goes_on(&self) -> bool {
        match self {
            Self::Whole(_) | Self::Parts(_) => true,
            Self::Stream(events) => events.goes_on,
            Self::Watched(watched) => watched.body.goes_on(),
        }
    }

    /// How long it is, where that is known.
    pub(crate) fn length(&self) -> Option<u64> {
        match self {
            Self::Whole(bytes) => Some(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Parts(parts) => Some(parts.iter().map(|part| part.len() as u64).sum()),
            Self::Stream(_) => None,
            Self::Watched(watched) => watched.body.length(),
        }
    }
}

impl EventBody {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(first));
        }
        let Some(next) = &mut self.next else { return Poll::Ready(None) };
        match next.as_mut().poll(cx) {
            Poll::Ready((event, source)) => {
                self.next = event.is_some().then(|| Box::pin(source.next()) as BoxFuture<'static, _>);
                self.quiet.as_mut().reset(Instant::now() + self.keep_alive);
                Poll::Ready(event)
            }
            Poll::Pending => {
                ready!(self.quiet.as_mut().poll(cx));
                self.quiet.as_mut().reset(Instant::now() + self.keep_alive);
                Poll::Ready(Some(Bytes::from_static(KEEP_ALIVE)))
            }
        }
    }
}

pub(crate) fn json(status: StatusCode, text: Bytes) -> Response<Answer> {
    typed(status, JSON, Answer::Whole(Some(text)))
}

/// A JSON-RPC response. The headers of the request become those of the answer: their memory will do for the next request, too.
pub(crate) fn respond(mut headers: HeaderMap, status: StatusCode, response: RpcResponse) -> Response<Answer> {
    let body = match &response.outcome {
        Ok(result) if result.as_bytes().len() >= LARGE => Answer::Parts(Box::new(response.to_parts())),
        _ => Answer::Whole(Some(Envelope::from(response).to_bytes())),
    };
    headers.clear();
    headers.insert(header::CONTENT_TYPE, JSON);
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

pub(crate) fn plain(status: StatusCode, text: &str) -> Response<Answer> {
    let text = Bytes::copy_from_slice(text.as_bytes());
    typed(status, HeaderValue::from_static("text/plain; charset=utf-8"), Answer::Whole(Some(text)))
}

pub(crate) fn events(body: Answer) -> Response<Answer> {
    let mut response = typed(StatusCode::OK, HeaderValue::from_static("text/event-stream"), body);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Some proxies collect a stream before they pass it on; this asks them not to.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

pub(crate) fn empty(status: StatusCode) -> Response<Answer> {
    let mut response = Response::new(Answer::Whole(None));
    *response.status_mut() = status;
    response
}

/// An HTTP error that is also a JSON-RPC one.
pub(crate) fn error(status: StatusCode, id: Option<&RequestId>, error: ErrorObject) -> Response<Answer> {
    let response =
        RpcResponse { id: id.cloned(), outcome: Err(error), rest: trunkline_protocol::Object::new() };
    json(status, Envelope::from(response).to_bytes())
}

/// The code of a refusal by somebody who has too much to do.
pub(crate) const OVERLOADED: i64 = 1224;
/// How many seconds to wait for somebody who has too much to do and does not know better.
const A_MOMENT: u64 = 1;

/// The status of an error that has one in every era, because those in between act on it: it comes too often, or there is too much
/// to do.
pub(crate) fn turned_away(error: &ErrorObject) -> Option<StatusCode> {
    if error.data.as_ref().is_some_and(|data| data.member("retryAfter").is_some()) {
        return Some(StatusCode::TOO_MANY_REQUESTS);
    }
    (error.code == OVERLOADED).then_some(StatusCode::SERVICE_UNAVAILABLE)
}

/// How many seconds a refused caller should wait, where that can be said.
pub(crate) fn retry_after(error: &ErrorObject) -> Option<u64> {
    let told = error.data.as_ref().and_then(|data| data.member_as("retryAfter"));
    told.or_else(|| (error.code == OVERLOADED).then_some(A_MOMENT))
}

pub(crate) fn with_retry_after(mut response: Response<Answer>, wait: Option<u64>) -> Response<Answer> {
    if let Some(wait) = wait {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait));
    }
    response
}

fn typed(status: StatusCode, kind: HeaderValue, body: Answer) -> Response<Answer> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
