//! Connections that are assigned to worker threads.

use crate::support::{
    start,
    wire::{HANG, headers_of, modern, request},
};
use serde_json::Value;
use std::{collections::HashSet, net::SocketAddr, sync::Arc, thread};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};
use trunkline_protocol::{Call, Handler, Raw, Reply};
use trunkline_serve::{ServeOptions, Shutdown, WorkerThreads};

/// Answers with the name of the thread that it runs on.
struct Where;

impl Handler for Where {
    fn call(&self, _: Call) -> Reply {
        let thread = thread::current().name().unwrap_or_default().to_owned();
        Reply::ready(Ok(Raw::from(serde_json::json!({"resultType": "complete", "thread": thread}))))
    }
}

struct Client(BufReader<TcpStream>, SocketAddr);

impl Client {
    async fn connect(address: SocketAddr) -> Self {
        Self(BufReader::new(TcpStream::connect(address).await.unwrap()), address)
    }

    /// The name of the thread that answered.
    async fn ask(&mut self) -> String {
        let mut headers = headers_of("tools/call", "x");
        headers.push(("connection", "keep-alive"));
        let body = modern("tools/call", r#""name":"x""#);
        let request = request("POST", "/mcp", self.1, &headers, &body);
        let request = String::from_utf8(request).unwrap().replacen("connection: close\r\n", "", 1);
        self.0.write_all(request.as_bytes()).await.unwrap();
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).await.unwrap();
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().unwrap();
                }
                Some(_) => {}
                None if line.starts_with("HTTP/1.1 200") => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await.unwrap();
        let answer: Value = serde_json::from_slice(&body).unwrap();
        answer["result"]["thread"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    async fn is_closed(&mut self) -> bool {
        tokio::time::timeout(HANG, self.0.read_u8()).await.expect("the connection is closed").is_err()
    }
}

#[tokio::test]
async fn a_connection_stays_on_its_thread_and_all_threads_have_as_many() {
    let threads = WorkerThreads::start(2).unwrap();
    let options = ServeOptions { workers: threads.workers(), ..ServeOptions::default() };
    let (address, tell, running) = start(Arc::new(Where), options).await;
    let mut clients = Vec::new();
    let mut answered = Vec::new();
    for _ in 0..6 {
        let mut client = Client::connect(address).await;
        answered.push(client.ask().await);
        clients.push(client);
    }
    assert_eq!(answered.iter().collect::<HashSet<_>>().len(), 2, "{answered:?}");
    assert_eq!(answered.iter().filter(|thread| *thread == "worker-1").count(), 3, "{answered:?}");
    for _ in 0..3 {
        for (client, thread) in clients.iter_mut().zip(&answered) {
            assert_eq!(client.ask().await, *thread);
        }
    }
    tell.send_replace(Shutdown::Drain);
    for client in &mut clients {
        assert!(client.is_closed().await);
    }
    tokio::time::timeout(HANG, running).await.unwrap().unwrap();
}
