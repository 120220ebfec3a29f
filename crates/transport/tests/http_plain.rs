//! HTTP/1.1 over plain connections: the end of a response, refused responses, and connection
//! reuse.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod http_support;

use bytes::Bytes;
use http::HeaderMap;
use http_support::{Connection, Peer};
use std::{future::poll_fn, io, task::Poll, time::Duration};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _};
use tokio::join;
use tokio::net::TcpStream;
use trunkline_transport::http::{HttpClient, HttpError, HttpOptions};
use trunkline_transport::streamable_http::{Endpoint, Resume};

const HELLO: Bytes = Bytes::from_static(b"{\"hello\":1}");
const JSON: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

async fn ask(endpoint: &Endpoint) -> Result<Option<Bytes>, HttpError> {
    endpoint.post(HELLO, HeaderMap::new(), Resume::Never).await?.next().await
}

/// The client's result for a response, and the connection afterwards.
async fn answered(pieces: &[&str]) -> (Result<Option<Bytes>, HttpError>, Connection, Peer, Endpoint) {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        let (mut connection, _) = peer.request().await;
        for piece in pieces {
            connection.write(piece).await;
            tokio::task::yield_now().await;
        }
        connection
    };
    let (connection, answer) = join!(server, ask(&endpoint));
    (answer, connection, peer, endpoint)
}

async fn is_used_again(pieces: &[&str]) -> bool {
    let (answer, mut connection, peer, endpoint) = answered(pieces).await;
    assert_eq!(answer.unwrap().unwrap_or_default(), "{}");
    let server = async {
        // The client either reuses this connection for the next request, or closes it.
        let again = matches!(connection.0.fill_buf().await, Ok(bytes) if !bytes.is_empty());
        let mut connection = if again { connection } else { peer.accept().await };
        connection.request().await;
        connection.write(format!("{JSON}content-length: 2\r\n\r\n[]")).await;
        (again, connection)
    };
    let ((again, _connection), answer) = join!(server, ask(&endpoint));
    assert_eq!(answer.unwrap().unwrap(), "[]");
    again
}

/// The error text of a response that must be refused; its connection is closed.
async fn refused(answer: &str) -> String {
    let (outcome, mut connection, ..) = answered(&[answer]).await;
    let error = outcome.unwrap_err();
    assert!(matches!(error, HttpError::Broken(_)) && error.may_have_been_processed(), "{error}");
    connection.closed().await;
    error.to_string()
}

#[tokio::test]
async fn a_connection_is_used_again_behind_an_exact_end() {
    assert!(is_used_again(&[JSON, "content-length: 2\r\n\r\n{", "}"]).await);
    assert!(
        is_used_again(&[JSON, "transfer-encoding: chunked\r\n\r\n1\r\n{\r\n", "1\r\n}\r\n0\r\n", "\r\n"])
            .await
    );
    assert!(
        is_used_again(&[
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n",
            JSON,
            "Content-Length: 2\r\n\r\n{}"
        ])
        .await
    );
}

#[tokio::test]
async fn a_connection_that_is_to_be_closed_or_unclear_is_not_used_again() {
    assert!(!is_used_again(&[JSON, "content-length: 2\r\nconnection: close\r\n\r\n{}"]).await);
    assert!(!is_used_again(&[JSON, "content-length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n"]).await);
    let old = "HTTP/1.0 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    assert!(!is_used_again(&[old]).await);
}

#[tokio::test]
async fn a_body_without_a_length_ends_with_the_connection() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection.write(format!("{JSON}\r\n{{\"a\":")).await;
        connection.write("1}").await;
    };
    assert_eq!(join!(server, ask(&endpoint)).1.unwrap().unwrap(), "{\"a\":1}");
}

#[tokio::test]
async fn a_body_that_ends_early_is_broken() {
    for framing in ["content-length: 3\r\n\r\n{}", "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n"] {
        let peer = Peer::start().await;
        let endpoint = peer.endpoint(HttpOptions::default());
        let server = async {
            let (mut connection, _) = peer.request().await;
            connection.write(format!("{JSON}{framing}")).await;
        };
        let error = join!(server, ask(&endpoint)).1.unwrap_err();
        assert!(error.to_string().contains("before the message was complete"), "{error}");
    }
}

#[tokio::test]
async fn an_answer_that_can_be_read_in_two_ways_is_refused() {
    let both = format!("{JSON}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{{}}");
    assert!(refused(&both).await.contains("both a length and a transfer coding"));
    let lengths = format!("{JSON}content-length: 2\r\ncontent-length: 3\r\n\r\n{{}}");
    assert!(refused(&lengths).await.contains("more than once"));
    let coding = format!("{JSON}transfer-encoding: gzip, chunked\r\n\r\n");
    assert!(refused(&coding).await.contains("other than `chunked`"));
    let size = format!("{JSON}transfer-encoding: chunked\r\n\r\n-2\r\n{{}}\r\n0\r\n\r\n");
    assert!(refused(&size).await.contains("size of a chunk"));
    assert!(refused("SSH-2.0-OpenSSH_9.6\r\n").await.contains("cannot be read"));
}

#[tokio::test]
async fn what_is_no_head_is_known_by_its_first_bytes() {
    // The TLS alert of a server that expects TLS and keeps the connection open.
    let (outcome, mut connection, ..) = answered(&["\u{15}\u{3}\u{3}\0\u{2}\u{2}F"]).await;
    let error = outcome.unwrap_err();
    assert!(error.to_string().contains("speaks TLS") && !error.may_have_been_processed(), "{error}");
    connection.closed().await;
    refused("x").await;
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let long = format!("{JSON}x: {}\r\n", "a".repeat(100_000));
    assert!(refused(&long).await.contains("longer than"));
    let interim = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(17);
    assert!(refused(&interim).await.contains("more than 16 times"));
    let switched = "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n";
    assert!(refused(switched).await.contains("unasked"));
}

#[tokio::test]
async fn a_request_that_was_not_sent_goes_over_another_connection() {
    let (answer, connection, peer, endpoint) = answered(&[JSON, "content-length: 2\r\n\r\n{}"]).await;
    assert_eq!(answer.unwrap().unwrap(), "{}");
    drop(connection);
    // After this later event was seen, the close of the other connection was seen as well.
    let (_accepted, later) = join!(peer.accept(), TcpStream::connect(("127.0.0.1", peer.port)));
    drop(later.unwrap());
    let server = async {
        let (mut connection, request) = peer.request().await;
        connection.write(format!("{JSON}content-length: 2\r\n\r\n[]")).await;
        request.body
    };
    let (body, answer) = join!(server, ask(&endpoint));
    assert_eq!((body, answer.unwrap().unwrap()), (HELLO, Bytes::from_static(b"[]")));
}

#[tokio::test]
async fn a_long_body_goes_out_whole() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let body = Bytes::from((0..3_000_000_u32).map(|n| b'a' + (n % 26) as u8).collect::<Vec<_>>());
    let server = async {
        let (mut connection, request) = peer.request().await;
        connection.write(format!("{JSON}content-length: 2\r\n\r\n{{}}")).await;
        request.body
    };
    let client = endpoint.post(body.clone(), HeaderMap::new(), Resume::Never);
    let (received, exchange) = join!(server, client);
    assert!(received == body);
    assert_eq!(exchange.unwrap().next().await.unwrap().unwrap(), "{}");
}

#[tokio::test]
async fn an_answer_may_come_before_all_of_the_request_is_sent() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        let mut connection = peer.accept().await;
        // Reads only a part of the request.
        connection.0.read_exact(&mut [0; 1000]).await.unwrap();
        connection.write("HTTP/1.1 413 X\r\ncontent-length: 3\r\n\r\nbig").await;
        connection
    };
    let body = Bytes::from(vec![b'x'; 50_000_000]);
    let client = endpoint.post(body, HeaderMap::new(), Resume::Never);
    let (mut connection, answer) = join!(server, client);
    let error = answer.unwrap_err();
    assert_eq!(
        (error.status().unwrap().status.as_u16(), &error.status().unwrap().body[..]),
        (413, &b"big"[..])
    );
    // After the early response the client does not send the rest of its request.
    let mut rest = Vec::new();
    connection.0.read_to_end(&mut rest).await.ok();
    assert!(rest.len() < 50_000_000);
}

#[tokio::test]
async fn an_answer_that_is_given_up_closes_its_connection() {
    let peer = Peer::start().await;
    let endpoint = peer.endpoint(HttpOptions::default());
    let server = async {
        let (mut connection, _) = peer.request().await;
        connection.write(format!("{JSON}content-length: 200\r\n\r\n{{")).await;
        connection
    };
    let (mut connection, exchange) = join!(server, endpoint.post(HELLO, HeaderMap::new(), Resume::Never));
    drop(exchange.unwrap());
    connection.closed().await;
}

/// Long enough to count as a pause of the process, not as a busy machine.
const PAUSE: Duration = Duration::from_millis(1100);

#[tokio::test]
async fn a_server_that_hung_up_while_this_process_was_stopped_is_connected_to_again() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let client = HttpClient::new(HttpOptions::default()).unwrap();
    let endpoint = Endpoint::new(client, &url).unwrap();
    let mut asking = Box::pin(ask(&endpoint));
    assert!(poll_fn(|cx| Poll::Ready(asking.as_mut().poll(cx))).await.is_pending());
    // The connection is established, but the client cannot see it while this thread is blocked.
    drop(listener.accept().unwrap());
    std::thread::sleep(PAUSE);
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        assert!(io::Read::read(&mut stream, &mut request).unwrap() > 0);
        let answer = format!("{JSON}content-length: 2\r\n\r\n{{}}");
        io::Write::write_all(&mut stream, answer.as_bytes()).unwrap();
    });
    assert!(asking.await.unwrap().is_some());
    answering.join().unwrap();
}
