//! Ends of connections: disconnects during a call, shutdown, and slow readers.

use crate::support::{
    Fixture, start,
    wire::{HANG, HOST, INITIALIZE, RawConnection, headers_of, kept, list, modern},
};
use futures_util::stream;
use serde_json::json;
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::{Notify, watch};
use trunkline_protocol::{Call, Handler, Notification, Notify as Notice, Part, Raw, Reply, method};
use trunkline_serve::{Guard, Limits, ServeOptions, Server, Shutdown};

/// Bytes of one event of [`Flood`].
const EVENT: usize = 64 * 1024;
/// More events than the socket buffers hold.
const MANY: usize = 2000;

fn options() -> ServeOptions {
    let guard = Guard { hosts: vec![HOST.to_owned()], ..Guard::default() };
    ServeOptions { guard, ..ServeOptions::default() }
}

fn call(tool: &str) -> String {
    let mut headers = headers_of("tools/call", tool);
    headers.push(("content-type", "application/json"));
    kept("POST", "/mcp", &headers, &with_progress(&modern("tools/call", &format!(r#""name":"{tool}""#))))
}

fn with_progress(body: &str) -> String {
    body.replace(r#""_meta":{"#, r#""_meta":{"progressToken":1,"#)
}

fn listen() -> String {
    let mut headers = headers_of("subscriptions/listen", "");
    headers.push(("content-type", "application/json"));
    let body = modern("subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#);
    kept("POST", "/mcp", &headers, &body)
}

/// Yields to other tasks until the condition is true.
async fn until(so: impl Fn() -> bool) {
    let wait = async {
        while !so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(HANG, wait).await.expect("it becomes so");
}

#[tokio::test]
async fn h14_a_client_that_says_no_more_takes_its_call_back() {
    let (fixture, mut told) = Fixture::new();
    let (address, _running, _server) = start(fixture, options()).await;
    // Some clients send CRLF after a body; it is ignored.
    let next = kept("GET", "/healthz", &[], "");
    for (with_it, later) in
        [("", ""), ("\r\n", ""), ("", "\r\n"), (next.as_str(), ""), (&next[..9], &next[9..])]
    {
        let mut talk = RawConnection::to(address).await;
        talk.say([call("never"), with_it.into()].concat()).await;
        assert_eq!(told.recv().await.as_deref(), Some("began"));
        talk.say(later).await;
        talk.half_close().await;
        assert_eq!(tokio::time::timeout(HANG, told.recv()).await.unwrap().as_deref(), Some("never"));
        assert!(talk.rest().await.is_empty());
    }
}

#[tokio::test]
async fn h14_a_legacy_client_that_says_no_more_hears_the_answer_to_its_call() {
    let (fixture, _told) = Fixture::new();
    let (address, _running, _server) = start(fixture.clone(), options()).await;
    let json = ("content-type", "application/json");
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}"#;
    for (revision, batch) in [("2025-03-26", true), ("2025-06-18", false), ("2025-11-25", false)] {
        let mut talk = RawConnection::to(address).await;
        talk.say(kept("POST", "/mcp", &[json], &INITIALIZE.replace("2025-11-25", revision))).await;
        let session = talk.hear().await.header("mcp-session-id").unwrap();
        let before = fixture.changes.receiver_count();
        let body = if batch { format!("[{call}]") } else { call.to_owned() };
        talk.say(kept("POST", "/mcp", &[json, ("mcp-session-id", &session)], &body)).await;
        talk.half_close().await;
        until(|| fixture.changes.receiver_count() > before).await;
        // When this later request is answered, the server has seen the half-close.
        let mut other = RawConnection::to(address).await;
        for _ in 0..20 {
            other.say(kept("GET", "/healthz", &[], "")).await;
            assert_eq!(other.hear().await.status, 200);
        }
        fixture.changes.send("notifications/tools/list_changed").unwrap();
        let heard = talk.hear().await;
        assert!(heard.status == 200 && heard.body.contains("waited"), "{revision}: {heard:?}");
        assert!(talk.rest().await.is_empty(), "{revision}");
    }
}

#[tokio::test]
async fn h14_a_client_that_leaves_a_stream_ends_it() {
    let (fixture, _told) = Fixture::new();
    let (address, _running, _server) = start(fixture.clone(), options()).await;
    until(|| fixture.changes.receiver_count() == 1).await;
    let mut talk = RawConnection::to(address).await;
    talk.say(listen()).await;
    let head = talk.hear_head().await;
    assert_eq!(head.header("content-type").as_deref(), Some("text/event-stream"));
    assert_eq!(head.header("transfer-encoding").as_deref(), Some("chunked"));
    let first = String::from_utf8(talk.hear_chunk().await.unwrap()).unwrap();
    assert!(first.contains("acknowledged"), "{first}");
    fixture.changes.send("notifications/tools/list_changed").unwrap();
    let second = String::from_utf8(talk.hear_chunk().await.unwrap()).unwrap();
    assert!(second.contains("list_changed") && second.ends_with("\n\n"), "{second}");
    assert_eq!(fixture.changes.receiver_count(), 2);
    drop(talk);
    until(|| fixture.changes.receiver_count() == 1).await;
}

#[tokio::test]
async fn an_answer_that_becomes_a_stream_ends_and_the_next_request_is_answered() {
    let (address, _running, _server) = start(Fixture::new().0, options()).await;
    let mut talk = RawConnection::to(address).await;
    talk.say(call("progress") + &call("progress")).await;
    for _ in 0..2 {
        let heard = talk.hear().await;
        assert!(heard.header("transfer-encoding").is_some() && heard.body.contains("done"), "{heard:?}");
    }
    // HTTP/1.0 has no chunks, so the end of the connection ends the body.
    talk.say(call("progress").replace("HTTP/1.1", "HTTP/1.0\r\nconnection: keep-alive")).await;
    let head = talk.hear_head().await;
    assert_eq!(
        (head.header("transfer-encoding"), head.header("connection").as_deref()),
        (None, Some("close"))
    );
    let body = String::from_utf8(talk.rest().await).unwrap();
    assert!(body.starts_with("data: ") && body.contains("done") && body.ends_with("\n\n"), "{body}");
}

/// Answers `tools/call` when the test allows it, and `tools/list` with a flood of events.
struct Slow(Arc<State>);

#[derive(Default)]
struct State {
    began: Notify,
    go: Notify,
    made: AtomicUsize,
}

impl Handler for Slow {
    fn call(&self, call: Call) -> Reply {
        let slow = self.0.clone();
        match call.method.as_ref() {
            method::TOOLS_CALL => Reply::from_future(async move {
                slow.began.notify_one();
                slow.go.notified().await;
                Ok(json!({"content": []}).into())
            }),
            method::TOOLS_LIST if call.params.is_some_and(|params| params.member("cursor").is_some()) => {
                let flood = stream::unfold((slow, 0), |(slow, nth)| async move {
                    let part = match nth {
                        MANY => Part::Final(Ok(json!({"tools": []}).into())),
                        nth if nth > MANY => return None,
                        nth => {
                            slow.made.fetch_add(1, Ordering::Relaxed);
                            let params =
                                json!({"progressToken": 1, "progress": nth, "message": "x".repeat(EVENT)});
                            Part::Notification(Notification::new(method::PROGRESS, Some(params.into())))
                        }
                    };
                    Some((part, (slow, nth + 1)))
                });
                Reply::new(flood)
            }
            method::TOOLS_LIST => Reply::ready(Ok(json!({"tools": []}).into())),
            _ => Reply::ready(Ok(Raw::null())),
        }
    }

    fn notify(&self, _: Notice) {}
}

async fn slow() -> (Arc<State>, SocketAddr, watch::Sender<Shutdown>, tokio::task::JoinHandle<()>) {
    slow_with(options()).await
}

async fn slow_with(
    options: ServeOptions,
) -> (Arc<State>, SocketAddr, watch::Sender<Shutdown>, tokio::task::JoinHandle<()>) {
    let slow = Arc::new(State::default());
    let handler = Arc::new(Slow(slow.clone()));
    let server = Server::bind(SocketAddr::from(([127, 0, 0, 1], 0)), handler, options).await.unwrap();
    let address = server.address();
    let (tell, told) = watch::channel(Shutdown::Running);
    (slow, address, tell, tokio::spawn(server.run(told)))
}

fn flood() -> String {
    let (headers, _) = list(1);
    kept("POST", "/mcp", &headers, &with_progress(&modern("tools/list", r#""cursor":"flood""#)))
}

#[tokio::test]
async fn a_stream_waits_for_a_client_that_reads_slowly() {
    let (slow, address, _running, _server) = slow().await;
    let mut reader = RawConnection::to(address).await;
    reader.say(flood()).await;
    assert_eq!(reader.hear_head().await.status, 200);
    let mut other = RawConnection::to(address).await;
    let (headers, body) = list(2);
    // Backpressure: it produces as many events as the buffers hold, and then stops.
    let mut before = usize::MAX;
    while before != slow.made.load(Ordering::Relaxed) {
        before = slow.made.load(Ordering::Relaxed);
        for _ in 0..50 {
            other.say(kept("POST", "/mcp", &headers, &body)).await;
            assert_eq!(other.hear().await.status, 200);
        }
    }
    assert!(before < MANY, "{before} events were made for nobody");
    let mut heard = 0;
    while let Some(chunk) = reader.hear_chunk().await {
        heard += chunk.len();
    }
    assert!(heard > MANY * EVENT && slow.made.load(Ordering::Relaxed) == MANY, "{heard}");
    // The stream has ended; the connection is still usable.
    reader.say(kept("POST", "/mcp", &headers, &body)).await;
    assert_eq!(reader.hear().await.status, 200);
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_given_up() {
    let limits = Limits { write_timeout: Duration::from_millis(300), ..Limits::default() };
    let (slow, address, _running, _server) = slow_with(ServeOptions { limits, ..options() }).await;
    let mut reader = RawConnection::to(address).await;
    reader.say(flood()).await;
    until(|| slow.made.load(Ordering::Relaxed) > 0).await;
    let held = Arc::strong_count(&slow);
    until(|| Arc::strong_count(&slow) < held).await;
    assert!(slow.made.load(Ordering::Relaxed) < MANY);
}

#[tokio::test]
async fn a_client_that_reads_a_little_now_and_then_is_not_given_up() {
    let patience = Duration::from_secs(2);
    let limits = Limits { write_timeout: patience, ..Limits::default() };
    let (_slow, address, _running, _server) = slow_with(ServeOptions { limits, ..options() }).await;
    let mut reader = RawConnection::to(address).await;
    reader.say(flood()).await;
    assert_eq!(reader.hear_head().await.status, 200);
    for _ in 0..12 {
        tokio::time::sleep(patience / 8).await;
        for _ in 0..100 {
            assert!(reader.hear_chunk().await.is_some());
        }
    }
}

#[tokio::test]
async fn a_server_that_stops_finishes_what_runs_and_closes_the_rest() {
    let (slow, address, running, server) = slow().await;
    let (mut idle, mut busy, mut half) = (
        RawConnection::to(address).await,
        RawConnection::to(address).await,
        RawConnection::to(address).await,
    );
    let (headers, body) = list(1);
    let request = kept("POST", "/mcp", &headers, &body);
    for talk in [&mut idle, &mut half] {
        talk.say(&request).await;
        assert_eq!(talk.hear().await.status, 200);
    }
    half.say_cut(&request.as_bytes()[..100], &[]).await;
    busy.say(call("any") + &request).await;
    slow.began.notified().await;
    running.send(Shutdown::Drain).unwrap();
    assert!(idle.rest().await.is_empty());
    // A connection opened now gets one response.
    let mut late = RawConnection::to(address).await;
    late.say(kept("GET", "/readyz", &[], "")).await;
    let heard = late.hear().await;
    assert_eq!((heard.status, heard.header("connection").as_deref()), (503, Some("close")));
    assert!(late.rest().await.is_empty());
    half.say(&request[100..]).await;
    let heard = half.hear().await;
    assert_eq!((heard.status, heard.header("connection").as_deref()), (200, Some("close")));
    assert!(half.rest().await.is_empty());
    slow.go.notify_one();
    let heard = busy.hear().await;
    assert_eq!((heard.status, heard.header("connection").as_deref()), (200, Some("close")));
    assert!(busy.rest().await.is_empty());
    tokio::time::timeout(HANG, server).await.expect("nothing runs any more").unwrap();
}
