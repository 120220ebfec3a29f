//! Responses: one JSON message, an event stream, or plain text.

use super::sse::SseRegistration;
use crate::{
    access::AccessRecord,
    era::ModernReply,
    outgoing::{EventReceiver, event_of, held, replaced},
    phase::{Phase, reached},
    rest::RestStream,
    session::{Reader, Session},
};
use ::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{Instant, Sleep},
};
use trunkline_http1::server::{HalfClose, ResponseBody};
use trunkline_protocol::{Envelope, ErrorObject, RequestId, Response as RpcResponse};
use trunkline_resilience::hold;
use trunkline_transport::sse::KEEP_ALIVE;

/// From this size on, a result is sent without being copied.
const LARGE: usize = 16 * 1024;
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The body of a response.
pub(crate) enum Body {
    Whole(Option<Bytes>),
    /// A large result, and the JSON before and after it.
    Parts(Box<[Bytes; 3]>),
    Stream(Box<EventBody>),
    /// A body that is counted for the access log.
    Logged(Box<LoggedBody>),
}

/// The record is written when this is dropped: after the body, which notes how its call ended.
pub(crate) struct LoggedBody {
    body: Body,
    record: AccessRecord,
}

/// An event stream, with keep-alive comments while there are no events.
pub(crate) struct EventBody {
    on_half_close: HalfClose,
    /// Sent before the events.
    first: Option<Bytes>,
    next: Option<BoxFuture<'static, (Option<Bytes>, EventSource)>>,
    quiet: Pin<Box<Sleep>>,
    keep_alive: Duration,
}

/// The source of an event stream, which ends when the server stops.
pub(crate) struct EventSource {
    pub(crate) events: Events,
    pub(crate) phase: watch::Receiver<Phase>,
}

pub(crate) enum Events {
    Modern(Box<ModernReply>),
    /// An execution over REST.
    Rest(Box<RestStream>),
    /// The stream of a call.
    Call(Reader),
    /// The stream of a session.
    Session(Reader, Arc<Session>),
    /// The stream of a client of HTTP+SSE.
    Sse {
        queue: EventReceiver,
        registration: SseRegistration,
    },
}

impl EventSource {
    /// The next event. When the server drains, a stream without a call in flight ends at once,
    /// and the others when the drain limit has passed.
    async fn next(mut self) -> (Option<Bytes>, Self) {
        let phase = &mut self.phase;
        let event = match &mut self.events {
            Events::Modern(reply) => loop {
                let Some(message) = reply.next_until(phase).await else { break None };
                if let Some(event) = held(&message, event_of, hold) {
                    break Some(event);
                }
            },
            Events::Rest(stream) => tokio::select! {
                biased;
                event = stream.next() => event,
                _ = reached(phase, Phase::Stopped) => None,
            },
            Events::Call(reader) => tokio::select! {
                biased;
                item = reader.next() => item.event(),
                _ = reached(phase, Phase::Stopped) => None,
            },
            Events::Session(reader, session) => tokio::select! {
                biased;
                item = reader.next() => item.event(),
                () = quiet(phase, |cx| session.poll_quiet(cx)) => None,
            },
            Events::Sse { queue, registration } => tokio::select! {
                biased;
                event = queue.next() => event,
                () = quiet(phase, |cx| registration.poll_quiet(cx)) => None,
            },
        };
        (event, self)
    }
}

/// Resolves when the server drains and no call is in flight any more.
async fn quiet(phase: &mut watch::Receiver<Phase>, poll: impl FnMut(&mut Context<'_>) -> Poll<()>) {
    reached(phase, Phase::Draining).await;
    tokio::select! {
        () = poll_fn(poll) => {}
        _ = reached(phase, Phase::Stopped) => {}
    }
}

impl Body {
    pub(crate) fn logged(self, record: AccessRecord) -> Self {
        Self::Logged(Box::new(LoggedBody { body: self, record }))
    }

    pub(crate) fn events(first: Option<Bytes>, source: EventSource, keep_alive: Duration) -> Self {
        Self::Stream(Box::new(EventBody {
            on_half_close: match source.events {
                Events::Call(_) => HalfClose::Continues,
                Events::Modern(_) | Events::Rest(_) | Events::Session(..) | Events::Sse { .. } => {
                    HalfClose::Cancels
                }
            },
            first,
            next: Some(Box::pin(source.next())),
            quiet: Box::pin(tokio::time::sleep(keep_alive)),
            keep_alive,
        }))
    }
}

impl ResponseBody for Body {
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match self {
            Self::Whole(bytes) => Poll::Ready(bytes.take()),
            Self::Parts(parts) => {
                Poll::Ready(parts.iter_mut().find(|part| !part.is_empty()).map(std::mem::take))
            }
            Self::Stream(events) => events.poll(cx),
            Self::Logged(logged) => {
                let bytes = ready!(logged.body.poll_data(cx));
                logged.record.bytes_out += bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
                Poll::Ready(bytes)
            }
        }
    }

    fn on_sent(&mut self) {
        if let Self::Logged(logged) = self {
            logged.record.cut = false;
        }
    }

    fn on_half_close(&self) -> HalfClose {
        match self {
            Self::Whole(_) | Self::Parts(_) => HalfClose::Continues,
            Self::Stream(events) => events.on_half_close,
            Self::Logged(logged) => logged.body.on_half_close(),
        }
    }

    fn length(&self) -> Option<u64> {
        match self {
            Self::Whole(bytes) => Some(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Parts(parts) => Some(parts.iter().map(|part| part.len() as u64).sum()),
            Self::Stream(_) => None,
            Self::Logged(logged) => logged.body.length(),
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

pub(crate) fn json(status: StatusCode, text: Bytes) -> Response<Body> {
    typed(status, JSON, Body::Whole(Some(text)))
}

/// A JSON-RPC response. It reuses the memory of the request headers, as the next request will.
pub(crate) fn respond(
    mut headers: HeaderMap,
    mut status: StatusCode,
    response: RpcResponse,
) -> Response<Body> {
    let body = body_of(response).unwrap_or_else(|replaced| {
        status = StatusCode::SERVICE_UNAVAILABLE;
        Body::Whole(Some(Envelope::from(*replaced).to_bytes()))
    });
    headers.clear();
    headers.insert(header::CONTENT_TYPE, JSON);
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// The body; the error to send in its place if no memory is left for it.
fn body_of(response: RpcResponse) -> Result<Body, Box<RpcResponse>> {
    let payload = response.outcome.as_ref().map_or_else(|error| error.data.as_ref(), Some);
    if payload.is_none_or(|payload| payload.as_bytes().len() < LARGE) {
        return Ok(Body::Whole(Some(Envelope::from(response).to_bytes())));
    }
    let [before, payload, after] = response.to_parts();
    let payload = hold(payload).map_err(|full| Box::new(replaced(&response, full)))?;
    Ok(Body::Parts(Box::new([before, payload, after])))
}

pub(crate) fn plain(status: StatusCode, text: &str) -> Response<Body> {
    let text = Bytes::copy_from_slice(text.as_bytes());
    typed(status, HeaderValue::from_static("text/plain; charset=utf-8"), Body::Whole(Some(text)))
}

pub(crate) fn events(body: Body) -> Response<Body> {
    let mut response = typed(StatusCode::OK, HeaderValue::from_static("text/event-stream"), body);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Asks proxies not to buffer the stream.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

pub(crate) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::Whole(None));
    *response.status_mut() = status;
    response
}

/// An HTTP error that is also a JSON-RPC one.
pub(crate) fn error(status: StatusCode, id: Option<&RequestId>, error: ErrorObject) -> Response<Body> {
    let response =
        RpcResponse { id: id.cloned(), outcome: Err(error), rest: trunkline_protocol::Object::new() };
    json(status, Envelope::from(response).to_bytes())
}

/// The JSON-RPC code of overload.
pub(crate) const OVERLOADED: i64 = 1224;
/// The JSON-RPC code of a server that is not available.
const UNAVAILABLE: i64 = -32603;
/// `Retry-After` of an overload without a better estimate, in seconds.
pub(super) const A_MOMENT: u64 = 1;

/// The HTTP status of rate limits and overload, used in every era because proxies act on it.
pub(crate) fn turned_away(error: &ErrorObject) -> Option<StatusCode> {
    let waits = error.data.as_ref().is_some_and(|data| data.member("retryAfter").is_some());
    match error.code {
        OVERLOADED => Some(StatusCode::SERVICE_UNAVAILABLE),
        UNAVAILABLE if waits => Some(StatusCode::SERVICE_UNAVAILABLE),
        _ => waits.then_some(StatusCode::TOO_MANY_REQUESTS),
    }
}

/// The seconds for `Retry-After`, if known.
pub(crate) fn retry_after(error: &ErrorObject) -> Option<u64> {
    let known = |name| error.data.as_ref().and_then(|data| data.member(name));
    let seconds = known("retryAfter").and_then(|seconds| seconds.decode().ok());
    // Without `retryable` it is our own refusal of the request; with `false` the call has run.
    let may_repeat = || known("retryable").is_none_or(|retryable| retryable.as_bytes() == b"true");
    seconds.or_else(|| (error.code == OVERLOADED && may_repeat()).then_some(A_MOMENT))
}

pub(crate) fn with_retry_after(mut response: Response<Body>, wait: Option<u64>) -> Response<Body> {
    if let Some(wait) = wait {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait));
    }
    response
}

fn typed(status: StatusCode, kind: HeaderValue, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
