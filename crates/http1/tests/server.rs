//! Server connections over streams in memory; one of them buffers its writes, as TLS does.
#![expect(clippy::disallowed_methods, reason = "the bodies of these tests are small")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use bytes::Bytes;
use http::{HeaderName, Request, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use std::{future::poll_fn, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufStream, DuplexStream, duplex},
    time::Instant,
};
use trunkline_http1::server::{
    Connection, ConnectionError, FIRST_REQUEST_GRACE, HalfClose, HeadError, KeepAlive, Options, Pending,
    RequestBody, Service,
};

static USUAL: [HeaderName; 1] = [header::HOST];
static OPTIONS: Options = Options {
    header_timeout: Duration::from_secs(10),
    idle_timeout: Duration::from_secs(20),
    write_timeout: Duration::from_secs(5),
    max_body: 1024,
    usual_headers: &USUAL,
};

/// Answers with the request body. `/slow` never answers; a half-close does not end `/slow/kept`.
struct Echo;

impl Service for Echo {
    type Body = Bytes;

    fn options(&self) -> &Options {
        &OPTIONS
    }

    fn call(&mut self, request: Request<RequestBody>) -> Pending<Bytes> {
        let (head, body) = request.into_parts();
        match (head.uri.path(), body) {
            ("/slow", _) => Pending::running(std::future::pending(), HalfClose::Cancels),
            ("/slow/kept", _) => Pending::running(std::future::pending(), HalfClose::Continues),
            (_, RequestBody::Whole(body)) => Pending::ready(Response::new(body)),
            (_, body) => Pending::preparing(async {
                Pending::ready(match body.collect().await {
                    Ok(body) => Response::new(body.to_bytes()),
                    Err(error) => {
                        let mut response = Response::new(error.to_string().into());
                        *response.status_mut() = StatusCode::BAD_REQUEST;
                        response
                    }
                })
            }),
        }
    }

    fn reject(&mut self, error: HeadError) -> Response<Bytes> {
        let mut response = Response::new(error.to_string().into());
        *response.status_mut() = error.status();
        response
    }
}

/// Serves one connection until it is closed; the client sends `text` and then half-closes.
async fn served<S>(text: &str, wrap: impl FnOnce(DuplexStream) -> S) -> (String, Result<(), ConnectionError>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (near, far) = duplex(64);
    let (mut read, mut write) = tokio::io::split(far);
    let mut connection = Connection::new(wrap(near), Echo, KeepAlive::On);
    let serve = async move {
        let served = poll_fn(|cx| connection.poll(cx)).await;
        drop(connection);
        served
    };
    let send = async {
        write.write_all(text.as_bytes()).await.ok();
        write.shutdown().await.ok();
    };
    let mut received = String::new();
    let (served, (), read) = tokio::join!(serve, send, read.read_to_string(&mut received));
    read.unwrap();
    (received, served)
}

fn bodies(received: &str) -> Vec<&str> {
    let responses = received.split("HTTP/1.1 ").skip(1);
    responses.map(|response| response.split_once("\r\n\r\n").unwrap().1).collect()
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order_over_any_stream() {
    let long = "x".repeat(700);
    let text = format!(
        "POST /1 HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc\
         POST /2 HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n\
         POST /3 HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 700\r\n\r\n{long}"
    );
    for (received, served) in [served(&text, |stream| stream).await, served(&text, BufStream::new).await] {
        assert_eq!(bodies(&received), ["abc", "def", &long]);
        assert_eq!(received.matches("connection: close").count(), 1);
        served.unwrap();
    }
}

#[tokio::test]
async fn an_invalid_head_is_rejected_and_nothing_after_it_is_read() {
    let text =
        "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nGET / HTTP/1.1\r\n\r\n";
    let (received, served) = served(text, |stream| stream).await;
    assert!(received.starts_with("HTTP/1.1 400 "), "{received}");
    assert_eq!(bodies(&received), ["the message names its length more than once"]);
    served.unwrap();
}

#[tokio::test]
async fn a_half_close_cancels_a_request_unless_its_service_says_otherwise() {
    let get = |path| format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n");
    let (_, cancelled) = served(&get("/slow"), |stream| stream).await;
    assert!(matches!(cancelled, Err(ConnectionError::HungUp)));
    let (near, mut far) = duplex(1024);
    let mut connection = Connection::new(near, Echo, KeepAlive::On);
    far.write_all(get("/slow/kept").as_bytes()).await.unwrap();
    far.shutdown().await.unwrap();
    assert!(poll_fn(|cx| std::task::Poll::Ready(connection.poll(cx))).await.is_pending());
    connection.abort(|| Response::new(Bytes::from_static(b"aborted")));
    poll_fn(|cx| connection.poll(cx)).await.unwrap();
    drop(connection);
    let mut received = String::new();
    far.read_to_string(&mut received).await.unwrap();
    assert_eq!(bodies(&received), ["aborted"]);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_is_not_complete_in_time_is_rejected_and_an_idle_connection_closed() {
    for (sent, received) in [("GET / HT", "HTTP/1.1 408 "), ("", "")] {
        let (near, mut far) = duplex(1024);
        let mut connection = Connection::new(near, Echo, KeepAlive::On);
        far.write_all(sent.as_bytes()).await.unwrap();
        let served = async move {
            poll_fn(|cx| connection.poll(cx)).await.unwrap();
        };
        let mut text = String::new();
        let (read, ()) = tokio::join!(far.read_to_string(&mut text), served);
        read.unwrap();
        assert!(text.starts_with(received) && text.is_empty() == received.is_empty(), "{text}");
    }
}

#[tokio::test]
async fn a_draining_connection_closes_when_it_is_idle_and_close_if_idle_spares_a_request() {
    let (near, mut far) = duplex(1024);
    let mut connection = Connection::new(near, Echo, KeepAlive::On);
    far.write_all(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\na").await.unwrap();
    let polled = poll_fn(|cx| std::task::Poll::Ready(connection.poll(cx))).await;
    assert!(polled.is_pending());
    connection.close_if_idle();
    connection.drain();
    far.write_all(b"b").await.unwrap();
    poll_fn(|cx| connection.poll(cx)).await.unwrap();
    drop(connection);
    let mut received = String::new();
    far.read_to_string(&mut received).await.unwrap();
    assert_eq!(bodies(&received), ["ab"]);
    assert!(received.contains("connection: close"));

    let (near, _far) = duplex(1024);
    let mut idle = Connection::new(near, Echo, KeepAlive::On);
    assert!(poll_fn(|cx| std::task::Poll::Ready(idle.poll(cx))).await.is_pending());
    idle.close_if_idle();
    poll_fn(|cx| idle.poll(cx)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn p07_a_draining_connection_may_still_send_its_first_request_for_a_moment() {
    for sends in [true, false] {
        let (near, mut far) = duplex(1024);
        let mut connection = Connection::new(near, Echo, KeepAlive::On);
        assert!(poll_fn(|cx| std::task::Poll::Ready(connection.poll(cx))).await.is_pending());
        connection.drain();
        assert!(poll_fn(|cx| std::task::Poll::Ready(connection.poll(cx))).await.is_pending());
        let began = Instant::now();
        if sends {
            far.write_all(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nab").await.unwrap();
        }
        poll_fn(|cx| connection.poll(cx)).await.unwrap();
        drop(connection);
        let mut received = String::new();
        far.read_to_string(&mut received).await.unwrap();
        assert_eq!(received.contains("connection: close"), sends, "{received}");
        assert_eq!(began.elapsed() >= FIRST_REQUEST_GRACE, !sends);
        assert!(began.elapsed() < OPTIONS.header_timeout);
    }
}
