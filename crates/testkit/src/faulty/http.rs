//! The faulty server over Streamable HTTP, both eras.

use super::{
    HttpCheck, Script, authorization,
    conversation::{Conversation, Received, Reply},
    gzip, model,
};
use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri},
};
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
    time::Duration,
};
use tokio::net::TcpListener;

struct Shared {
    conversation: Mutex<Conversation>,
    sessions: Mutex<BTreeSet<String>>,
    newest_session: Mutex<String>,
    /// False for a server that treats every message as legacy.
    modern: bool,
    made: std::sync::atomic::AtomicU64,
    /// Locked by a call that blocks all others.
    busy: Arc<tokio::sync::Mutex<()>>,
}

/// Serves until the future is dropped.
pub async fn serve_http(script: Script, listener: TcpListener) -> io::Result<()> {
    let shared = Arc::new(Shared {
        modern: script.speaks("modern"),
        conversation: Mutex::new(Conversation::new(script)),
        sessions: Mutex::new(BTreeSet::new()),
        newest_session: Mutex::default(),
        made: std::sync::atomic::AtomicU64::new(1),
        busy: Arc::default(),
    });
    axum::serve(listener, Router::new().fallback(answer).with_state(shared)).await
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let header_texts: BTreeMap<String, String> = headers
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();
    let auth = shared.conversation.lock().script.auth.clone();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method_name = message["method"].as_str().unwrap_or_default();
    let auth = auth.filter(|auth| !auth.open.iter().any(|open| open == method_name));
    if let Some(refusal) = auth.and_then(|auth| authorization::answer(&auth, &uri, &header_texts)) {
        return refusal;
    }
    let received =
        Received { bytes: &body, http: Some(method.as_str()), path: uri.path(), headers: header_texts };
    let mut reply = shared.conversation.lock().reply_to(&received);
    reply.fetch().await;
    shared.delay(&reply).await;
    let session = received.headers.get("mcp-session-id").cloned();
    let older = session.as_ref().is_some_and(|session| *session != *shared.newest_session.lock());
    if reply.act.silence || (reply.act.newest_only && older) {
        std::future::pending::<()>().await;
    }
    let refused =
        if reply.act.lenient { None } else { refusal(&shared, &reply.act.unchecked, &received, &message) };
    let (status, refusal) = match refused {
        Some((status, error)) => (status, Some(error)),
        None if method == Method::DELETE => (204, None),
        None => (status_of(&reply, &message), None),
    };
    let mut more = Vec::new();
    if let Some(error) = refusal {
        let own = reply.act.status.is_some() || reply.act.raw.is_some();
        if !own {
            reply.answer = error.map(|error| json!({"jsonrpc": "2.0", "id": reply.id, "error": error}));
        }
    } else if message["method"] == "initialize"
        && reply.answer.as_ref().is_some_and(|it| it.get("result").is_some())
    {
        let known = session.filter(|session| shared.sessions.lock().contains(session));
        let session = known.filter(|_| !reply.act.another_session);
        let session = session.unwrap_or_else(|| shared.begin(reply.act.headers.remove("mcp-session-id")));
        more.push(("mcp-session-id", session));
    } else if method == Method::DELETE
        && !reply.act.unchecked.contains(&HttpCheck::Session)
        && let Some(session) = session
    {
        if reply.act.end_all {
            shared.sessions.lock().clear();
        }
        shared.sessions.lock().remove(&session);
        reply.answer = None;
    }
    respond(&reply, status, more)
}

impl Shared {
    /// Takes the time that the script gives an answer.
    async fn delay(&self, reply: &Reply) {
        let delay = Duration::from_millis(reply.act.delay_ms);
        if !reply.act.block {
            drop(self.busy.lock().await);
            return tokio::time::sleep(delay).await;
        }
        // In a separate task, so that it continues after the client has disconnected.
        let busy = self.busy.clone().lock_owned().await;
        let work = async move {
            tokio::time::sleep(delay).await;
            drop(busy);
        };
        tokio::spawn(work).await.ok();
    }

    /// Starts a session; `name` is the session id that the script gives, if any.
    fn begin(&self, name: Option<String>) -> String {
        let number = self.made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        // Looks random but is deterministic: the ids differ from each other and are the same in
        // every run.
        let scrambled = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bf0_3635_dcf5_1f2a;
        let session = name.unwrap_or_else(|| {
            format!("{scrambled:016x}{:016x}", scrambled.rotate_left(29).wrapping_mul(0xd6e8_feb8_6659_fd93))
        });
        self.sessions.lock().insert(session.clone());
        self.newest_session.lock().clone_from(&session);
        session
    }
}

type Refusal = (u16, Option<Value>);

/// Checks the HTTP request before its message is handled.
fn refusal(
    shared: &Shared,
    unchecked: &[HttpCheck],
    received: &Received<'_>,
    message: &Value,
) -> Option<Refusal> {
    let headers = &received.headers;
    let posted = received.http == Some("POST");
    let checks = |check: HttpCheck| !unchecked.contains(&check);
    let own = |value: &String| {
        let host = value.rsplit("://").next().unwrap_or_default();
        let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
        matches!(host, "127.0.0.1" | "localhost" | "[::1]")
    };
    if checks(HttpCheck::Origin) && headers.get("origin").is_some_and(|origin| !own(origin)) {
        return Some((403, None));
    }
    if checks(HttpCheck::Host) && !headers.get("host").is_some_and(own) {
        return Some((403, None));
    }
    let lacks_session = received.http == Some("DELETE") && !headers.contains_key("mcp-session-id");
    if checks(HttpCheck::Get) && (received.http == Some("GET") || lacks_session) {
        return Some((405, None));
    }
    let json = |media: &String| media.starts_with("application/json");
    if checks(HttpCheck::MediaType) && posted && !headers.get("content-type").is_some_and(json) {
        return Some((415, None));
    }
    if shared.modern && model::is_modern(message) {
        return if checks(HttpCheck::Headers) { modern_refusal(headers, message) } else { None };
    }
    let version = headers.get("mcp-protocol-version");
    let unknown = |version: &String| {
        !(model::LEGACY.contains(&version.as_str()) || shared.modern && version == model::MODERN)
    };
    if checks(HttpCheck::Version) && version.is_some_and(unknown) {
        return Some((400, Some(model::error(-32600, "Unsupported protocol version"))));
    }
    if message["method"] == "initialize" || posted && message.is_null() || !checks(HttpCheck::Session) {
        return None;
    }
    match headers.get("mcp-session-id") {
        None => Some((400, Some(model::error(-32600, "Session id is missing")))),
        Some(session) => {
            let known = shared.sessions.lock().contains(session);
            (!known).then(|| (404, Some(model::error(-32600, "Session not found"))))
        }
    }
}

fn modern_refusal(headers: &BTreeMap<String, String>, message: &Value) -> Option<Refusal> {
    let mismatch = |what: &str| Some((400, Some(model::error(-32020, &format!("Header mismatch: {what}")))));
    let params = &message["params"];
    let version = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    if version.is_some() && headers.get("mcp-protocol-version").map(String::as_str) != version {
        return mismatch("MCP-Protocol-Version");
    }
    let method = message["method"].as_str()?;
    if message.get("id").is_some() && headers.get("mcp-method").map(String::as_str) != Some(method) {
        return mismatch("Mcp-Method");
    }
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return None,
    };
    let name = headers.get("mcp-name").map(|name| decoded(name));
    if name.as_deref() == params[member].as_str() { None } else { mismatch("Mcp-Name") }
}

/// Decodes a header value with the base64 sentinel.
fn decoded(value: &str) -> String {
    let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let Some(inner) = inner else { return value.to_owned() };
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in inner.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = (bits << 6) | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).unwrap_or(0));
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn status_of(reply: &Reply, message: &Value) -> u16 {
    let code = reply.answer.as_ref().and_then(|answer| answer["error"]["code"].as_i64());
    match code {
        _ if reply.answer.is_none() && message.is_object() => 202,
        _ if message.get("id").is_none() && message.get("method").is_some() => 202,
        Some(-32700 | -32600) => 400,
        Some(-32601) if model::is_modern(message) => 404,
        Some(-32020..=-32000) if model::is_modern(message) => 400,
        Some(-32022 | -32021) => 400,
        Some(-32602) if model::is_modern(message) && !model::has_meta(message) => 400,
        _ => 200,
    }
}

/// The body of an answer that is no stream, with the faults of its encoding and length.
fn plain_body(reply: &Reply, headers: &mut HeaderMap, text: Vec<u8>) -> Body {
    if reply.act.gzip {
        headers.insert("content-encoding", HeaderValue::from_static("gzip"));
        return Body::from(gzip::wrap(&text));
    }
    if reply.act.count_characters {
        headers.insert("content-length", String::from_utf8_lossy(&text).chars().count().into());
        // A stream has no length of its own, so the server keeps to ours.
        return Body::from_stream(futures_util::stream::iter([Ok::<_, io::Error>(Bytes::from(text))]));
    }
    Body::from(text)
}

fn respond(reply: &Reply, status: u16, more: Vec<(&'static str, String)>) -> Response<Body> {
    let status = reply.act.status.unwrap_or_else(|| *reply.act.statuses.get(&status).unwrap_or(&status));
    let text = reply.text().unwrap_or_default();
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    for (name, value) in more {
        headers.insert(name, HeaderValue::from_str(&value).expect("a session id is plain"));
    }
    if let Some(form) = reply.act.sse.as_ref().filter(|_| !text.is_empty()) {
        headers.insert("content-type", HeaderValue::from_static("text/event-stream"));
        *response.body_mut() = Body::from(form.replace("$answer", &String::from_utf8_lossy(&text)));
    } else if reply.act.stream {
        headers.insert("content-type", HeaderValue::from_static("text/event-stream"));
        let mut events = Vec::new();
        for line in &reply.act.before {
            events.extend_from_slice(format!("data: {}\n\n", reply.filled(line)).as_bytes());
        }
        if !text.is_empty() {
            events.extend_from_slice(b"event: message\ndata: ");
            events.extend_from_slice(&text);
            events.extend_from_slice(b"\n\n");
        }
        for line in &reply.act.after {
            events.extend_from_slice(format!("data: {}\n\n", reply.filled(line)).as_bytes());
        }
        let first = futures_util::stream::iter([Ok::<_, io::Error>(Bytes::from(events))]);
        *response.body_mut() = if reply.act.linger {
            Body::from_stream(first.chain(futures_util::stream::pending()))
        } else {
            Body::from_stream(first)
        };
    } else if !text.is_empty() {
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        *response.body_mut() = plain_body(reply, headers, text);
    }
    for (name, value) in &reply.act.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a script names real headers");
        if value.is_empty() {
            response.headers_mut().remove(name);
        } else {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_str(value).expect("a script's value is plain"));
        }
    }
    response
}
