//! Large, slow and many requests at every endpoint beside MCP, through the real binary.

use crate::{
    processes,
    rest::{JSON, Rest, body_of, code},
    site::{HANG, Site},
    wire::Wire,
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

/// Budget of messages in flight.
const BUDGET: usize = 32 * 1024 * 1024;
/// Answers that nobody reads, and their size; together they are many times the budget.
const UNREAD: usize = 24;
const LARGE: usize = 8 * 1024 * 1024;
/// Memory beside the budget, in KiB.
const BESIDE_KIB: u64 = 80 * 1024;
/// A depth that overflows the stack of a parser without a limit.
const DEPTH: usize = 200_000;
/// Limit of a body in the tests of large and slow ones.
const BODY_LIMIT: usize = 64 * 1024;

/// Sends a request, and reads nothing of the answer but its status.
async fn begin(door: &str, what: &str, more: &str, body: &str) -> (TcpStream, u16) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(door.parse().unwrap()).await.unwrap();
    let request = format!("{what} HTTP/1.1\r\nHost: {door}\r\n{more}\r\n{body}");
    // It fails if the gateway refuses the request and closes the connection.
    timeout(HANG, stream.write_all(request.as_bytes())).await.unwrap().ok();
    let mut line = [0; 12];
    timeout(HANG, stream.read_exact(&mut line)).await.unwrap().unwrap_or_else(|e| panic!("{what}: {e}"));
    (stream, String::from_utf8_lossy(&line[9..]).parse().unwrap())
}

/// The headers of a request with this body.
fn of_length(length: usize, more: &str) -> String {
    format!("{JSON}{more}Content-Length: {length}\r\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l05_answers_of_rest_that_are_not_read_share_the_memory_budget() {
    let site = Site::new("unread-rest");
    let servers = json!({"good": site.echo("good", "modern"), "other": site.echo("other", "modern")});
    site.configure(&json!({"mcp": {"servers": servers}, "limits": {"memoryBytes": BUDGET}}));
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let id = rest.start("good_large", &json!({"bytes": LARGE})).await;
    assert_eq!(rest.reaches(&id, &["done", "failed"]).await["state"], "done");
    let before = processes::resident_kib(door.pid());
    let body = json!({"params": {"bytes": LARGE}}).to_string();
    let post = of_length(body.len(), "");
    let streamed = of_length(body.len(), "Accept: text/event-stream\r\n");
    let (execute, kept) =
        ("POST /mcp/tools/good_large/execute".to_owned(), format!("GET /mcp/executions/{id}"));
    // A stream has its status before the result, and says in an event that there is no memory.
    for (what, headers, body, refused_with) in [
        (&execute, post.as_str(), body.as_str(), Some(503)),
        (&execute, streamed.as_str(), body.as_str(), None),
        (&kept, "", "", Some(503)),
        (&format!("{kept}/events"), "", "", None),
    ] {
        let mut open = Vec::new();
        for _ in 0..UNREAD {
            open.push(begin(&door.address, what, headers, body).await);
        }
        let statuses: Vec<u16> = open.iter().map(|(_, status)| *status).collect();
        assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{what}: {statuses:?}");
        if let Some(refused) = refused_with {
            assert!(statuses.contains(&refused), "{what}: nothing was refused: {statuses:?}");
        }
        let now = processes::resident_kib(door.pid());
        let most = before + (BUDGET / 1024) as u64 + BESIDE_KIB;
        assert!(now < most, "{what}: {before} KiB became {now} KiB");
        let (small, told) = rest.execute("other_echo", &json!({"params": {"text": "small"}})).await;
        assert_eq!(small.status, 200, "{what} {headers}: {told}");
        drop(open);
        // The memory is free again once the gateway has seen that the clients are gone.
        let mut answer = rest.get(&format!("/mcp/executions/{id}")).await;
        while answer.status == 503 {
            assert_eq!(
                (code(&body_of(&answer)), answer.header("retry-after")),
                ("RATE_LIMIT_ERROR", Some("1"))
            );
            answer = rest.get(&format!("/mcp/executions/{id}")).await;
        }
        assert_eq!(answer.status, 200, "{what}");
    }
    door.stop().await;
}

/// A site with one key, an operator and a caller that signs in at a server, with short limits.
fn strict(name: &str) -> (Site, String) {
    let site = Site::new(name);
    site.configure(&json!({
        "mcp": {"servers": {"good": site.echo("good", "modern")}},
        "roles": {"user": {"allow": ["*"]}, "chief": {"allow": ["*"], "operate": true}},
        "auth": {"keys": site.path("keys.json")},
        "limits": {"bodyBytes": BODY_LIMIT, "bodyTimeout": "500ms"},
    }));
    let key = site.keys(&[("ada", &["chief"])]).remove(0).token;
    (site, key)
}

/// Every path beside MCP that takes a POST; those without a limit of their own do not read bodies.
fn posts(id: &str) -> [(String, Body); 6] {
    [
        ("/mcp/tools/good_echo/execute".to_owned(), Body::Read),
        ("/mcp/server/good/tools/echo/execute".to_owned(), Body::Read),
        (format!("/mcp/executions/{id}/answer"), Body::Read),
        ("/control/approvals".to_owned(), Body::Ignored),
        ("/control/approvals/ap-1/approve?for=caller".to_owned(), Body::Ignored),
        ("/login/callback".to_owned(), Body::Ignored),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Read,
    Ignored,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h07_h08_large_and_slow_bodies_are_refused_at_every_endpoint() {
    let (site, key) = strict("large-and-slow");
    let mut door = site.open();
    let mut rest = Rest::at(&door, Some(&key)).await;
    let id = rest.start("good_ask", &json!({})).await;
    rest.reaches(&id, &["waiting"]).await;
    let bearer = format!("Authorization: Bearer {key}\r\n");
    for (path, body) in posts(&id) {
        let what = format!("POST {path}");
        let (large, slow) = (of_length(1 << 30, &bearer), of_length(1000, &bearer));
        let chunked = format!("{JSON}{bearer}Transfer-Encoding: chunked\r\n");
        let endless = format!("{:x}\r\n{}\r\n", BODY_LIMIT + 1, " ".repeat(BODY_LIMIT + 1));
        for (kind, headers, sent, refused) in [
            ("large", &large, "{", 413),
            ("chunked", &chunked, endless.as_str(), 413),
            ("slow", &slow, "{", 408),
        ] {
            let (mut stream, status) = begin(&door.address, &what, headers, sent).await;
            match body {
                Body::Read => assert_eq!(status, refused, "{what}: {kind}"),
                Body::Ignored => assert!((200..500).contains(&status), "{what}: {kind}: {status}"),
            }
            // The rest of the body is not taken for a request: the connection ends.
            let mut rest = Vec::new();
            timeout(HANG, stream.read_to_end(&mut rest)).await.expect("the connection ends").ok();
        }
        let (_, status) =
            begin(&door.address, &format!("POST {path}?{}", "x".repeat(200_000)), &bearer, "").await;
        assert!([414, 431].contains(&status), "{what}: {status}");
    }
    assert_eq!(rest.reaches(&id, &["waiting"]).await["question"]["message"], "Who?");
    rest.delete(&id).await;
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn j06_e02_deep_and_long_bodies_get_a_short_refusal() {
    let site = Site::of("deep-rest", |site| json!({"good": site.echo("good", "modern")}));
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let id = rest.start("good_ask", &json!({})).await;
    rest.reaches(&id, &["waiting"]).await;
    let (arrays, objects) = ("[".repeat(DEPTH), "{\"a\":".repeat(DEPTH));
    let long = format!("[{}1]", "1,".repeat(1_000_000));
    for path in ["/mcp/tools/good_echo/execute".to_owned(), format!("/mcp/executions/{id}/answer")] {
        for inner in [&arrays, &objects, &long] {
            for member in ["params", "context", "mode", "content", "question", "action", &"n".repeat(100_000)]
            {
                let body = format!("{{\"{member}\":{inner}}}");
                let answer = rest.wire.send(&format!("POST {path}"), JSON, &body).await.unwrap();
                let text = answer.text();
                assert_eq!(answer.status, 400, "{path} {member:.10}: {text:.200}");
                assert!(text.len() < 8192, "{path} {member:.10}: {} bytes came back", text.len());
            }
        }
    }
    rest.delete(&id).await;
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s07_requests_of_one_caller_that_wait_for_executions_leave_connections_to_others() {
    let site = Site::new("watches");
    site.configure(&json!({
        "mcp": {"servers": {"good": site.echo("good", "modern")}},
        "auth": {"keys": site.path("keys.json")},
        "limits": {"connections": 16},
    }));
    let keys = site.keys(&[("hog", &[]), ("ada", &[])]);
    let mut door = site.open();
    let mut hog = Rest::at(&door, Some(&keys[0].token)).await;
    let mut ada = Rest::at(&door, Some(&keys[1].token)).await;
    let (log, never) = (site.path("log"), json!({"text": "x", "path": site.path("never")}));
    let id = hog.start("good_gate", &never).await;
    let follow = format!("GET /mcp/executions/{id}/events");
    let mut open = Vec::new();
    loop {
        let mut wire = Wire::open(&door.address).await.unwrap();
        let answer = wire.begin(&follow, &hog.headers(""), "").await.unwrap();
        if answer.status != 200 {
            assert_eq!((answer.status, answer.header("retry-after")), (429, Some("1")));
            break;
        }
        open.push(wire);
    }
    assert_eq!(open.len(), 4, "a quarter of the connections");
    assert_eq!(hog.get(&format!("/mcp/executions/{id}?wait=60")).await.status, 429);
    let once = json!({"params": {"text": "x", "path": site.path("trunkline.json"), "log": log}});
    for mode in ["", "Accept: text/event-stream\r\n"] {
        let keyed = format!("Idempotency-Key: k\r\n{mode}");
        let (refused, body) = hog.post("/mcp/tools/good_gate/execute", &keyed, &once).await;
        assert_eq!((refused.status, code(&body)), (429, "RATE_LIMIT_ERROR"), "{body}");
    }
    assert!(!log.exists(), "a refused call has not run");
    // Requests that do not wait are answered, and so are those of others.
    assert_eq!(hog.get(&format!("/mcp/executions/{id}")).await.status, 200);
    assert_eq!(hog.execute("good_echo", &json!({"params": {"text": "x"}})).await.0.status, 200);
    let others = ada.start("good_nap", &json!({"ms": 10})).await;
    assert_eq!(body_of(&ada.get(&format!("/mcp/executions/{others}?wait=60")).await)["state"], "done");
    open.pop();
    let mut status = 429;
    while status == 429 {
        let mut wire = Wire::open(&door.address).await.unwrap();
        status = wire.begin(&follow, &hog.headers(""), "").await.unwrap().status;
    }
    assert_eq!(status, 200, "its connections count only while they wait");
    drop(open);
    hog.delete(&id).await;
    door.stop().await;
}
