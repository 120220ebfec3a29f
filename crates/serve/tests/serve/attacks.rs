//! Attacks on the server. Each test name starts with the attack's id in `docs/attacks.md`.

use crate::support::{
    Fixture, start,
    wire::{HANG, INITIALIZE, headers_of, modern, open_session, post, request, send},
};
use ::http::HeaderMap;
use serde_json::json;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{mpsc::UnboundedReceiver, watch},
};
use trunkline_protocol::Caller;
use trunkline_serve::{Admission, Denied, Guard, Limits, Peer, ServeOptions, Shutdown};

struct Served {
    address: SocketAddr,
    fixture: Arc<Fixture>,
    dropped: UnboundedReceiver<String>,
    _running: watch::Sender<Shutdown>,
}

async fn served(options: ServeOptions) -> Served {
    let (fixture, dropped) = Fixture::new();
    let (address, running, _server) = start(fixture.clone(), options).await;
    Served { address, fixture, dropped, _running: running }
}

/// A server whose callers send their id in the `Authorization` header; the id `bad` is refused.
async fn gated(limits: Limits) -> Served {
    let gate = |headers: &HeaderMap, _: &Peer| {
        let token = headers.get("authorization").and_then(|value| value.to_str().ok());
        let id = token.and_then(|token| token.strip_prefix("Bearer ")).filter(|id| *id != "bad");
        let caller = |id: &str| Caller::named(id);
        let verdict = id.map(|id| Arc::new(caller(id))).ok_or_else(|| Denied {
            status: 401,
            message: "who are you?".to_owned(),
            challenge: Some("Bearer".parse().unwrap()),
            retry_after: None,
        });
        // Covers both kinds of gate: immediate and asynchronous.
        if id.is_some_and(|id| id.starts_with('a')) {
            Admission::Now(verdict)
        } else {
            Admission::Later(Box::pin(async move {
                tokio::task::yield_now().await;
                verdict
            }))
        }
    };
    let guard = Guard { gate: Some(Arc::new(gate)), ..Guard::default() };
    served(ServeOptions { guard, limits, ..ServeOptions::default() }).await
}

/// The next report of the tool `never`.
async fn told(served: &mut Served) -> String {
    tokio::time::timeout(HANG, served.dropped.recv()).await.expect("it is told").expect("the server runs")
}

async fn still_works(address: SocketAddr) {
    let heard = post(address, &headers_of("tools/list", ""), &modern("tools/list", "")).await;
    assert_eq!(heard.status, 200, "{heard:?}");
}

#[tokio::test]
async fn j01_what_is_not_json_is_refused_and_the_next_request_answered() {
    let served = served(ServeOptions::default()).await;
    for bad in ["", "{", "nonsense", "\u{feff}{}", r#"{"jsonrpc":"2.0","id":1,"meth"#] {
        let heard = post(served.address, &[], bad).await;
        assert_eq!((heard.status, heard.code()), (400, -32700), "{bad}");
    }
    still_works(served.address).await;
}

#[tokio::test]
async fn j02_batches_are_for_one_revision_and_of_a_hundred_at_most() {
    let served = served(ServeOptions::default()).await;
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let session = open_session(served.address, &[]).await;
    let heard = post(served.address, &[("mcp-session-id", &session)], &format!("[{ping}]")).await;
    assert_eq!((heard.status, heard.code()), (400, -32600));
    let old = INITIALIZE.replace("2025-11-25", "2025-03-26");
    let session = post(served.address, &[], &old).await.header("mcp-session-id").unwrap();
    let headers = [("mcp-session-id", session.as_str())];
    let call = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}"#;
    let heard = post(served.address, &headers, &format!("[{ping},{call},7]")).await.json();
    assert_eq!((heard[0]["id"].as_i64(), heard[1]["id"].as_str()), (Some(7), Some("c")));
    assert_eq!(heard[2]["error"]["code"], -32600);
    let many = format!("[{}]", vec![ping; 101].join(","));
    assert_eq!(post(served.address, &headers, &many).await.code(), -32600);
}

#[tokio::test]
async fn j03_j04_ids_are_refused_or_come_back_as_they_were() {
    let served = served(ServeOptions::default()).await;
    let headers = headers_of("tools/list", "");
    for bad in ["null", "true", "{}", "1.5"] {
        let body = modern("tools/list", "").replace("\"id\":1", &format!("\"id\":{bad}"));
        assert_eq!(post(served.address, &headers, &body).await.code(), -32600, "{bad}");
    }
    for good in ["1.0", "123456789012345678901234567890", "\"\\u0007\"", "-7"] {
        let body = modern("tools/list", "").replace("\"id\":1", &format!("\"id\":{good}"));
        let heard = post(served.address, &headers, &body).await;
        assert!(heard.body.contains(&format!("\"id\":{good}")), "{good}: {heard:?}");
    }
    let long = modern("tools/list", "").replace("\"id\":1", &format!("\"id\":\"{}\"", "x".repeat(1_000_000)));
    assert_eq!(post(served.address, &headers, &long).await.code(), -32600);
}

#[tokio::test]
async fn j05_j06_two_meanings_and_deep_nesting_are_refused() {
    let served = served(ServeOptions::default()).await;
    for bad in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"Method":"ping"}"#,
    ] {
        let heard = post(served.address, &[], bad).await;
        assert_eq!((heard.status, heard.code()), (400, -32600), "{bad}");
    }
    for depth in [129, 20_000, 1_000_000] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}"#, "[".repeat(depth));
        assert_eq!(post(served.address, &[], &body).await.code(), -32700, "{depth}");
    }
}

#[tokio::test]
async fn j08_numbers_of_any_size_reach_the_tool_and_come_back() {
    let served = served(ServeOptions::default()).await;
    let params = r#""name":"echo","arguments":{"text":"x","n":9007199254740993,"huge":1e400}"#;
    let mut headers = headers_of("tools/call", "echo");
    headers.push(("mcp-param-text", "x"));
    assert_eq!(post(served.address, &headers, &modern("tools/call", params)).await.status, 200);
}

#[tokio::test]
async fn h01_h02_h03_browsers_cannot_be_made_to_call_us() {
    let served = served(ServeOptions::default()).await;
    let body = modern("tools/list", "");
    let own = format!("http://{}", served.address);
    let cases: [(&[(&str, &str)], u16); 6] = [
        (&[("host", "evil.example.com")], 403),
        (&[("origin", "http://evil.example.com")], 403),
        (&[("origin", "null")], 403),
        (&[("content-type", "text/plain")], 415),
        (&[("content-type", "application/x-www-form-urlencoded")], 415),
        (&[("origin", &own)], 200),
    ];
    for (extra, status) in cases {
        let headers = [headers_of("tools/list", "").as_slice(), extra].concat();
        assert_eq!(post(served.address, &headers, &body).await.status, status, "{extra:?}");
    }
    let preflight = request("OPTIONS", "/mcp", served.address, &[("origin", "http://evil.example.com")], "");
    let heard = send(served.address, &preflight).await;
    assert_eq!((heard.status, heard.header("access-control-allow-origin")), (403, None));
}

#[tokio::test]
async fn h06_h07_large_compressed_and_slow_bodies_are_refused() {
    let limits = Limits { body: 1000, body_timeout: Duration::from_millis(200), ..Limits::default() };
    let served = served(ServeOptions { limits, ..ServeOptions::default() }).await;
    assert_eq!(post(served.address, &[], &" ".repeat(1001)).await.status, 413);
    assert_eq!(post(served.address, &[("content-encoding", "gzip")], "x").await.status, 415);
    let mut slow = request("POST", "/mcp", served.address, &[], "{}");
    slow.truncate(slow.len() - 1);
    assert_eq!(send(served.address, &slow).await.status, 408);
}

#[tokio::test]
async fn h08_a_head_that_never_ends_does_not_hold_a_connection() {
    let limits = Limits { header_timeout: Duration::from_millis(200), ..Limits::default() };
    let served = served(ServeOptions { limits, ..ServeOptions::default() }).await;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream.write_all(b"POST /mcp HTTP/1.1\r\nhost: ").await.unwrap();
    let mut rest = Vec::new();
    tokio::time::timeout(HANG, stream.read_to_end(&mut rest)).await.expect("the server hangs up").ok();
}

/// The number of silent connections.
const SLOW: usize = 2000;

/// Raises the limit of open files; true if that worked.
fn may_open(files: u64) -> bool {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= files) {
        return true;
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum: limit.maximum }).is_ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h08_two_thousand_heads_that_never_end_do_not_keep_others_out() {
    // Both ends of each connection are in this process, which needs other files, too.
    if !may_open(3 * SLOW as u64) {
        eprintln!("SKIPPED h08 at {SLOW} connections: this machine does not allow so many open files");
        return;
    }
    // Without eviction, they would hold all slots for longer than the test's timeout.
    let limits = Limits { header_timeout: HANG * 4, connections: SLOW / 2, ..Limits::default() };
    let served = served(ServeOptions { limits, ..ServeOptions::default() }).await;
    let address = served.address;
    let mut slow = tokio::task::JoinSet::new();
    for _ in 0..SLOW {
        slow.spawn(async move {
            let mut stream = TcpStream::connect(address).await.ok()?;
            stream.write_all(b"POST /mcp HTTP/1.1\r\nhost: ").await.ok()?;
            Some(stream)
        });
    }
    let held: Vec<_> = slow.join_all().await.into_iter().flatten().collect();
    assert!(held.len() > SLOW / 2, "{} connections were made", held.len());
    for _ in 0..20 {
        still_works(address).await;
    }
    drop(held);
}

/// The attacker's name server: its first answer is the attacker's address, all later ones are
/// ours.
struct Rebinding {
    theirs: SocketAddr,
    ours: SocketAddr,
    asked: usize,
}

impl Rebinding {
    fn resolve(&mut self) -> SocketAddr {
        self.asked += 1;
        if self.asked == 1 { self.theirs } else { self.ours }
    }
}

#[tokio::test]
async fn h04_a_name_that_turns_to_us_is_not_ours() {
    let served = served(ServeOptions::default()).await;
    let port = served.address.port();
    // A browser keeps the page's port, so the attacker serves it at the same port of another
    // address.
    let page = tokio::net::TcpListener::bind(("127.0.0.2", port)).await.unwrap();
    let mut names = Rebinding { theirs: page.local_addr().unwrap(), ours: served.address, asked: 0 };
    tokio::spawn(async move {
        let (mut stream, _) = page.accept().await.unwrap();
        stream.read_u8().await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n<script>").await.unwrap();
    });
    let host = format!("evil.example:{port}");
    let own_origin = format!("http://{host}");
    let body = modern("tools/list", "");
    let visit = |to: SocketAddr, method: &str, origin: Option<&str>| {
        let mut headers = headers_of("tools/list", "");
        headers.push(("host", &host));
        headers.extend(origin.map(|origin| ("origin", origin)));
        let body = if method == "POST" { body.as_str() } else { "" };
        let request = request(method, "/mcp", to, &headers, body);
        async move { send(to, &request).await }
    };
    let first = visit(names.resolve(), "GET", None).await;
    assert!(first.status == 200 && first.body.contains("<script>"), "{first:?}");
    // To the browser this is still the same origin, so it sends no preflight before a POST, and no
    // `Origin` with a GET.
    for (method, origin) in
        [("POST", Some(own_origin.as_str())), ("POST", None), ("GET", None), ("DELETE", None)]
    {
        let heard = visit(names.resolve(), method, origin).await;
        assert_eq!(heard.status, 403, "{method} {origin:?}: {heard:?}");
        assert!(!heard.body.contains("echo"), "{heard:?}");
    }
    still_works(served.address).await;
}

#[tokio::test]
async fn h10_ambiguous_framing_is_refused() {
    let served = served(ServeOptions::default()).await;
    let host = served.address;
    let many = format!("POST /mcp HTTP/1.1\r\nhost: {host}\r\n{}\r\n", "x: y\r\n".repeat(2000));
    let large = format!("POST /mcp HTTP/1.1\r\nhost: {host}\r\nx: {}\r\n\r\n", "y".repeat(1_000_000));
    let folded = format!("POST /mcp HTTP/1.1\r\nhost: {host}\r\nx: a\r\n b\r\ncontent-length: 0\r\n\r\n");
    let lengths =
        format!("POST /mcp HTTP/1.1\r\nhost: {host}\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{{}}");
    for bad in [many, large, folded, lengths] {
        let status = send(served.address, bad.as_bytes()).await.status;
        assert!(matches!(status, 400 | 431), "{status}: {}", &bad[..80]);
    }
    still_works(served.address).await;
}

#[tokio::test]
async fn h12_h13_headers_that_differ_from_the_body_are_refused() {
    let served = served(ServeOptions::default()).await;
    let call = |name: &str| modern("tools/call", &format!(r#""name":"{name}","arguments":{{"text":"hi"}}"#));
    let good = [headers_of("tools/call", "echo").as_slice(), &[("mcp-param-text", "hi")]].concat();
    assert_eq!(post(served.address, &good, &call("echo")).await.status, 200);
    let without = |name: &str| good.iter().copied().filter(|(key, _)| *key != name).collect::<Vec<_>>();
    let with = |name: &'static str, value: &'static str| [without(name), vec![(name, value)]].concat();
    for bad in [
        without("mcp-protocol-version"),
        without("mcp-method"),
        without("mcp-name"),
        without("mcp-param-text"),
        with("mcp-method", "tools/list"),
        with("mcp-method", "TOOLS/CALL"),
        with("mcp-name", "other"),
        with("mcp-param-text", "ho"),
        with("mcp-param-text", "=?base64?!!!?="),
        with("mcp-protocol-version", "2025-11-25"),
        [good.clone(), vec![("mcp-name", "echo")]].concat(),
    ] {
        let heard = post(served.address, &bad, &call("echo")).await;
        assert_eq!((heard.status, heard.code()), (400, -32020), "{bad:?}");
    }
    let sealed = with("mcp-param-text", "=?base64?aGk=?=");
    assert_eq!(post(served.address, &sealed, &call("echo")).await.status, 200);
    let unknown = call("echo").replace("2026-07-28", "2099-01-01");
    let heard = post(served.address, &with("mcp-protocol-version", "2099-01-01"), &unknown).await;
    assert_eq!((heard.status, heard.code()), (400, -32022));
    assert_eq!(heard.json()["error"]["data"]["supported"][0], "2026-07-28");
}

#[tokio::test]
async fn h14_a_modern_client_that_vanishes_cancels_its_call() {
    let mut served = served(ServeOptions::default()).await;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    let body = modern("tools/call", r#""name":"never""#);
    let request = request("POST", "/mcp", served.address, &headers_of("tools/call", "never"), &body);
    stream.write_all(&request).await.unwrap();
    assert_eq!(told(&mut served).await, "began");
    drop(stream);
    assert_eq!(told(&mut served).await, "never");
    still_works(served.address).await;
}

#[tokio::test]
async fn h14_a_legacy_client_that_vanishes_does_not_cancel_its_call() {
    let mut served = served(ServeOptions::default()).await;
    let session = open_session(served.address, &[]).await;
    let headers = [("mcp-session-id", session.as_str())];
    let body = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"never"}}"#;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream.write_all(&request("POST", "/mcp", served.address, &headers, body)).await.unwrap();
    assert_eq!(told(&mut served).await, "began");
    drop(stream);
    // The server sees the closed connection before it reads the next request.
    still_works(served.address).await;
    assert!(served.dropped.try_recv().is_err());
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#;
    assert_eq!(post(served.address, &headers, cancel).await.status, 202);
    assert_eq!(told(&mut served).await, "never");
}

#[tokio::test]
async fn m01_a_legacy_client_must_introduce_itself_once() {
    let served = served(ServeOptions::default()).await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert_eq!(post(served.address, &[], list).await.status, 400);
    let session = open_session(served.address, &[]).await;
    let headers = [("mcp-session-id", session.as_str())];
    assert_eq!(post(served.address, &headers, list).await.status, 200);
    let delete = request("DELETE", "/mcp", served.address, &headers, "");
    assert_eq!(send(served.address, &delete).await.status, 204);
    assert_eq!(post(served.address, &headers, list).await.status, 404);
    assert_eq!(send(served.address, &delete).await.status, 404);
}

#[tokio::test]
async fn m02_a_modern_request_is_modern_whatever_session_it_names() {
    let served = served(ServeOptions::default()).await;
    let session = open_session(served.address, &[]).await;
    for session in [session.as_str(), "made-up"] {
        let mut headers = headers_of("tools/list", "");
        headers.push(("mcp-session-id", session));
        let heard = post(served.address, &headers, &modern("tools/list", "")).await;
        assert_eq!(
            (heard.status, &heard.json()["result"]["resultType"]),
            (200, &json!("complete")),
            "{heard:?}"
        );
    }
    // A modern version header does not make a legacy body modern.
    let legacy = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let heard = post(served.address, &headers_of("tools/list", ""), legacy).await;
    assert_eq!(heard.status, 400, "{heard:?}");
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let heard = post(served.address, &headers, legacy).await;
    assert!(heard.json()["result"]["tools"].is_array(), "{heard:?}");
}

#[tokio::test]
async fn m04_m05_a_second_request_of_an_id_is_refused_and_odd_cancels_ignored() {
    let mut served = served(ServeOptions::default()).await;
    let session = open_session(served.address, &[]).await;
    let headers = [("mcp-session-id", session.as_str())];
    let never = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"never"}}"#;
    let mut first = TcpStream::connect(served.address).await.unwrap();
    first.write_all(&request("POST", "/mcp", served.address, &headers, never)).await.unwrap();
    assert_eq!(told(&mut served).await, "began");
    assert_eq!(post(served.address, &headers, never).await.json()["error"]["code"], -32602);
    for id in ["\"9\"", "77", "null", "{}"] {
        let cancel = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        );
        assert_eq!(post(served.address, &headers, &cancel).await.status, 202);
    }
    assert!(served.dropped.try_recv().is_err());
}

#[tokio::test]
async fn s01_s02_a_session_is_its_owners_alone() {
    let served = gated(Limits::default()).await;
    let alice = ("authorization", "Bearer alice");
    let session = open_session(served.address, &[alice]).await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let with = |who| [("mcp-session-id", session.as_str()), ("authorization", who)];
    assert_eq!(post(served.address, &with("Bearer alice"), list).await.status, 200);
    for method in ["POST", "GET", "DELETE"] {
        let heard =
            send(served.address, &request(method, "/mcp", served.address, &with("Bearer bob"), list)).await;
        assert_eq!(heard.status, 404, "{method}");
        let heard =
            send(served.address, &request(method, "/mcp", served.address, &with("Bearer bad"), list)).await;
        assert_eq!(
            (heard.status, heard.header("www-authenticate").as_deref()),
            (401, Some("Bearer")),
            "{method}"
        );
    }
    assert_eq!(post(served.address, &with("Bearer alice"), list).await.status, 200);
    let chosen = [("mcp-session-id", "i-chose-this"), alice];
    let heard = post(served.address, &chosen, INITIALIZE).await;
    assert_ne!(heard.header("mcp-session-id").as_deref(), Some("i-chose-this"));
}

#[tokio::test]
async fn s06_sessions_are_bounded() {
    let served = served(ServeOptions {
        limits: Limits { sessions: 3, ..Limits::default() },
        ..ServeOptions::default()
    })
    .await;
    for _ in 0..3 {
        open_session(served.address, &[]).await;
    }
    assert_eq!(post(served.address, &[], INITIALIZE).await.status, 503);
    let broken = INITIALIZE.replace("protocolVersion", "version");
    assert_eq!(post(served.address, &[], &broken).await.status, 400);
    still_works(served.address).await;
}

#[tokio::test]
async fn a12_what_is_about_us_is_not_for_strangers() {
    let served = gated(Limits::default()).await;
    let get = |path: &str, headers: &[(&str, &str)]| request("GET", path, served.address, headers, "");
    assert_eq!(send(served.address, &get("/metrics", &[])).await.status, 401);
    let heard = send(served.address, &get("/metrics", &[("authorization", "Bearer alice")])).await;
    assert!(heard.status == 200 && heard.body.contains("trunkline_calls_total"), "{heard:?}");
    assert_eq!(send(served.address, &get("/healthz", &[])).await.status, 200);
    assert_eq!(send(served.address, &get("/readyz", &[])).await.status, 200);
    assert_eq!(served.fixture.changes.receiver_count(), 1);
}
