//! A recording TCP proxy in front of a server, so that a test sees the HTTP traffic.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

const CHUNK: usize = 16 * 1024;
const SESSION_HEADER: &str = "mcp-session-id";

pub(crate) struct Wire {
    pub(crate) address: SocketAddr,
    server: SocketAddr,
    traffic: Arc<Traffic>,
    open: watch::Receiver<usize>,
    listener: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct Traffic {
    sent: Mutex<Vec<u8>>,
    received: Mutex<Vec<u8>>,
}

impl Wire {
    pub(crate) async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let traffic = Arc::new(Traffic::default());
        let (count, open) = watch::channel(0);
        let shared = traffic.clone();
        let listener = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (traffic, count) = (shared.clone(), count.clone());
                count.send_modify(|open| *open += 1);
                tokio::spawn(async move {
                    // A broken connection counts as closed.
                    drop(pass(client, server, &traffic).await);
                    count.send_modify(|open| *open -= 1);
                });
            }
        });
        Self { address, server, traffic, open, listener }
    }

    /// Waits until every connection is closed.
    pub(crate) async fn left(&self) {
        self.open.clone().wait_for(|open| *open == 0).await.unwrap();
    }

    /// Returns the id of the session that the server opened, if any.
    pub(crate) fn session(&self) -> Option<String> {
        header(&text(&self.traffic.received), SESSION_HEADER)
    }

    /// Returns the session id of the client's DELETE.
    pub(crate) fn deleted(&self) -> Option<String> {
        let sent = text(&self.traffic.sent);
        header(&sent[sent.find("DELETE /")?..], SESSION_HEADER)
    }

    /// Sends a ping with this session id to the server; returns the HTTP status.
    pub(crate) async fn status_of_session(&self, session: &str) -> u16 {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n{SESSION_HEADER}: {session}\r\n\r\n",
            self.server,
            body.len(),
        );
        let mut stream = TcpStream::connect(self.server).await.unwrap();
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        std::str::from_utf8(&answer[9..]).unwrap().parse().unwrap()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// Forwards until either side closes; the proxy does not support half-closed connections.
async fn pass(client: TcpStream, server: SocketAddr, traffic: &Traffic) -> io::Result<()> {
    let server = TcpStream::connect(server).await?;
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::select! {
        ended = pump(from_client, to_server, &traffic.sent) => ended,
        ended = pump(from_server, to_client, &traffic.received) => ended,
    }
}

async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, traffic: &Mutex<Vec<u8>>) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = from.read(&mut chunk).await?;
        if read == 0 {
            return Ok(());
        }
        traffic.lock().unwrap().extend_from_slice(&chunk[..read]);
        to.write_all(&chunk[..read]).await?;
    }
}

fn text(traffic: &Mutex<Vec<u8>>) -> String {
    String::from_utf8_lossy(&traffic.lock().unwrap()).into_owned()
}

fn header(text: &str, name: &str) -> Option<String> {
    let value = |line: &str| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    };
    text.split("\r\n").find_map(value)
}
