//! Streamable HTTP: the requests that are sent, and the responses that are accepted or refused.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod http_support;

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_support::{Connection, JSON, Peer, headers};
use tokio::join;
use tokio::sync::oneshot;
use trunkline_transport::http::{ConnectFailure, HttpError, HttpOptions, Phase};
use trunkline_transport::streamable_http::{Endpoint, Exchange, Resume};

const HELLO: Bytes = Bytes::from_static(b"{\"hello\":1}");

async fn post(endpoint: &Endpoint) -> Result<Exchange, HttpError> {
    endpoint.post(HELLO, HeaderMap::new(), Resume::Never).await
}

async fn all(endpoint: &Endpoint) -> Result<Vec<Bytes>, HttpError> {
    let mut exchange = post(endpoint).await?;
    let mut frames = Vec::new();
    while let Some(frame) = exchange.next().await? {
        frames.push(frame);
    }
    Ok(frames)
}

/// Posts a message to a peer that answers once, and returns all messages of the response.
async fn exchange(status: u16, headers: &[(&str, &str)], body: &str) -> Result<Vec<Bytes>, HttpError> {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection.answer(status, headers, body).await;
        connection
    };
    join!(server, all(&endpoint)).1
}

fn limited(body_limit: usize) -> HttpOptions {
    HttpOptions { body_limit, event_limit: body_limit, ..HttpOptions::default() }
}

#[tokio::test]
async fn a_post_carries_message_and_headers() {
    let peer = Peer::start().await;
    let extra_headers =
        headers(&[("x-key", "from options"), ("x-both", "from options"), ("accept", "text/html")]);
    let endpoint = peer.endpoint(HttpOptions { extra_headers, ..HttpOptions::default() });
    let own = headers(&[("x-both", "from call"), ("mcp-method", "ping")]);
    let server = async {
        let (mut connection, request) = peer.request().await;
        connection.answer(200, &[JSON], "{}").await;
        request
    };
    let client =
        async { endpoint.post(HELLO, own, Resume::Never).await.unwrap().next().await.unwrap().unwrap() };
    let (request, frame) = join!(server, client);
    assert_eq!(frame, "{}");
    assert_eq!((request.method.as_str(), request.path.as_str(), request.body), ("POST", "/mcp", HELLO));
    let mut sent: Vec<_> = request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    sent.sort();
    let host = format!("host: 127.0.0.1:{}", peer.port);
    let expected = [
        "accept: application/json, text/event-stream",
        "content-length: 11",
        "content-type: application/json",
        &host,
        "mcp-method: ping",
        "x-both: from call",
        "x-key: from options",
    ];
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn a_json_answer_is_one_message() {
    for content_type in
        ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"]
    {
        let frames = exchange(200, &[("content-type", content_type)], "{\"a\":1}").await.unwrap();
        assert_eq!(frames, ["{\"a\":1}"], "{content_type}");
    }
}

#[tokio::test]
async fn an_event_stream_is_a_message_for_each_message_event() {
    let stream = ": hi\n\nid: 0\ndata: \n\nevent: message\ndata: {\"a\":1}\n\nevent: ping\ndata: x\n\ndata: {\ndata: }\n\n";
    let headers = [("content-type", "text/event-stream; charset=utf-8")];
    assert_eq!(exchange(200, &headers, stream).await.unwrap(), ["{\"a\":1}", "{\n}"]);
}

#[tokio::test]
async fn an_empty_answer_is_no_message() {
    assert!(exchange(202, &[], "").await.unwrap().is_empty());
    assert!(exchange(202, &[("content-type", "text/plain")], "Accepted").await.unwrap().is_empty());
    assert!(exchange(200, &[], "").await.unwrap().is_empty());
    assert!(exchange(200, &[JSON], "").await.unwrap().is_empty());
}

#[tokio::test]
async fn events_may_be_split_anywhere() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection.begin_events().await;
        for byte in b"id: 1\r\ndata: {\"a\":1}\r\n\r\ndata: {}\r\n\r\n".chunks(1) {
            connection.chunk(byte).await;
        }
        connection.end().await;
    };
    assert_eq!(join!(server, all(&endpoint)).1.unwrap(), ["{\"a\":1}", "{}"]);
}

#[tokio::test]
async fn a_message_comes_before_the_stream_ends() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let (seen, was_seen) = oneshot::channel();
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection.begin_events().await;
        connection.chunk("data: 1\n\n").await;
        was_seen.await.unwrap();
        connection.chunk("data: 2\n\n").await;
        connection.end().await;
    };
    let client = async {
        let mut exchange = post(&endpoint).await.unwrap();
        assert_eq!(exchange.next().await.unwrap().unwrap(), "1");
        seen.send(()).unwrap();
        assert_eq!(exchange.next().await.unwrap().unwrap(), "2");
        assert_eq!(exchange.next().await.unwrap(), None);
        assert_eq!(exchange.next().await.unwrap(), None);
    };
    join!(server, client);
}

#[tokio::test]
async fn asking_again_after_giving_up_loses_nothing() {
    for (content_type, first, second) in [
        ("application/json", "[\"first\",", "\"second\"]"),
        ("text/event-stream", "data: [\"first\",", "\"second\"]\n\n"),
    ] {
        let peer = Peer::start().await;
        let endpoint = peer.endpoint(HttpOptions::default());
        let (go_on, went_on) = oneshot::channel();
        let server = async {
            let (mut connection, _) = peer.request().await;
            connection.begin(&[("content-type", content_type)]).await;
            connection.chunk(first).await;
            went_on.await.unwrap();
            connection.chunk(second).await;
            connection.end().await;
        };
        let client = async {
            let mut exchange = post(&endpoint).await.unwrap();
            for _ in 0..50 {
                tokio::select! {
                    biased;
                    early = exchange.next() => panic!("{early:?}"),
                    () = tokio::task::yield_now() => {}
                }
            }
            go_on.send(()).unwrap();
            assert_eq!(exchange.next().await.unwrap().unwrap(), "[\"first\",\"second\"]");
        };
        join!(server, client);
    }
}

#[tokio::test]
async fn a_refusal_carries_status_headers_and_body() {
    let challenge = ("www-authenticate", "Bearer resource_metadata=\"x\"");
    let error = exchange(401, &[JSON, challenge, ("retry-after", "7")], "{\"error\":1}").await.unwrap_err();
    assert!(!error.is_transient() && error.may_have_been_processed());
    let refusal = error.status().unwrap();
    assert_eq!(
        (refusal.status.as_u16(), &refusal.body[..], refusal.truncated),
        (401, &b"{\"error\":1}"[..], false)
    );
    assert_eq!(refusal.www_authenticate().collect::<Vec<_>>(), [challenge.1]);
    assert_eq!(refusal.retry_after(), Some(Duration::from_secs(7)));
    assert_eq!(error.to_string(), "the server answered with status 401 Unauthorized");
    for (status, transient) in [(429, true), (503, true), (500, false), (404, false), (304, false)] {
        let error = exchange(status, &[], "").await.unwrap_err();
        assert_eq!((error.status().unwrap().status.as_u16(), error.is_transient()), (status, transient));
    }
}

#[tokio::test]
async fn an_answer_of_another_type_is_refused_and_shown() {
    let error = exchange(200, &[("content-type", "text/html")], "<html>Login").await.unwrap_err();
    assert_eq!(error.to_string(), "the server answered with text/html");
    let HttpError::UnexpectedContentType(error) = error else { panic!("{error:?}") };
    assert_eq!(error.beginning, "<html>Login");
    let error = exchange(200, &[], "{}").await.unwrap_err();
    assert_eq!(error.to_string(), "the server answered with no content type");
}

#[tokio::test]
async fn a_content_encoded_answer_is_refused() {
    let error = exchange(200, &[JSON, ("content-encoding", "GZIP")], "\u{1f}?").await.unwrap_err();
    assert!(matches!(&error, HttpError::UnexpectedEncoding { encoding } if encoding == "gzip"), "{error:?}");
    assert_eq!(exchange(200, &[JSON, ("content-encoding", "identity")], "{}").await.unwrap(), ["{}"]);
    let error = exchange(400, &[JSON, ("content-encoding", "br")], "xx").await.unwrap_err();
    assert!(error.status().unwrap().body.is_empty());
}

#[tokio::test]
async fn a_body_announced_beyond_the_limit_is_refused() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(limited(1000));
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection
            .write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1001\r\n\r\n")
            .await;
        connection.closed().await;
    };
    let client = async { all(&endpoint).await.unwrap_err() };
    assert!(matches!(join!(server, client).1, HttpError::TooLarge { limit: 1000 }));
}

/// Sends the beginning of a chunked response, then `endless` until the client closes.
async fn endless(start: &str, endless: &[u8]) -> HttpError {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(limited(100_000));
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection.write(format!("HTTP/1.1 {start}\r\ntransfer-encoding: chunked\r\n\r\n")).await;
        let mut chunk = format!("{:x}\r\n", endless.len()).into_bytes();
        chunk.extend_from_slice(endless);
        chunk.extend_from_slice(b"\r\n");
        connection.write_until_closed(&chunk).await;
    };
    join!(server, async { all(&endpoint).await.unwrap_err() }).1
}

#[tokio::test]
async fn an_endless_json_body_is_cut_at_the_limit() {
    let error = endless("200 OK\r\ncontent-type: application/json", &[b' '; 1000]).await;
    assert!(matches!(error, HttpError::TooLarge { limit: 100_000 }), "{error:?}");
}

#[tokio::test]
async fn an_endless_line_of_a_stream_is_cut_at_the_limit() {
    let error = endless("200 OK\r\ncontent-type: text/event-stream", &[b'x'; 1000]).await;
    assert!(matches!(error, HttpError::TooLarge { limit: 100_000 }), "{error:?}");
}

#[tokio::test]
async fn an_endless_error_body_is_cut_at_the_limit_and_the_status_kept() {
    let error = endless("500 X\r\ncontent-type: text/event-stream", &[b'x'; 1000]).await;
    let refusal = error.status().unwrap();
    assert_eq!((refusal.status.as_u16(), refusal.body.len(), refusal.truncated), (500, 100_000, true));
}

#[tokio::test]
async fn dropping_an_exchange_closes_its_stream() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection.begin_events().await;
        connection.chunk("data: 1\n\n").await;
        connection.closed().await;
    };
    let client = async {
        let mut exchange = post(&endpoint).await.unwrap();
        exchange.next().await.unwrap().unwrap();
        drop(exchange);
    };
    join!(server, client);
}

#[tokio::test]
async fn dropping_a_post_that_waits_closes_its_connection() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let posting = tokio::spawn(async move { post(&endpoint).await });
    let (mut connection, _) = peer.request().await;
    posting.abort();
    connection.closed().await;
}

#[tokio::test]
async fn an_accepted_message_leaves_the_connection_usable() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection.write("HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n").await;
        // The client runs on this thread as well: yielding lets it read the head before the end is
        // written.
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        connection.end().await;
        serve_until_reused(&peer, connection).await;
    };
    tokio::select! {
        () = server => {}
        () = post_forever(&endpoint) => {}
    }
}

#[tokio::test]
async fn a_finished_exchange_leaves_the_connection_usable() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let (finished, was_finished) = oneshot::channel();
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection.begin_events().await;
        connection.chunk("data: 1\n\n").await;
        was_finished.await.unwrap();
        connection.end().await;
        serve_until_reused(&peer, connection).await;
    };
    let client = async {
        let mut exchange = post(&endpoint).await.unwrap();
        exchange.next().await.unwrap().unwrap();
        exchange.finish();
        finished.send(()).unwrap();
        post_forever(&endpoint).await;
    };
    tokio::select! {
        () = server => {}
        () = client => {}
    }
}

/// Answers on new connections, which are then closed, until a request arrives on the given one.
/// The test fails if the client closes that one.
async fn serve_until_reused(peer: &Peer, mut connection: Connection) {
    let mut reused = pin!(connection.request());
    loop {
        tokio::select! {
            biased;
            _ = &mut reused => return,
            (mut other, _) = peer.request() => other.answer(202, &[("connection", "close")], "").await,
        }
    }
}

async fn post_forever(endpoint: &Endpoint) {
    loop {
        post(endpoint).await.unwrap();
    }
}

#[tokio::test]
async fn a_stream_that_breaks_is_an_error_and_one_that_ends_is_not() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection.begin_events().await;
        connection.chunk("id: 1\ndata: 1\n\n").await;
    };
    let error = join!(server, all(&endpoint)).1.unwrap_err();
    assert!(matches!(error, HttpError::Broken(_)) && error.is_transient(), "{error:?}");
}

#[tokio::test]
async fn a_session_is_deleted() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        let (mut connection, request) = peer.request().await;
        connection.answer(204, &[], "").await;
        let again = connection.request().await;
        connection.answer(405, &[], "").await;
        assert_eq!((request.method, again.method), ("DELETE".to_owned(), "DELETE".to_owned()));
        assert_eq!(request.headers["mcp-session-id"], "s");
    };
    let client = async {
        endpoint.delete(headers(&[("mcp-session-id", "s")])).await.unwrap();
        endpoint.delete(headers(&[("mcp-session-id", "s")])).await.unwrap_err()
    };
    assert_eq!(join!(server, client).1.status().unwrap().status, 405);
}

async fn connect_failure(url: &str, options: HttpOptions) -> ConnectFailure {
    let client = trunkline_transport::http::HttpClient::new(options).unwrap();
    let error = post(&Endpoint::new(client, url).unwrap()).await.unwrap_err();
    assert!(error.is_transient() && !error.may_have_been_processed() && error.hint().is_some(), "{error:?}");
    let HttpError::Connect(error) = error else { panic!("{error:?}") };
    error.failure
}

#[tokio::test]
async fn reasons_not_to_connect_are_told_apart() {
    let url = Peer::start().await.url();
    let failure = connect_failure(&url, HttpOptions::default()).await;
    assert!(matches!(failure, ConnectFailure::Refused), "{failure:?}");

    // A label longer than DNS allows: the resolver fails without a query.
    let nowhere = format!("http://{}.invalid/", "x".repeat(70));
    let failure = connect_failure(&nowhere, HttpOptions::default()).await;
    assert!(matches!(failure, ConnectFailure::UnknownHost), "{failure:?}");

    let silent = Peer::start().await;
    let connect_timeout = Duration::from_millis(100);
    let url = silent.url().replace("http:", "https:");
    let failure = connect_failure(&url, HttpOptions { connect_timeout, ..HttpOptions::default() }).await;
    assert!(matches!(failure, ConnectFailure::TimedOut { after } if after == connect_timeout), "{failure:?}");
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_if_so_asked() {
    let peer = Peer::start().await;
    let head_timeout = Some(Duration::from_millis(50));
    let endpoint = peer.endpoint(HttpOptions { head_timeout, ..HttpOptions::default() });
    let server = async { peer.request().await.0.closed().await };
    let error = join!(server, all(&endpoint)).1.unwrap_err();
    assert!(matches!(error, HttpError::Timeout { phase: Phase::Head, .. }), "{error:?}");
}
