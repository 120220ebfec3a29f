//! Handwritten HTTP, to send what a well-behaved client never would.

use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Timeout of every step of a test.
pub(crate) const HANG: Duration = Duration::from_secs(30);

/// The `Host` of [`kept`] requests.
pub(crate) const HOST: &str = "server.test";

/// A response.
#[derive(Debug)]
pub(crate) struct RawResponse {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl RawResponse {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("{self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        let mut found =
            lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned());
        found.next()
    }
}

/// Sends raw bytes and reads until the server closes.
pub(crate) async fn send(address: SocketAddr, request: &[u8]) -> RawResponse {
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    // A server may refuse before it has read everything.
    drop(stream.write_all(request).await);
    let mut answer = Vec::new();
    drop(
        tokio::time::timeout(HANG, stream.read_to_end(&mut answer))
            .await
            .expect("the server closes the connection"),
    );
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer.as_str(), ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    RawResponse { status, head: head.to_owned(), body: body.to_owned() }
}

/// A POST to `/mcp` with these further headers.
pub(crate) async fn post(address: SocketAddr, headers: &[(&str, &str)], body: &str) -> RawResponse {
    send(address, &request("POST", "/mcp", address, headers, body)).await
}

pub(crate) fn request(
    method: &str,
    path: &str,
    address: SocketAddr,
    headers: &[(&str, &str)],
    body: &str,
) -> Vec<u8> {
    let given = |name: &str| headers.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
    let host = address.to_string();
    let usual = [
        ("host", host.as_str()),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let usual = usual.iter().filter(|(name, _)| !given(name));
    let head: Vec<String> =
        usual.chain(headers).map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let first =
        format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    [first.as_bytes(), head.concat().as_bytes(), b"\r\n", body.as_bytes()].concat()
}

/// A modern request with its required `_meta`.
pub(crate) fn modern(method: &str, params: &str) -> String {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let comma = if params.is_empty() { "" } else { "," };
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{comma}{meta}}}}}"#)
}

/// The headers of a modern request.
pub(crate) fn headers_of<'a>(method: &'a str, name: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut headers = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    if !name.is_empty() {
        headers.push(("mcp-name", name));
    }
    headers
}

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// Opens a legacy session, and returns its id.
pub(crate) async fn open_session(address: SocketAddr, headers: &[(&str, &str)]) -> String {
    let heard = post(address, headers, INITIALIZE).await;
    heard.header("mcp-session-id").unwrap_or_else(|| panic!("{heard:?}"))
}

/// A keep-alive connection, written and read byte by byte.
pub(crate) struct RawConnection {
    stream: TcpStream,
    heard: Vec<u8>,
}

impl RawConnection {
    pub(crate) async fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server listens");
        stream.set_nodelay(true).expect("TCP has this option");
        Self { stream, heard: Vec::new() }
    }

    pub(crate) async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.expect("the server reads");
    }

    /// Sends the bytes split at these offsets, and lets the server run after each piece.
    pub(crate) async fn say_cut(&mut self, bytes: &[u8], cuts: &[usize]) {
        let mut from = 0;
        for cut in cuts.iter().copied().chain([bytes.len()]) {
            self.say(&bytes[from..cut]).await;
            from = cut;
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Closes the write half.
    pub(crate) async fn half_close(&mut self) {
        self.stream.shutdown().await.expect("the connection is open");
    }

    /// The next response, delimited by its `Content-Length` or chunks.
    pub(crate) async fn hear(&mut self) -> RawResponse {
        let head = self.hear_head().await;
        let body = match head.header("content-length") {
            Some(length) => self.take(length.parse().expect("a length")).await,
            None if head.header("transfer-encoding").is_some() => {
                let mut body = Vec::new();
                while let Some(chunk) = self.hear_chunk().await {
                    body.extend_from_slice(&chunk);
                }
                body
            }
            None => Vec::new(),
        };
        RawResponse { body: String::from_utf8_lossy(&body).into_owned(), ..head }
    }

    pub(crate) async fn hear_head(&mut self) -> RawResponse {
        let end = self.find(b"\r\n\r\n").await;
        let head = String::from_utf8(self.take(end + 4).await).expect("a head is text");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        RawResponse { status, head, body: String::new() }
    }

    /// The next chunk of a stream; `None` at its end.
    pub(crate) async fn hear_chunk(&mut self) -> Option<Vec<u8>> {
        let line = self.find(b"\r\n").await;
        let size = String::from_utf8(self.take(line + 2).await).expect("a size is text");
        let size = usize::from_str_radix(size.trim_end(), 16).expect("a size is a number");
        let chunk = self.take(size).await;
        assert_eq!(self.take(2).await, b"\r\n");
        (size > 0).then_some(chunk)
    }

    /// All bytes until EOF.
    pub(crate) async fn rest(mut self) -> Vec<u8> {
        while self.more().await {}
        self.heard
    }

    async fn find(&mut self, wanted: &[u8]) -> usize {
        loop {
            if let Some(at) = self.heard.windows(wanted.len()).position(|here| here == wanted) {
                return at;
            }
            assert!(self.more().await, "the server closed: {:?}", String::from_utf8_lossy(&self.heard));
        }
    }

    async fn take(&mut self, count: usize) -> Vec<u8> {
        while self.heard.len() < count {
            assert!(self.more().await, "the server closed: {:?}", String::from_utf8_lossy(&self.heard));
        }
        self.heard.drain(..count).collect()
    }

    async fn more(&mut self) -> bool {
        let read = self.stream.read_buf(&mut self.heard);
        matches!(tokio::time::timeout(HANG, read).await.expect("the server speaks or closes"), Ok(1..))
    }
}

/// A keep-alive request.
pub(crate) fn kept(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let length = if body.is_empty() { String::new() } else { format!("content-length: {}\r\n", body.len()) };
    let headers: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("{method} {path} HTTP/1.1\r\nhost: {HOST}\r\n{length}{}\r\n{body}", headers.concat())
}

/// The headers and the body of a `tools/list` request.
pub(crate) fn list(id: usize) -> (Vec<(&'static str, &'static str)>, String) {
    let mut headers = headers_of("tools/list", "");
    headers.push(("content-type", "application/json"));
    (headers, modern("tools/list", "").replace("\"id\":1", &format!("\"id\":{id}")))
}
