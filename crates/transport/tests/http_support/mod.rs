//! A scripted HTTP/1.1 peer: the test reads each request and writes each byte of the answer.
#![allow(
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "a test may panic, and each uses its part of this"
)]

use std::collections::HashMap;
use std::fmt::Write as _;

use bytes::Bytes;
use http::HeaderMap;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use trunkline_transport::http::{HttpClient, HttpOptions};
use trunkline_transport::streamable_http::Endpoint;

pub struct Peer {
    listener: TcpListener,
    pub port: u16,
}

pub struct Connection<S = TcpStream>(pub BufReader<S>);

#[derive(Debug)]
pub struct Received {
    pub method: String,
    pub path: String,
    pub headers: HashMap<String, String>,
    pub body: Bytes,
}

impl Peer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        Self { listener, port }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    pub fn endpoint(&self, options: HttpOptions) -> Endpoint {
        Endpoint::new(HttpClient::new(options).unwrap(), &self.url()).unwrap()
    }

    pub async fn accept(&self) -> Connection {
        Connection(BufReader::new(self.listener.accept().await.unwrap().0))
    }

    /// Asserts that there was no connection.
    pub fn assert_untouched(self) {
        let accepted = self.listener.into_std().unwrap().accept();
        assert_eq!(accepted.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    }

    /// Accepts a connection and reads one request from it.
    pub async fn request(&self) -> (Connection, Received) {
        let mut connection = self.accept().await;
        let request = connection.request().await;
        (connection, request)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub async fn request(&mut self) -> Received {
        let mut line = self.line().await;
        let mut words = line.split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let mut headers = HashMap::new();
        loop {
            line = self.line().await;
            let Some((name, value)) = line.split_once(": ") else { break };
            assert_eq!(headers.insert(name.to_owned(), value.to_owned()), None, "{name} came twice");
        }
        let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await.unwrap();
        Received { method, path, headers, body: body.into() }
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).await.unwrap();
        assert!(read > 0, "the client closed the connection instead of sending a request");
        line.trim_end().to_owned()
    }

    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).await.unwrap();
        self.0.flush().await.unwrap();
    }

    /// Sends a complete response.
    pub async fn answer(&mut self, status: u16, headers: &[(&str, &str)], body: &str) {
        let head = head(status, headers, &format!("content-length: {}\r\n", body.len()));
        self.write(head + body).await;
    }

    /// Begins a chunked response.
    pub async fn begin(&mut self, headers: &[(&str, &str)]) {
        self.write(head(200, headers, "transfer-encoding: chunked\r\n")).await;
    }

    /// Begins an event stream.
    pub async fn begin_events(&mut self) {
        self.begin(&[("content-type", "text/event-stream")]).await;
    }

    pub async fn chunk(&mut self, data: impl AsRef<[u8]>) {
        let data = data.as_ref();
        let mut chunk = format!("{:x}\r\n", data.len()).into_bytes();
        chunk.extend_from_slice(data);
        chunk.extend_from_slice(b"\r\n");
        self.write(chunk).await;
    }

    pub async fn end(&mut self) {
        self.write("0\r\n\r\n").await;
    }

    /// Writes until the client closes the connection.
    pub async fn write_until_closed(&mut self, bytes: &[u8]) {
        while self.0.write_all(bytes).await.is_ok() {}
    }

    /// Waits for the client to close the connection.
    pub async fn closed(&mut self) {
        let mut rest = Vec::new();
        // A reset counts as a close, too.
        if self.0.read_to_end(&mut rest).await.is_ok() {
            assert_eq!(rest, b"", "the client sent more instead of closing");
        }
    }
}

fn head(status: u16, headers: &[(&str, &str)], framing: &str) -> String {
    let mut head = format!("HTTP/1.1 {status} X\r\n{framing}");
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    head + "\r\n"
}

pub fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}

pub const JSON: (&str, &str) = ("content-type", "application/json");
