//! A server over Streamable HTTP: one request, and its unprocessed response.

use super::inbox::{Inbox, answers, has_no_id};
use crate::evidence::{Direction, Frame, HttpHead};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, header};
use bytes::{Bytes, BytesMut};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;
use trunkline_client::raw;
use trunkline_protocol::Era;
use trunkline_transport::{
    body::{Beginning, next_data, read_beginning},
    headers::{MCP_PROTOCOL_VERSION, MCP_SESSION_ID},
    http::{Arriving, HttpClient, Redirected, Target},
    sse::Decoder,
};

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Bytes of a body that are kept as text.
const BODY_SHOWN: usize = 16 * 1024;

/// Maximum size of a body that is not a stream.
const BODY_LIMIT: usize = 16 * 1024 * 1024;

/// Maximum size of an event.
const EVENT_LIMIT: usize = 16 * 1024 * 1024;

/// One HTTP request of a probe.
#[derive(Debug, Clone)]
pub struct HttpAsk {
    pub method: Method,
    /// Override the default headers; an empty value removes the header.
    pub headers: Vec<(HeaderName, String)>,
    /// Controls the headers of the era (version, session, `Mcp-Method`, …).
    pub era_headers: EraHeaders,
    pub body: Bytes,
    /// Time to keep reading a stream after the answer, to see whether it ends.
    pub linger: Duration,
    /// The message that ends the reading of a stream.
    pub enough: Enough,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enough {
    /// The expected answer.
    Answer,
    AnyMessage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EraHeaders {
    Added,
    Omitted,
}

#[derive(Debug)]
pub(crate) struct HttpLine {
    client: HttpClient,
    target: Target,
    /// The session id of a legacy server.
    pub(crate) session: Option<String>,
    /// The negotiated revision of a legacy server.
    pub(crate) version: Option<String>,
}

pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// The result of an HTTP exchange.
pub(crate) struct Got {
    pub(crate) head: HttpHead,
    pub(crate) frames: Vec<usize>,
    pub(crate) answer: Option<usize>,
}

impl HttpAsk {
    pub fn post(body: Bytes) -> Self {
        Self {
            method: Method::POST,
            headers: Vec::new(),
            era_headers: EraHeaders::Added,
            body,
            linger: Duration::ZERO,
            enough: Enough::Answer,
        }
    }

    pub fn bare(method: Method) -> Self {
        Self {
            method,
            headers: Vec::new(),
            era_headers: EraHeaders::Omitted,
            body: Bytes::new(),
            linger: Duration::ZERO,
            enough: Enough::Answer,
        }
    }

    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((HeaderName::from_static(name), value.into()));
        self
    }
}

impl HttpLine {
    pub(crate) fn new(client: HttpClient, target: Target) -> Self {
        Self { client, target, session: None, version: None }
    }

    /// Switches the line to another URL. Returns the previous target.
    pub(crate) fn retarget(&mut self, url: &url::Url) -> Option<Target> {
        let target = Target::new(url.clone()).ok()?;
        Some(std::mem::replace(&mut self.target, target))
    }

    pub(crate) fn restore(&mut self, target: Target) {
        self.target = target;
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Sends a request and reads the response until the deadline `until`, the answer to `id`, or
    /// EOF.
    pub(crate) async fn exchange(
        &self,
        era: Era,
        ask: &HttpAsk,
        inbox: &Inbox,
        (id, until): (Option<&Value>, Instant),
    ) -> Result<Got, String> {
        let headers = self.headers(era, ask)?;
        let mut head = HttpHead {
            request: describe_request(&ask.method, ask),
            status: 0,
            headers: Vec::new(),
            body: String::new(),
            ended: false,
            redirected: None,
        };
        let sending = self.client.send(ask.method.clone(), &self.target, headers, ask.body.clone());
        let response = match tokio::time::timeout_at(until, sending).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(super::dial::DialError::from_error(error).why),
            Err(_) => return Err(TOO_LATE.to_owned()),
        };
        fill(&mut head, &response);
        let mut reading = Reading {
            inbox,
            id,
            until,
            linger: Some(ask.linger),
            status: head.status,
            enough: ask.enough,
            frames: Vec::new(),
            answer: None,
        };
        let body = response.into_body();
        if head.media().as_deref() == Some("text/event-stream") {
            reading.events(body, &mut head).await;
        } else {
            reading.whole(body, &mut head).await;
        }
        Ok(Got { head, frames: reading.frames, answer: reading.answer })
    }

    fn headers(&self, era: Era, ask: &HttpAsk) -> Result<HeaderMap, String> {
        let mut headers = if ask.method == Method::POST { raw::post_headers() } else { HeaderMap::new() };
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if ask.era_headers == EraHeaders::Added {
            match era {
                Era::Modern => {
                    if let Ok(message) = serde_json::from_slice(&ask.body) {
                        raw::add_modern_headers(&mut headers, &message);
                    }
                }
                Era::Legacy => {
                    set(&mut headers, MCP_SESSION_ID, self.session.as_deref())?;
                    set(&mut headers, MCP_PROTOCOL_VERSION, self.version.as_deref())?;
                }
            }
        }
        for (name, value) in &ask.headers {
            headers.remove(name);
            set(&mut headers, name.clone(), (!value.is_empty()).then_some(value))?;
        }
        Ok(headers)
    }
}

/// The error of `exchange` if the response head did not arrive in time.
pub(crate) const TOO_LATE: &str = "no answer in time";

struct Reading<'a> {
    inbox: &'a Inbox,
    id: Option<&'a Value>,
    until: Instant,
    status: u16,
    /// `None` once the deadline for lingering is set.
    linger: Option<Duration>,
    enough: Enough,
    frames: Vec<usize>,
    answer: Option<usize>,
}

impl Reading<'_> {
    async fn events(&mut self, mut body: Arriving, head: &mut HttpHead) {
        let mut decoder = Decoder::new(EVENT_LIMIT);
        let mut until = self.until;
        loop {
            let Ok(chunk) = tokio::time::timeout_at(until, next_data(&mut body)).await else { return };
            let Some(chunk) = chunk else {
                head.ended = true;
                return;
            };
            show(&mut head.body, &chunk);
            decoder.push(chunk);
            while let Ok(Some(event)) = decoder.next() {
                // Clients skip events with another name, such as a `ping`.
                let skipped = !event.is("message") && !is_json(&event.data);
                if !event.data.is_empty() && !skipped {
                    self.keep(&event.data);
                }
            }
            let begun = self.enough == Enough::AnyMessage && !self.frames.is_empty();
            if self.answer.is_some() || begun {
                match self.linger.take() {
                    Some(Duration::ZERO) => return,
                    Some(linger) => until = Instant::now() + linger,
                    None => {}
                }
            }
        }
    }

    async fn whole(&mut self, mut body: Arriving, head: &mut HttpHead) {
        let mut whole = BytesMut::new();
        while whole.len() < BODY_LIMIT {
            match tokio::time::timeout_at(self.until, next_data(&mut body)).await {
                Ok(Some(chunk)) => whole.extend_from_slice(&chunk),
                Ok(None) => {
                    head.ended = true;
                    break;
                }
                Err(_) => break,
            }
        }
        show(&mut head.body, &whole);
        if !whole.trim_ascii().is_empty() {
            self.keep(&whole.freeze());
        }
    }

    fn keep(&mut self, bytes: &Bytes) {
        let direction = if is_json(bytes) { Direction::Received } else { Direction::Noise };
        let Some(at) = self.inbox.keep(direction, bytes) else { return };
        self.frames.push(at);
        let Some(id) = self.id else { return };
        // In the body of a successful response, an answer without an id can only belong to this
        // request.
        let accepted = (200..300).contains(&self.status);
        let takes = |frame: &Frame| answers(frame, id) || (accepted && has_no_id(frame));
        if self.answer.is_none() && self.inbox.edit(|line| takes(&line.frames[at])) {
            self.answer = Some(at);
        }
    }
}

/// Sends a request and reads only the beginning of the response.
pub(crate) async fn head_of(
    client: &HttpClient,
    target: &Target,
    request: Request,
) -> Result<HttpHead, String> {
    let line = format!("{} {}", request.method, target.url().path());
    let response = client
        .send(request.method, target, request.headers, request.body)
        .await
        .map_err(|error| super::dial::DialError::from_error(error).why)?;
    let mut head = HttpHead {
        request: line,
        status: 0,
        headers: Vec::new(),
        body: String::new(),
        ended: true,
        redirected: None,
    };
    fill(&mut head, &response);
    let beginning = read_beginning(response.into_body(), BODY_SHOWN, Duration::from_millis(500));
    let (Beginning::Whole(bytes) | Beginning::Cut(bytes)) = beginning.await;
    show(&mut head.body, &bytes);
    Ok(head)
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

fn fill(head: &mut HttpHead, response: &Response<Arriving>) {
    head.status = response.status().as_u16();
    head.redirected = response.extensions().get::<Redirected>().map(|to| to.0.to_string());
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    head.headers =
        response.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
}

fn show(shown: &mut String, bytes: &[u8]) {
    let room = BODY_SHOWN.saturating_sub(shown.len());
    shown.push_str(&String::from_utf8_lossy(&bytes[..bytes.len().min(room)]));
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: Option<&str>) -> Result<(), String> {
    let Some(value) = value else { return Ok(()) };
    let value = HeaderValue::from_str(value)
        .map_err(|_| format!("{name} has a value that is not allowed in a header"))?;
    headers.insert(name, value);
    Ok(())
}

fn describe_request(method: &Method, ask: &HttpAsk) -> String {
    let mut text = method.to_string();
    for (name, value) in &ask.headers {
        text.push_str(if value.is_empty() { ", no " } else { ", " });
        text.push_str(name.as_str());
        if !value.is_empty() {
            text.push_str(": ");
            text.push_str(value);
        }
    }
    text
}
