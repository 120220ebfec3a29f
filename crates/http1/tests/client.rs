//! Client connections and their pool over streams in memory.
#![expect(clippy::disallowed_methods, reason = "the bodies of these tests are small")]

use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt as _;
use std::{future::poll_fn, sync::Arc, time::Duration};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufStream, duplex};
use trunkline_http1::client::{Connection, Pool, RequestError, ResponseBody};

const AUTHORITY: &str = "example.org";
const BODY: Bytes = Bytes::from_static(b"hello");

fn start<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin>(connection: &mut Connection<S>) {
    connection.start(&Method::POST, &BODY, |out| out.extend_from_slice(b"POST / HTTP/1.1\r\nhost: a\r\n"));
}

#[tokio::test]
async fn a_request_is_flushed_and_its_connection_used_again() {
    let (near, mut far) = duplex(1024);
    let pool = Pool::new(1, Duration::from_mins(1));
    let mut connection = Box::new(Connection::new(BufStream::new(near), Arc::from(AUTHORITY)));
    for _ in 0..2 {
        start(&mut connection);
        let server = async {
            let mut request = Vec::new();
            while !request.ends_with(b"hello") {
                far.read_buf(&mut request).await.unwrap();
            }
            far.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
            String::from_utf8(request).unwrap()
        };
        let (request, head) = tokio::join!(server, poll_fn(|cx| connection.poll_response(cx)));
        assert_eq!(request, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello");
        let head = head.unwrap();
        let body = ResponseBody::new(connection, pool.clone(), head.framing, head.reuse);
        assert_eq!(body.collect().await.unwrap().to_bytes(), "ok");
        connection = pool.take(AUTHORITY).unwrap();
        assert!(pool.take(AUTHORITY).is_none() && pool.take("other").is_none());
    }
}

#[tokio::test]
async fn a_connection_that_the_server_closed_or_speaks_on_is_not_quiet() {
    let (near, mut far) = duplex(1024);
    let mut connection = Connection::new(near, Arc::from(AUTHORITY));
    assert!(connection.is_quiet());
    far.write_all(b"x").await.unwrap();
    assert!(!connection.is_quiet());
    let (near, far) = duplex(1024);
    let mut connection = Connection::new(near, Arc::from(AUTHORITY));
    drop(far);
    assert!(!connection.is_quiet());
    start(&mut connection);
    let sent = poll_fn(|cx| connection.poll_response(cx)).await;
    assert!(matches!(sent, Err(RequestError::Unsent(_))), "{sent:?}");
}
