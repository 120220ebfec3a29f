//! Streams at shutdown: idle ones end at once, the others after their calls.

use crate::support::{
    Fixture, GIVE_UP, start,
    wire::{HANG, HOST, INITIALIZE, RawConnection, headers_of, kept, modern},
};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::task::JoinHandle;
use trunkline_protocol::{Call, Handler, Notification, Part, Raw, Reply, method};
use trunkline_serve::{Guard, Limits, ServeOptions, Shutdown};

const JSON: (&str, &str) = ("content-type", "application/json");

fn options(drain: Duration) -> ServeOptions {
    let guard = Guard { hosts: vec![HOST.to_owned()], ..Guard::default() };
    let limits = Limits { drain, ..Limits::default() };
    ServeOptions { guard, limits, ..ServeOptions::default() }
}

async fn stopped(server: JoinHandle<()>) {
    tokio::time::timeout(HANG, server).await.expect("nothing holds the server").unwrap();
}

/// Opens a session that listens for changes, and returns its id.
async fn session(address: SocketAddr) -> String {
    let mut talk = RawConnection::to(address).await;
    talk.say(kept("POST", "/mcp", &[JSON], INITIALIZE)).await;
    let session = talk.hear().await.header("mcp-session-id").unwrap();
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(posted(address, "/mcp", &[("mcp-session-id", &session)], ready).await, 202);
    session
}

/// The status of a POST on a new connection.
async fn posted(address: SocketAddr, path: &str, headers: &[(&str, &str)], body: &str) -> u16 {
    let mut talk = RawConnection::to(address).await;
    talk.say(kept("POST", path, &[headers, &[JSON]].concat(), body)).await;
    talk.hear().await.status
}

/// Opens a stream, reads this many chunks, and returns their bytes.
async fn stream(address: SocketAddr, request: String, chunks: usize) -> (RawConnection, Vec<u8>) {
    let mut talk = RawConnection::to(address).await;
    talk.say(request).await;
    let head = talk.hear_head().await;
    assert_eq!(head.header("content-type").as_deref(), Some("text/event-stream"), "{head:?}");
    let mut heard = Vec::new();
    for _ in 0..chunks {
        heard.extend(talk.hear_chunk().await.expect("a chunk"));
    }
    (talk, heard)
}

/// The `data` of an event.
fn data(chunk: &[u8]) -> &str {
    let text = str::from_utf8(chunk).unwrap();
    text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_else(|| panic!("{text}"))
}

fn message(chunk: &[u8]) -> Value {
    serde_json::from_str(data(chunk)).unwrap()
}

async fn ends(mut talk: RawConnection) {
    assert_eq!(talk.hear_chunk().await, None);
    assert!(talk.rest().await.is_empty());
}

fn listen() -> String {
    modern("subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#)
}

/// Asserts that this is the result of the subscription with id 1, ended by the server.
fn is_over(end: &Value) {
    assert_eq!((&end["id"], &end["result"]["resultType"]), (&json!(1), &json!("complete")), "{end}");
    assert_eq!(end["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1, "{end}");
}

/// Opens an HTTP+SSE stream, and returns the path for POSTs.
async fn old_line(address: SocketAddr) -> (RawConnection, String) {
    let (line, first) = stream(address, kept("GET", "/sse", &[], ""), 1).await;
    (line, data(&first).to_owned())
}

#[tokio::test]
async fn streams_with_nothing_under_way_end_at_once_and_cleanly() {
    let (address, running, server) = start(Fixture::new().0, options(HANG * 10)).await;
    let session = session(address).await;
    let own = kept("GET", "/mcp", &[("mcp-session-id", &session)], "");
    let (own, _) = stream(address, own, 0).await;
    let (old, _) = old_line(address).await;
    let headers = [headers_of("subscriptions/listen", ""), vec![JSON]].concat();
    let (mut listening, first) = stream(address, kept("POST", "/mcp", &headers, &listen()), 1).await;
    assert_eq!(message(&first)["method"], "notifications/subscriptions/acknowledged");
    let (mut line, path) = old_line(address).await;
    assert_eq!(posted(address, &path, &[], &listen()).await, 202);
    let first = message(&line.hear_chunk().await.unwrap());
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    running.send(Shutdown::Drain).unwrap();
    is_over(&message(&listening.hear_chunk().await.expect("a result")));
    is_over(&message(&line.hear_chunk().await.expect("a result")));
    for talk in [own, old, listening, line] {
        ends(talk).await;
    }
    stopped(server).await;
}

#[tokio::test]
async fn streams_of_a_session_live_as_long_as_its_calls() {
    let (fixture, mut told) = Fixture::new();
    let (address, running, server) = start(fixture.clone(), options(HANG * 10)).await;
    let session = session(address).await;
    let named = ("mcp-session-id", session.as_str());
    let (mut own, _) = stream(address, kept("GET", "/mcp", &[named], ""), 0).await;
    let never = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"never"}}"#;
    let (call, _) = stream(address, kept("POST", "/mcp", &[named, JSON], never), 1).await;
    assert_eq!(told.recv().await.as_deref(), Some("began"));
    running.send(Shutdown::Drain).unwrap();
    // A new connection sees that the server drains; existing streams still get events.
    let mut late = RawConnection::to(address).await;
    late.say(kept("GET", "/readyz", &[], "")).await;
    assert_eq!(late.hear().await.status, 503);
    fixture.changes.send("notifications/tools/list_changed").unwrap();
    assert_eq!(message(&own.hear_chunk().await.unwrap())["method"], "notifications/tools/list_changed");
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    assert_eq!(posted(address, "/mcp", &[named], cancel).await, 202);
    ends(call).await;
    ends(own).await;
    stopped(server).await;
}

#[tokio::test]
async fn an_old_line_gets_the_last_answer_before_it_ends() {
    let (fixture, _told) = Fixture::new();
    let (address, running, server) = start(fixture.clone(), options(HANG * 10)).await;
    let (mut line, path) = old_line(address).await;
    assert_eq!(posted(address, &path, &[], INITIALIZE).await, 202);
    assert_eq!(message(&line.hear_chunk().await.unwrap())["id"], 0);
    let before = fixture.changes.receiver_count();
    let wait = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}"#;
    assert_eq!(posted(address, &path, &[], wait).await, 202);
    assert_eq!(fixture.changes.receiver_count(), before + 1);
    running.send(Shutdown::Drain).unwrap();
    let mut late = RawConnection::to(address).await;
    late.say(kept("GET", "/readyz", &[], "")).await;
    assert_eq!(late.hear().await.status, 503);
    fixture.changes.send("notifications/tools/list_changed").unwrap();
    let mut last = message(&line.hear_chunk().await.unwrap());
    if last["id"] != 1 {
        last = message(&line.hear_chunk().await.unwrap());
    }
    assert_eq!(last["result"]["content"][0]["text"], "waited", "{last}");
    ends(line).await;
    stopped(server).await;
}

/// Reports progress if the call has a token, and never ends.
struct Endless;

impl Handler for Endless {
    fn call(&self, call: Call) -> Reply {
        let params: Value = call.params.as_ref().and_then(|raw| raw.decode().ok()).unwrap_or_default();
        match call.method.as_ref() {
            method::TOOLS_CALL if params["_meta"]["progressToken"].is_null() => Reply::new(stream::pending()),
            method::TOOLS_CALL => {
                let told = json!({"progressToken": 1, "progress": 1});
                let told = Part::Notification(Notification::new(method::PROGRESS, Some(told.into())));
                Reply::new(stream::iter([told]).chain(stream::pending()))
            }
            method::TOOLS_LIST => Reply::ready(Ok(json!({"tools": []}).into())),
            _ => Reply::ready(Ok(Raw::null())),
        }
    }
}

#[tokio::test]
async fn what_does_not_end_in_time_is_told_that_it_was_cut_off() {
    let (address, running, server) = start(Arc::new(Endless), options(Duration::from_millis(300))).await;
    let headers = [headers_of("tools/call", "any"), vec![JSON]].concat();
    let call = modern("tools/call", r#""name":"any""#);
    let telling = call.replace(r#""_meta":{"#, r#""_meta":{"progressToken":1,"#);
    let (mut telling, _) = stream(address, kept("POST", "/mcp", &headers, &telling), 1).await;
    let mut silent = RawConnection::to(address).await;
    silent.say(kept("POST", "/mcp", &headers, &call)).await;
    // When this later request is answered, the first one is in flight.
    let mut other = RawConnection::to(address).await;
    other.say(kept("GET", "/healthz", &[], "")).await;
    assert_eq!(other.hear().await.status, 200);
    running.send(Shutdown::Drain).unwrap();
    let end = message(&telling.hear_chunk().await.expect("an error"));
    assert!(end["id"] == 1 && end["error"]["message"].as_str().unwrap().contains("stopped"), "{end}");
    ends(telling).await;
    let heard = silent.hear().await;
    assert_eq!((heard.status, heard.header("connection").as_deref()), (500, Some("close")), "{heard:?}");
    assert!(heard.json()["error"]["message"].as_str().unwrap().contains("stopped"), "{heard:?}");
    assert!(silent.rest().await.is_empty());
    stopped(server).await;
}

/// The handler may need the place of an idle session. Its client hears of changes again once it
/// sends something, and is told that it may have missed some.
#[tokio::test]
async fn l04_a_session_whose_subscription_gave_way_listens_again_when_it_is_used() {
    let (fixture, _seen) = Fixture::new();
    let (address, stop, server) = start(Arc::clone(&fixture), options(Duration::from_millis(1))).await;
    let session = session(address).await;
    let headers = [("mcp-session-id", session.as_str()), ("accept", "text/event-stream")];
    let mut talk = RawConnection::to(address).await;
    talk.say(kept("GET", "/mcp", &headers, "")).await;
    talk.hear_head().await;
    let listeners = async |count: usize| {
        let wait = async {
            while fixture.changes.receiver_count() != count {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(HANG, wait).await.expect("the number of listeners");
    };
    // One of them is the server's own listener.
    listeners(2).await;
    fixture.changes.send(GIVE_UP).unwrap();
    listeners(0).await;
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    assert_eq!(posted(address, "/mcp", &headers[..1], ping).await, 200);
    let mut told = String::new();
    while !told.contains("resources/list_changed") {
        told.push_str(str::from_utf8(&talk.hear_chunk().await.expect("a chunk")).unwrap());
    }
    assert!(told.contains("tools/list_changed"), "{told}");
    stop.send(Shutdown::Now).unwrap();
    drop(talk);
    stopped(server).await;
}
