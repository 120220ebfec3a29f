//! HTTP by hand: what a well-behaved client would never send.

use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// How long anything may take before a test is taken for hanging.
pub(crate) const HANG: Duration = Duration::from_secs(30);

/// An answer, as far as a test looks at it.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Heard {
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
pub(crate) async fn send(address: SocketAddr, request: &[u8]) -> Heard {
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
    Heard { status, head: head.to_owned(), body: body.to_owned() }
}

/// A POST to `/mcp` with these further headers.
pub(crate) async fn post(address: SocketAddr, headers: &[(&str, &str)], body: &str) -> Heard {
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

/// A modern request with all that it must say.
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

/// Opens a legacy session; gives its id.
pub(crate) async fn open_session(address: SocketAddr, headers: &[(&str, &str)]) -> String {
    let heard = post(address, headers, INITIALIZE).await;
    heard.header("mcp-session-id").unwrap_or_else(|| panic!("{heard:?}"))
}
