//! A web site to fetch from: one page that answers, and one that never does.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

const PAGE: &str = "hello from a page";
const LONGEST_REQUEST: usize = 16 * 1024;

pub(crate) struct Site {
    talking: SocketAddr,
    silent: SocketAddr,
    /// Visitors of the silent page: those who came, and those who left.
    visitors: watch::Receiver<(usize, usize)>,
    tasks: [tokio::task::JoinHandle<()>; 2],
}

impl Site {
    pub(crate) async fn open() -> Self {
        let talking = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let (count, visitors) = watch::channel((0, 0));
        let addresses = (talking.local_addr().unwrap(), silent.local_addr().unwrap());
        let talker = tokio::spawn(async move {
            while let Ok((visitor, _)) = talking.accept().await {
                tokio::spawn(talk(visitor));
            }
        });
        let count = Arc::new(count);
        let listener = tokio::spawn(async move {
            while let Ok((visitor, _)) = silent.accept().await {
                count.send_modify(|(came, _)| *came += 1);
                let count = count.clone();
                tokio::spawn(async move {
                    listen(visitor).await;
                    count.send_modify(|(_, left)| *left += 1);
                });
            }
        });
        Self { talking: addresses.0, silent: addresses.1, visitors, tasks: [talker, listener] }
    }

    pub(crate) fn page(&self) -> String {
        format!("http://{}/page", self.talking)
    }

    pub(crate) fn silent(&self) -> String {
        format!("http://{}/page", self.silent)
    }

    /// Waits until somebody has come to the silent page.
    pub(crate) async fn visited(&self) {
        self.visitors.clone().wait_for(|(came, _)| *came > 0).await.unwrap();
    }

    /// Waits until everybody has left the silent page.
    pub(crate) async fn deserted(&self) {
        self.visitors.clone().wait_for(|(came, left)| *came > 0 && came == left).await.unwrap();
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

/// Answers one request: the page is there, everything else (such as rules for robots) is not.
async fn talk(mut visitor: TcpStream) {
    let mut request = vec![0; LONGEST_REQUEST];
    let read = visitor.read(&mut request).await.unwrap_or(0);
    let status = if request[..read].starts_with(b"GET /page") { "200 OK" } else { "404 Not Found" };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{PAGE}",
        PAGE.len(),
    );
    // A visitor who left early misses nothing.
    drop(visitor.write_all(answer.as_bytes()).await);
}

async fn listen(mut visitor: TcpStream) {
    let mut request = vec![0; LONGEST_REQUEST];
    while !matches!(visitor.read(&mut request).await, Ok(0) | Err(_)) {}
}
