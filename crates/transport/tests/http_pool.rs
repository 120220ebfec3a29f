//! Plain HTTP connections are reused, and a busy one does not delay another request.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::HeaderMap;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use trunkline_transport::http::{HttpClient, HttpOptions};
use trunkline_transport::streamable_http::{Endpoint, Resume};

/// A server that answers everything with `{}`, except `{"open":1}`, which gets a stream that stays
/// open.
async fn server() -> (Endpoint, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp?a=b", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let count = connections.clone();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(converse(stream));
        }
    });
    (Endpoint::new(HttpClient::new(HttpOptions::default()).unwrap(), &url).unwrap(), connections)
}

async fn converse(stream: TcpStream) -> Option<()> {
    let address = stream.local_addr().ok()?.to_string();
    let mut stream = BufReader::new(stream);
    loop {
        let (mut length, mut host, mut first) = (0, String::new(), String::new());
        stream.read_line(&mut first).await.ok().filter(|read| *read > 0)?;
        assert_eq!(first, "POST /mcp?a=b HTTP/1.1\r\n");
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap(),
                "host" => host = value.to_owned(),
                _ => {}
            }
        }
        assert_eq!(host, address);
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.ok()?;
        let answer = if body == b"{}" {
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
        } else {
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n"
        };
        stream.write_all(answer.as_bytes()).await.ok()?;
    }
}

async fn ask(endpoint: &Endpoint) {
    let mut exchange =
        endpoint.post(Bytes::from_static(b"{}"), HeaderMap::new(), Resume::Never).await.unwrap();
    assert_eq!(exchange.next().await.unwrap().unwrap(), "{}");
    assert!(exchange.next().await.unwrap().is_none());
}

#[tokio::test]
async fn requests_in_a_row_share_a_connection() {
    let (endpoint, connections) = server().await;
    for _ in 0..50 {
        ask(&endpoint).await;
    }
    // A connection may return to the pool a moment too late.
    assert!(connections.load(Ordering::SeqCst) <= 2, "{connections:?} connections");
}

#[tokio::test]
async fn a_stream_that_stays_open_holds_no_other_request_up() {
    let (endpoint, connections) = server().await;
    let open = Bytes::from_static(b"{\"open\":1}");
    let mut stream = endpoint.post(open, HeaderMap::new(), Resume::Never).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap(), "1");
    for _ in 0..5 {
        ask(&endpoint).await;
    }
    assert!(connections.load(Ordering::SeqCst) >= 2);
    drop(stream);
    ask(&endpoint).await;
}

#[tokio::test]
async fn a_runtime_keeps_its_connections_to_itself() {
    let (endpoint, connections) = server().await;
    ask(&endpoint).await;
    let elsewhere = endpoint.clone();
    let other = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for _ in 0..5 {
                ask(&elsewhere).await;
            }
        });
    });
    tokio::task::spawn_blocking(|| other.join().unwrap()).await.unwrap();
    // The connections of the other runtime ended with it and must not be reused here.
    for _ in 0..5 {
        ask(&endpoint).await;
    }
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}
