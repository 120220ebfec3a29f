//! A web site with one page that responds and one that never does.

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
    /// Connections to the silent page: opened, and closed.
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

    /// Waits for a connection to the silent page.
    pub(crate) async fn connected(&self) {
        self.visitors.clone().wait_for(|(came, _)| *came > 0).await.unwrap();
    }

    /// Waits until all connections to the silent page are closed.
    pub(crate) async fn all_closed(&self) {
        self.visitors.clone().wait_for(|(came, left)| *came > 0 && came == left).await.unwrap();
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

/// Answers one request: 200 for the page, 404 for everything else (such as `robots.txt`).
async fn talk(mut visitor: TcpStream) {
    let mut request = vec![0; LONGEST_REQUEST];
    let read = visitor.read(&mut request).await.unwrap_or(0);
    let status = if request[..read].starts_with(b"GET /page") { "200 OK" } else { "404 Not Found" };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{PAGE}",
        PAGE.len(),
    );
    // Fails if the client has disconnected, which is fine.
    drop(visitor.write_all(answer.as_bytes()).await);
}

async fn listen(mut visitor: TcpStream) {
    let mut request = vec![0; LONGEST_REQUEST];
    while !matches!(visitor.read(&mut request).await, Ok(0) | Err(_)) {}
}
