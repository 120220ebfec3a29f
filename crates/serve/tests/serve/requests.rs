//! Requests on a connection, byte by byte: framing, and malformed requests.

use crate::support::{
    hosted,
    wire::{HOST, RawConnection, kept, list},
};
use std::{fmt::Write as _, time::Duration};
use trunkline_serve::Limits;

fn listing(id: usize) -> String {
    let (headers, body) = list(id);
    kept("POST", "/mcp", &headers, &body)
}

async fn hears(talk: &mut RawConnection, id: usize) {
    let heard = talk.hear().await;
    assert_eq!((heard.status, heard.json()["id"].as_u64()), (200, Some(id as u64)), "{heard:?}");
}

#[tokio::test]
async fn a_request_may_be_cut_anywhere() {
    let (address, _running) = hosted(Limits::default()).await;
    let mut talk = RawConnection::to(address).await;
    let request = listing(7);
    for cut in 1..request.len() {
        talk.say_cut(request.as_bytes(), &[cut]).await;
        hears(&mut talk, 7).await;
    }
    let every: Vec<_> = (1..request.len()).collect();
    talk.say_cut(request.as_bytes(), &every).await;
    hears(&mut talk, 7).await;
}

#[tokio::test]
async fn requests_that_come_together_are_answered_in_order() {
    let (address, _running) = hosted(Limits::default()).await;
    let mut talk = RawConnection::to(address).await;
    let pair = listing(1) + &listing(2);
    for cut in 0..pair.len() {
        talk.say_cut(pair.as_bytes(), &[cut]).await;
        hears(&mut talk, 1).await;
        hears(&mut talk, 2).await;
    }
    let many: String = (0..200).map(listing).collect();
    talk.say(many).await;
    for id in 0..200 {
        hears(&mut talk, id).await;
    }
}

#[tokio::test]
async fn what_comes_during_a_call_waits_for_its_answer() {
    let (address, _running) = hosted(Limits::default()).await;
    let mut talk = RawConnection::to(address).await;
    let open = kept("GET", "/healthz", &[], "");
    talk.say(listing(1) + "\r\n" + &open).await;
    hears(&mut talk, 1).await;
    assert_eq!(talk.hear().await.body, "ok\n");
    talk.say("\r\n\r\n").await;
    talk.say(listing(2)).await;
    hears(&mut talk, 2).await;
}

/// A head with these header lines, followed by a smuggled request that must not be answered.
fn smuggling(lines: &str) -> String {
    format!("POST /mcp HTTP/1.1\r\nhost: {HOST}\r\n{lines}\r\n{}", kept("GET", "/healthz", &[], ""))
}

/// The only response to this request; the server must close the connection after it.
async fn only_answer(address: std::net::SocketAddr, request: &[u8]) -> (u16, String) {
    let mut talk = RawConnection::to(address).await;
    talk.say(request).await;
    let heard = talk.hear().await;
    assert_eq!(heard.header("connection").as_deref(), Some("close"), "{heard:?}");
    assert_eq!(talk.rest().await, b"", "{:?}", String::from_utf8_lossy(request));
    (heard.status, heard.body)
}

#[tokio::test]
async fn what_can_be_read_in_two_ways_is_refused_and_nothing_behind_it_is_read() {
    let (address, _running) = hosted(Limits::default()).await;
    for (lines, status) in [
        ("content-length: 1\r\ntransfer-encoding: chunked\r\n", 400),
        ("transfer-encoding: chunked\r\ncontent-length: 1\r\n", 400),
        ("content-length: 1\r\ncontent-length: 2\r\n", 400),
        ("content-length: 1\r\ncontent-length: 1\r\n", 400),
        ("content-length: 1, 1\r\n", 400),
        ("content-length: +1\r\n", 400),
        ("content-length: -1\r\n", 400),
        ("content-length: 0x1\r\n", 400),
        ("content-length: 1 1\r\n", 400),
        ("content-length:\r\n", 400),
        ("content-length: 18446744073709551616\r\n", 400),
        ("transfer-encoding: gzip\r\n", 501),
        ("transfer-encoding: gzip, chunked\r\n", 501),
        ("transfer-encoding: chunked, identity\r\n", 501),
        ("transfer-encoding: xchunked\r\n", 501),
        ("transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n", 501),
        ("transfer-encoding : chunked\r\n", 400),
        ("content-length : 0\r\n", 400),
        (" content-length: 0\r\n", 400),
        ("x: a\r\n b\r\n", 400),
        ("x: a\r\n\tb\r\n", 400),
        ("x: a\0b\r\n", 400),
        ("x: a\rb\r\n", 400),
        ("x: a\n", 400),
        ("x y: a\r\n", 400),
        (": a\r\n", 400),
        ("x\r\n", 400),
        ("content-length: 0\n", 400),
    ] {
        let (heard, text) = only_answer(address, smuggling(lines).as_bytes()).await;
        assert_eq!(heard, status, "{lines:?}: {text}");
    }
}

#[tokio::test]
async fn a_first_line_is_exactly_one() {
    let (address, _running) = hosted(Limits::default()).await;
    for line in [
        "GET  /healthz HTTP/1.1",
        "GET /healthz  HTTP/1.1",
        "GET /healthz HTTP/1.1 ",
        " GET /healthz HTTP/1.1",
        "GET\t/healthz HTTP/1.1",
        "GET /healthz",
        "GET /healthz HTTP/2.0",
        "GET /healthz http/1.1",
        "GET /health\0z HTTP/1.1",
        "G(T /healthz HTTP/1.1",
        "GET healthz HTTP/1.1",
        "GET * HTTP/1.1",
        "GET server.test:80 HTTP/1.1",
        "CONNECT /healthz HTTP/1.1",
        "PRI * HTTP/2.0",
    ] {
        let (status, text) = only_answer(address, format!("{line}\r\nhost: {HOST}\r\n\r\n").as_bytes()).await;
        assert_eq!(status, 400, "{line}: {text}");
    }
    let (status, _) =
        only_answer(address, format!("GET /healthz HTTP/1.1\nhost: {HOST}\n\n").as_bytes()).await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn targets_of_every_form_are_understood() {
    let (address, _running) = hosted(Limits::default()).await;
    let mut talk = RawConnection::to(address).await;
    for (method, target, status) in [
        ("GET", "/healthz", 200),
        ("GET", "/healthz?a=b", 200),
        ("GET", "http://server.test/healthz", 200),
        ("GET", "http://other.test/healthz", 403),
        ("OPTIONS", "*", 404),
        ("GET", "/%68ealthz", 404),
        ("BREW", "/healthz", 405),
    ] {
        talk.say(kept(method, target, &[], "")).await;
        assert_eq!(talk.hear().await.status, status, "{method} {target}");
    }
    // CONNECT is refused, and the connection is closed.
    talk.say(kept("CONNECT", HOST, &[], "")).await;
    let heard = talk.hear().await;
    assert!(heard.status >= 400 && heard.header("connection").as_deref() == Some("close"), "{heard:?}");
    assert!(talk.rest().await.is_empty());
}

#[tokio::test]
async fn heads_are_bounded() {
    let (address, _running) = hosted(Limits::default()).await;
    let with = |fields: usize| {
        let mut head = format!("GET /healthz HTTP/1.1\r\nhost: {HOST}\r\n");
        for nth in 1..fields {
            write!(head, "x-{nth}: y\r\n").unwrap();
        }
        head + "\r\n"
    };
    let mut talk = RawConnection::to(address).await;
    talk.say(with(100)).await;
    assert_eq!(talk.hear().await.status, 200);
    assert_eq!(only_answer(address, with(101).as_bytes()).await.0, 431);
    let long = format!("GET /healthz HTTP/1.1\r\nhost: {HOST}\r\nx: {}\r\n\r\n", "y".repeat(70_000));
    assert_eq!(only_answer(address, long.as_bytes()).await.0, 431);
    assert_eq!(only_answer(address, &long.as_bytes()[..69_000]).await.0, 431);
    let target = format!("GET /{} HTTP/1.1\r\nhost: {HOST}\r\n\r\n", "y".repeat(20_000));
    assert_eq!(only_answer(address, target.as_bytes()).await.0, 414);
    for begin in ["", "GET /"] {
        let endless = begin.to_owned() + &"A".repeat(70_000);
        assert_eq!(only_answer(address, endless.as_bytes()).await.0, 414, "{begin}");
    }
}

#[tokio::test]
async fn a_connection_is_kept_as_long_as_the_client_wants() {
    let (address, _running) = hosted(Limits::default()).await;
    let ask = |version: &str, connection: &str| {
        let connection =
            if connection.is_empty() { String::new() } else { format!("connection: {connection}\r\n") };
        format!("GET /healthz HTTP/1.{version}\r\nhost: {HOST}\r\n{connection}\r\n")
    };
    for (version, connection, says) in [
        ("1", "close", "close"),
        ("1", "x, Close", "close"),
        ("1", "close\r\nconnection: keep-alive", "close"),
        ("0", "", "close"),
        ("0", "x", "close"),
    ] {
        let mut talk = RawConnection::to(address).await;
        talk.say(ask(version, connection)).await;
        let heard = talk.hear().await;
        assert_eq!((heard.status, heard.header("connection").as_deref()), (200, Some(says)), "{heard:?}");
        assert!(talk.rest().await.is_empty(), "{version} {connection}");
    }
    let mut talk = RawConnection::to(address).await;
    for (version, connection, says) in
        [("1", "", None), ("1", "keep-alive", None), ("0", "Keep-Alive", Some("keep-alive")), ("1", "", None)]
    {
        talk.say(ask(version, connection)).await;
        let heard = talk.hear().await;
        assert_eq!((heard.status, heard.header("connection").as_deref()), (200, says), "{heard:?}");
    }
}

#[tokio::test]
async fn an_answer_says_when_and_how_long_it_is() {
    let (address, _running) = hosted(Limits::default()).await;
    let mut talk = RawConnection::to(address).await;
    talk.say(kept("GET", "/healthz", &[], "")).await;
    let heard = talk.hear().await;
    assert!(heard.head.starts_with("HTTP/1.1 200 OK\r\n"), "{heard:?}");
    assert_eq!(heard.header("content-length").as_deref(), Some("3"));
    let date = heard.header("date").unwrap();
    assert!(date.len() == 29 && date.ends_with(" GMT"), "{date}");
    // The head of the response to GET, without a body.
    talk.say(kept("HEAD", "/mcp", &[], "")).await;
    let head = talk.hear_head().await;
    assert!(head.status == 405 && head.header("content-length").unwrap() != "0", "{head:?}");
    let (headers, body) = list(1);
    let heard_by = body.replace("\"id\":1,", "").replace("tools/list", "notifications/initialized");
    talk.say(kept("POST", "/mcp", &headers, &heard_by)).await;
    let heard = talk.hear().await;
    assert_eq!((heard.status, heard.header("content-length").as_deref()), (202, Some("0")));
    talk.say(listing(3)).await;
    hears(&mut talk, 3).await;
}

#[tokio::test]
async fn whoever_asks_for_heads_only_gets_them_where_get_is_answered() {
    let (address, _running) = hosted(Limits::default()).await;
    let mut talk = RawConnection::to(address).await;
    for path in ["/healthz", "/readyz", "/metrics"] {
        talk.say(kept("GET", path, &[], "")).await;
        let whole = talk.hear().await;
        talk.say(kept("HEAD", path, &[], "")).await;
        let head = talk.hear_head().await;
        assert_eq!((head.status, head.header("content-length")), (200, whole.header("content-length")));
        assert_ne!(whole.body.len(), 0);
    }
    talk.say(listing(3)).await;
    hears(&mut talk, 3).await;
}

#[tokio::test]
async fn a_method_that_is_not_allowed_hears_which_ones_are() {
    let (address, _running) = hosted(Limits::default()).await;
    let mut talk = RawConnection::to(address).await;
    for (method, path, allowed) in [
        ("PUT", "/mcp", "GET, POST, DELETE"),
        ("HEAD", "/mcp", "GET, POST, DELETE"),
        ("POST", "/sse", "GET"),
        ("GET", "/message", "POST"),
        ("POST", "/healthz", "GET, HEAD"),
        ("DELETE", "/metrics", "GET, HEAD"),
    ] {
        talk.say(kept(method, path, &[], "")).await;
        let heard = if method == "HEAD" { talk.hear_head().await } else { talk.hear().await };
        assert_eq!((heard.status, heard.header("allow").as_deref()), (405, Some(allowed)), "{method} {path}");
    }
    // The modern era has only POST.
    for method in ["GET", "DELETE"] {
        talk.say(kept(method, "/mcp", &[("mcp-protocol-version", "2026-07-28")], "")).await;
        let heard = talk.hear().await;
        assert_eq!((heard.status, heard.header("allow").as_deref()), (405, Some("POST")), "{method}");
    }
}

#[tokio::test]
async fn whoever_takes_neither_form_of_an_answer_is_told_so() {
    let (address, _running) = hosted(Limits::default()).await;
    let mut talk = RawConnection::to(address).await;
    let (headers, body) = list(1);
    for (accept, status) in [
        ("application/json, text/event-stream", 200),
        ("*/*", 200),
        ("application/json", 200),
        ("text/html\r\naccept: application/*", 200),
        ("text/html", 406),
        ("image/*, application/json;q=0", 406),
    ] {
        talk.say(kept("POST", "/mcp", &[&headers[..], &[("accept", accept)]].concat(), &body)).await;
        assert_eq!(talk.hear().await.status, status, "{accept}");
    }
    talk.say(listing(3)).await;
    hears(&mut talk, 3).await;
}

#[tokio::test]
async fn an_answer_without_content_has_no_length() {
    let (address, _running) = hosted(Limits::default()).await;
    let mut talk = RawConnection::to(address).await;
    let json = ("content-type", "application/json");
    talk.say(kept("POST", "/mcp", &[json], crate::support::wire::INITIALIZE)).await;
    let session = talk.hear().await.header("mcp-session-id").unwrap();
    talk.say(kept("DELETE", "/mcp", &[("mcp-session-id", &session)], "")).await;
    let heard = talk.hear().await;
    assert_eq!((heard.status, heard.header("content-length")), (204, None));
    assert_eq!(heard.header("transfer-encoding"), None);
    talk.say(listing(3)).await;
    hears(&mut talk, 3).await;
}

#[tokio::test]
async fn h08_who_begins_late_is_left_and_who_ends_late_is_told() {
    let soon = Duration::from_millis(200);
    let limits = Limits { header_timeout: soon, idle_timeout: soon, ..Limits::default() };
    let (address, _running) = hosted(limits).await;
    let mut talk = RawConnection::to(address).await;
    talk.say(listing(1)).await;
    hears(&mut talk, 1).await;
    assert!(talk.rest().await.is_empty());
    let mut talk = RawConnection::to(address).await;
    talk.say(listing(1) + "GET /healthz HT").await;
    hears(&mut talk, 1).await;
    let heard = talk.hear().await;
    assert_eq!((heard.status, heard.header("connection").as_deref()), (408, Some("close")));
    assert!(talk.rest().await.is_empty());
}
