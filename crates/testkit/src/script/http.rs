//! A scripted HTTP/1.1 server with one request per connection.

use super::Asked;
use parking_lot::Mutex;
use serde_json::Value;
use std::{collections::VecDeque, fmt::Write as _, sync::Arc};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::AbortHandle,
};

/// Capacity of the queue of requests for the test.
const BACKLOG: usize = 1024;
const JSON: (&str, &str) = ("content-type", "application/json");

/// A server whose responses are all written by the test.
#[derive(Debug)]
pub struct HttpPeer {
    port: u16,
    incoming: mpsc::Receiver<Incoming>,
    passed_over: VecDeque<Incoming>,
    seen: Arc<Mutex<Vec<String>>>,
    acceptor: AbortHandle,
}

/// A request without a response yet. Dropping it closes the connection.
#[derive(Debug)]
pub struct Incoming {
    pub http_method: String,
    pub path: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    stream: TcpStream,
}

/// A chunked response in progress. Dropping it closes the connection.
#[derive(Debug)]
pub struct Events(TcpStream);

impl HttpPeer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let (tell, incoming) = mpsc::channel(BACKLOG);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = seen.clone();
        let acceptor = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (tell, log) = (tell.clone(), log.clone());
                tokio::spawn(async move {
                    if let Some(request) = Incoming::read(stream).await {
                        log.lock().push(request.label());
                        tell.send(request).await.ok();
                    }
                });
            }
        });
        Self { port, incoming, passed_over: VecDeque::new(), seen, acceptor: acceptor.abort_handle() }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the labels of all requests so far, such as `GET` or `POST initialize`, in order of
    /// arrival.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().clone()
    }

    /// Waits for the next request.
    pub async fn next(&mut self) -> Incoming {
        match self.passed_over.pop_front() {
            Some(request) => request,
            None => self.incoming.recv().await.expect("the acceptor lives as long as the peer"),
        }
    }

    /// Waits for a request with this label, such as `GET` or `POST initialize`; others stay
    /// queued.
    pub async fn expect(&mut self, label: &str) -> Incoming {
        if let Some(at) = self.passed_over.iter().position(|request| request.label() == label) {
            return self.passed_over.remove(at).expect("the position was just found");
        }
        loop {
            let request = self.incoming.recv().await.expect("the acceptor lives as long as the peer");
            if request.label() == label {
                return request;
            }
            self.passed_over.push_back(request);
        }
    }
}

impl Drop for HttpPeer {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

impl Incoming {
    /// Reads one request; `None` if the connection is closed first.
    async fn read(stream: TcpStream) -> Option<Self> {
        stream.set_nodelay(true).ok()?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).await.ok().filter(|count| *count > 0)?;
        let mut words = line.split(' ').map(str::to_owned);
        let (http_method, path) = (words.next()?, words.next()?);
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).await.ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().expect("a length is a number"))];
        reader.read_exact(&mut body).await.ok()?;
        Some(Self { http_method, path, headers, body, stream: reader.into_inner() })
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the HTTP method and, if the body is a message, its JSON-RPC method.
    pub fn label(&self) -> String {
        match serde_json::from_slice::<Value>(&self.body) {
            Ok(message) => {
                let method = message["method"].as_str().unwrap_or("answer");
                format!("{} {method}", self.http_method)
            }
            Err(_) => self.http_method.clone(),
        }
    }

    /// Parses the message in the body.
    pub fn asked(&self) -> Asked {
        Asked::read(String::from_utf8(self.body.clone()).expect("a body is text"))
    }

    /// Answers with a body and `content-length`.
    pub async fn answer(mut self, status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) {
        let body = body.as_ref();
        let head = head(status, headers, &format!("content-length: {}\r\n", body.len()));
        // The client may have disconnected; then the response is not needed.
        if self.stream.write_all(head.as_bytes()).await.is_ok() {
            self.stream.write_all(body).await.ok();
        }
        self.stream.shutdown().await.ok();
    }

    /// Answers with JSON.
    pub async fn json(self, status: u16, body: impl AsRef<[u8]>) {
        self.answer(status, &[JSON], body).await;
    }

    /// Answers the request in the body with a result.
    pub async fn result(self, result: &Value) {
        let body = self.asked().result(result);
        self.json(200, body).await;
    }

    /// Answers without a body, such as 202.
    pub async fn status(self, status: u16) {
        self.answer(status, &[], "").await;
    }

    /// Starts a chunked response with these headers.
    pub async fn begin(mut self, status: u16, headers: &[(&str, &str)]) -> Events {
        let head = head(status, headers, "transfer-encoding: chunked\r\n");
        self.stream.write_all(head.as_bytes()).await.ok();
        Events(self.stream)
    }

    /// Starts an event stream.
    pub async fn events(self) -> Events {
        self.begin(200, &[("content-type", "text/event-stream")]).await
    }

    /// Writes raw bytes instead of a response, then closes the connection.
    pub async fn raw(mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.ok();
        self.stream.shutdown().await.ok();
    }

    /// Waits until the client closes the connection of this request.
    pub async fn abandoned(mut self) {
        wait_for_end(&mut self.stream).await;
    }
}

impl Events {
    /// Writes one chunk of the body; false if the connection is closed.
    pub async fn write(&mut self, data: impl AsRef<[u8]>) -> bool {
        let data = data.as_ref();
        let mut chunk = format!("{:x}\r\n", data.len()).into_bytes();
        chunk.extend_from_slice(data);
        chunk.extend_from_slice(b"\r\n");
        self.0.write_all(&chunk).await.is_ok()
    }

    /// Writes an SSE event that carries a message.
    pub async fn message(&mut self, message: impl AsRef<str>) {
        self.write(format!("event: message\ndata: {}\n\n", message.as_ref())).await;
    }

    /// Ends the body correctly, with the last chunk.
    pub async fn end(mut self) {
        self.0.write_all(b"0\r\n\r\n").await.ok();
        self.0.shutdown().await.ok();
    }

    /// Writes until the client closes the connection; returns the number of bytes written.
    pub async fn write_until_closed(&mut self, piece: &[u8]) -> u64 {
        let mut written = 0;
        while self.write(piece).await {
            written += piece.len() as u64;
        }
        written
    }

    /// Waits until the client closes the stream.
    pub async fn closed(mut self) {
        wait_for_end(&mut self.0).await;
    }
}

async fn wait_for_end(stream: &mut TcpStream) {
    let mut rest = [0; 1024];
    // A reset counts as closed.
    while matches!(stream.read(&mut rest).await, Ok(1..)) {}
}

fn head(status: u16, headers: &[(&str, &str)], framing: &str) -> String {
    let mut head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\n{framing}");
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").expect("a string takes everything");
    }
    head + "\r\n"
}
