//! A server over Streamable HTTP: one request, and its answer as it came.

use super::inbox::{Inbox, answers, is_nameless};
use crate::evidence::{Direction, Frame, HttpHead};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, header};
use bytes::{Bytes, BytesMut};
use hyper::body::Body as _;
use serde_json::Value;
use std::{pin::Pin, time::Duration};
use tokio::time::Instant;
use trunkline_protocol::Era;
use trunkline_transport::{
    headers::{MCP_METHOD, MCP_NAME, MCP_PROTOCOL_VERSION, MCP_SESSION_ID, encode_value},
    http::{Arriving, HttpClient, Target},
    sse::Decoder,
};

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// How much of a body is kept as it came.
const BODY_SHOWN: usize = 16 * 1024;

/// How large a body that is no stream may be.
const BODY_LIMIT: usize = 16 * 1024 * 1024;

/// How large an event may be.
const EVENT_LIMIT: usize = 16 * 1024 * 1024;

/// One HTTP request of a probe.
#[derive(Debug, Clone)]
pub struct HttpAsk {
    pub method: Method,
    /// Set over whatever would be sent; an empty value takes the header away.
    pub headers: Vec<(HeaderName, String)>,
    /// Whether the headers of the era (version, session, `Mcp-Method`, …) are added first.
    pub dressed: Dressed,
    pub body: Bytes,
    /// How long to go on reading a stream behind the answer, to see whether it ends.
    pub linger: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dressed {
    Fully,
    Bare,
}

#[derive(Debug)]
pub(crate) struct HttpLine {
    client: HttpClient,
    target: Target,
    /// The session a legacy server has begun.
    pub(crate) session: Option<String>,
    /// The revision a legacy server has chosen.
    pub(crate) version: Option<String>,
}

pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// What an exchange over HTTP came to.
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
            dressed: Dressed::Fully,
            body,
            linger: Duration::ZERO,
        }
    }

    pub fn bare(method: Method) -> Self {
        Self {
            method,
            headers: Vec::new(),
            dressed: Dressed::Bare,
            body: Bytes::new(),
            linger: Duration::ZERO,
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

    /// Points the line at another address; gives the one before.
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

    /// Sends a request and reads its answer until `until`; it is done earlier when the answer to `id` is there or the body
    /// has ended.
    pub(crate) async fn exchange(
        &self,
        era: Era,
        ask: &HttpAsk,
        inbox: &Inbox,
        (id, until): (Option<&Value>, Instant),
    ) -> Result<Got, String> {
        let headers = self.headers(era, ask)?;
        let mut head = HttpHead {
            request: told(&ask.method, ask),
            status: 0,
            headers: Vec::new(),
            body: String::new(),
            ended: false,
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
        let mut headers = HeaderMap::new();
        if ask.method == Method::POST {
            headers.insert(header::CONTENT_TYPE, JSON);
            headers.insert(header::ACCEPT, BOTH);
        }
        if ask.dressed == Dressed::Fully {
            match era {
                Era::Modern => modern(&mut headers, &ask.body),
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

/// What `exchange` says when the head of an answer did not come in time.
pub(crate) const TOO_LATE: &str = "no answer in time";

struct Reading<'a> {
    inbox: &'a Inbox,
    id: Option<&'a Value>,
    until: Instant,
    status: u16,
    /// None once the time to go on is set.
    linger: Option<Duration>,
    frames: Vec<usize>,
    answer: Option<usize>,
}

impl Reading<'_> {
    async fn events(&mut self, mut body: Arriving, head: &mut HttpHead) {
        let mut decoder = Decoder::new(EVENT_LIMIT);
        let mut until = self.until;
        loop {
            let Ok(chunk) = tokio::time::timeout_at(until, next(&mut body)).await else { return };
            let Some(chunk) = chunk else {
                head.ended = true;
                return;
            };
            show(&mut head.body, &chunk);
            decoder.push(chunk);
            while let Ok(Some(event)) = decoder.next() {
                if !event.data.is_empty() {
                    self.keep(&event.data);
                }
            }
            if self.answer.is_some() {
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
            match tokio::time::timeout_at(self.until, next(&mut body)).await {
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
        let json = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
        let direction = if json { Direction::Received } else { Direction::Noise };
        let Some(at) = self.inbox.keep(direction, bytes) else { return };
        self.frames.push(at);
        let Some(id) = self.id else { return };
        // A request that was accepted is all that can be answered here, so that its answer needs no name.
        let accepted = (200..300).contains(&self.status);
        let takes = |frame: &Frame| answers(frame, id) || (accepted && is_nameless(frame));
        if self.answer.is_none() && self.inbox.edit(|line| takes(&line.frames[at])) {
            self.answer = Some(at);
        }
    }
}

/// Sends a request and reads no more of its answer than the beginning.
pub(crate) async fn head_of(
    client: &HttpClient,
    target: &Target,
    request: Request,
) -> Result<HttpHead, String> {
    let told = format!("{} {}", request.method, target.url().path());
    let response = client
        .send(request.method, target, request.headers, request.body)
        .await
        .map_err(|error| super::dial::DialError::from_error(error).why)?;
    let mut head =
        HttpHead { request: told, status: 0, headers: Vec::new(), body: String::new(), ended: true };
    fill(&mut head, &response);
    let beginning = trunkline_transport::body::read_beginning(
        response.into_body(),
        BODY_SHOWN,
        Duration::from_millis(500),
    );
    let (trunkline_transport::body::Beginning::Whole(bytes)
    | trunkline_transport::body::Beginning::Cut(bytes)) = beginning.await;
    show(&mut head.body, &bytes);
    Ok(head)
}

async fn next(body: &mut Arriving) -> Option<Bytes> {
    loop {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
        // A body that breaks off has ended, too; what came before is judged.
        if let Ok(data) = frame.ok()?.into_data() {
            return Some(data);
        }
    }
}

fn fill(head: &mut HttpHead, response: &Response<Arriving>) {
    head.status = response.status().as_u16();
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
    let value = HeaderValue::from_str(value).map_err(|_| format!("{name} has a value no header can have"))?;
    headers.insert(name, value);
    Ok(())
}

/// The headers a modern request must have, from its body.
fn modern(headers: &mut HeaderMap, body: &[u8]) {
    let Ok(message) = serde_json::from_slice::<Value>(body) else { return };
    let version = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    if let Some(version) = version.as_str() {
        headers.insert(MCP_PROTOCOL_VERSION, encode_value(version));
    }
    let Some(method) = message["method"].as_str() else { return };
    headers.insert(MCP_METHOD, encode_value(method));
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return,
    };
    if let Some(name) = message["params"][member].as_str() {
        headers.insert(MCP_NAME, encode_value(name));
    }
}

fn told(method: &Method, ask: &HttpAsk) -> String {
    let mut told = method.to_string();
    for (name, value) in &ask.headers {
        told.push_str(if value.is_empty() { ", no " } else { ", " });
        told.push_str(name.as_str());
        if !value.is_empty() {
            told.push_str(": ");
            told.push_str(value);
        }
    }
    told
}
