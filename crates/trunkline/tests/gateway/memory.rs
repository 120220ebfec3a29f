//! Many large messages at once.

use crate::{
    caller::{Caller, MODERN},
    door::Door,
    processes,
    site::{HANG, Site, until},
};
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::watch,
    task::JoinSet,
    time::timeout,
};

/// Number of connections, and bytes that each sends of a body that it does not finish.
const CONNECTIONS: usize = 200;
const SENT: usize = 2 * 1024 * 1024;
/// Memory for all bodies.
const BUDGET: usize = 64 * 1024 * 1024;
/// At least so many bodies do not fit.
const LEAST_REFUSED: usize = CONNECTIONS - BUDGET / SENT;
/// Memory of the gateway beside the bodies, in KiB.
const BESIDE_KIB: u64 = 100 * 1024;
/// Memory that may stay after the burst, in KiB.
const LEFT_KIB: u64 = 48 * 1024;

/// Sends a body without its end, counts a refusal with 503, and keeps the connection until it is
/// told to close it.
async fn unfinished(door: String, refused: Arc<AtomicUsize>, mut close: watch::Receiver<bool>) {
    let mut stream = TcpStream::connect(&door).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {door}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n",
        SENT + 1
    );
    let send = async {
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&vec![b' '; SENT]).await
    };
    // It fails if the gateway refuses the request and closes the connection.
    timeout(HANG, send).await.unwrap().ok();
    let mut answer = vec![0; 4096];
    let length = tokio::select! {
        read = stream.read(&mut answer) => read.unwrap_or(0),
        _ = close.wait_for(|close| *close) => return,
    };
    let answer = String::from_utf8_lossy(&answer[..length]).to_lowercase();
    if answer.starts_with("http/1.1 503") && answer.contains("retry-after: 1") {
        refused.fetch_add(1, Ordering::Relaxed);
    }
    close.wait_for(|close| *close).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l05_unfinished_bodies_share_one_memory_budget_that_is_given_back() {
    let site = Site::new("bodies");
    let servers = json!({"good": site.echo("good", "modern")});
    site.configure(&json!({"mcp": {"servers": servers}, "limits": {"memoryBytes": BUDGET}}));
    let mut door: Door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    caller.insist("good_echo", json!({"text": "there"})).await;
    let before = processes::resident_kib(door.pid());
    let refused = Arc::new(AtomicUsize::new(0));
    let (close, closed) = watch::channel(false);
    let mut bodies = JoinSet::new();
    for _ in 0..CONNECTIONS {
        bodies.spawn(unfinished(door.address.clone(), Arc::clone(&refused), closed.clone()));
    }
    let count = || refused.load(Ordering::Relaxed);
    until(|| count() >= LEAST_REFUSED, || format!("{} were refused", count())).await;
    assert_eq!(caller.said("good_echo", json!({"text": "small"})).await, "small");
    let during = processes::resident_kib(door.pid());
    assert!(during < (BUDGET / 1024) as u64 + BESIDE_KIB + before, "{before} KiB became {during} KiB");
    close.send(true).unwrap();
    bodies.join_all().await;
    let now = || processes::resident_kib(door.pid());
    until(|| now() < before + LEFT_KIB, || format!("{before} KiB, {during} KiB, then {} KiB", now())).await;
    // The budget is free again.
    let large = "x".repeat(SENT);
    assert_eq!(caller.said("good_echo", json!({"text": large})).await.len(), SENT);
    door.stop().await;
    site.emptied().await;
}
