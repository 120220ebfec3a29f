//! Many large messages at once.

use crate::{
    caller::{Caller, LEGACY, MODERN, text},
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
    net::{TcpSocket, TcpStream},
    process::Command,
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

/// Budget of the tests with results that are not read.
const SMALL: usize = 32 * 1024 * 1024;
/// Number of results that are not read, or kept for replay, and their size; together they are many
/// times the budget.
const RESULTS: usize = 48;
const RESULT: usize = 4 * 1024 * 1024;
/// Memory that a gateway takes beside these messages, in KiB.
const OVERHEAD_KIB: u64 = 64 * 1024;

fn assert_bounded(door: &Door, before: u64) {
    let now = processes::resident_kib(door.pid());
    assert!(now < before + (SMALL / 1024) as u64 + OVERHEAD_KIB, "{before} KiB became {now} KiB");
}

/// A gateway with a small budget, and a client that has called it.
async fn small(site: &Site, era: &str) -> (Door, Caller, u64) {
    let servers = json!({"good": site.echo("good", era)});
    site.configure(&json!({"mcp": {"servers": servers}, "limits": {"memoryBytes": SMALL}}));
    let door = site.open();
    let mut caller = Caller::open(&door, None, LEGACY).await;
    caller.insist("good_echo", json!({"text": "there"})).await;
    let before = processes::resident_kib(door.pid());
    (door, caller, before)
}

/// Calls a tool whose first message is large, reads the head of the response and nothing else.
async fn unread(door: &str) -> (TcpStream, bool) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(door.parse().unwrap()).await.unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN, "progressToken": 1,
        "io.modelcontextprotocol/clientInfo": {"name": "by-hand", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let arguments = json!({"text": "x".repeat(RESULT), "steps": 1});
    let params = json!({"name": "good_echo", "arguments": arguments, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {door}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {MODERN}\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: good_echo\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let send = async {
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await
    };
    // It fails if the gateway refuses the request and closes the connection.
    timeout(HANG, send).await.unwrap().ok();
    let mut status = [0; 12];
    timeout(HANG, stream.read_exact(&mut status)).await.unwrap().unwrap();
    let refused = &status == b"HTTP/1.1 503";
    assert!(refused || &status == b"HTTP/1.1 200", "{}", String::from_utf8_lossy(&status));
    (stream, refused)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l05_results_that_are_not_read_share_the_memory_budget() {
    let site = Site::new("unread");
    let (mut door, mut caller, before) = small(&site, "modern").await;
    let mut unread_results = Vec::new();
    let mut refused = 0;
    for _ in 0..RESULTS {
        let (stream, is_refused) = unread(&door.address).await;
        refused += usize::from(is_refused);
        unread_results.push(stream);
    }
    assert_bounded(&door, before);
    assert!(refused > 0, "nothing was refused");
    assert_eq!(caller.said("good_echo", json!({"text": "small"})).await, "small");
    drop(unread_results);
    // The budget is free again, and the memory goes back to the system.
    assert_eq!(caller.insist("good_large", json!({"bytes": RESULT})).await.len(), RESULT);
    let now = || processes::resident_kib(door.pid());
    until(|| now() < before + LEFT_KIB, || format!("{before} KiB, then {} KiB", now())).await;
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l05_replay_buffers_share_the_memory_budget_and_leave_a_part_of_it() {
    let site = Site::new("replay-memory");
    let (mut door, mut caller, before) = small(&site, "modern").await;
    let large = "x".repeat(RESULT / 2 - 1024);
    for number in 0..RESULTS {
        // A session keeps a number of ended streams.
        if number % 16 == 0 {
            caller.session = None;
            caller.begin().await;
        }
        let arguments = json!({"text": large, "steps": 1});
        let params = json!({"name": "good_echo", "arguments": arguments, "_meta": {"progressToken": 1}});
        let answer = caller.request("tools/call", params).await;
        assert_eq!(text(&answer).unwrap_or_else(|| panic!("{answer:#}")).len(), large.len());
    }
    assert_bounded(&door, before);
    door.stop().await;
}

/// A text that is not too large for a line, and whose line does not fit into the least budget.
const HUGE: usize = LEAST - 1024;
/// The least budget that can be configured.
const LEAST: usize = 16 * 1024 * 1024;

#[tokio::test]
async fn l05_a_result_without_memory_is_an_overload_and_not_too_large() {
    let site = Site::new("overload");
    let servers = json!({"pipe": site.echo("pipe", "modern"), "old": site.echo("old", "legacy")});
    site.configure(&json!({"mcp": {"servers": servers}, "limits": {"memoryBytes": LEAST}}));
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    for name in ["pipe", "old"] {
        caller.insist(&format!("{name}_echo"), json!({"text": "there"})).await;
        let answer = caller.call(&format!("{name}_large"), json!({"bytes": HUGE})).await;
        assert_eq!(answer["error"]["data"]["appCode"], "E224", "{answer:#}");
        assert_eq!(answer["error"]["data"]["retryable"], false, "{answer:#}");
    }
    door.stop().await;
}

#[tokio::test]
async fn l05_commands_of_a_client_have_the_same_budget() {
    let site = Site::new("client-memory");
    let server = site.echo("one", "modern");
    site.configure(&json!({"mcp": {"servers": {"one": server}}, "limits": {"memoryBytes": LEAST}}));
    let mut command = site.binary();
    command.env("TRUNKLINE_CONFIG", site.path("trunkline.json"));
    command.args(["call", "one", "large", &format!("bytes={HUGE}")]);
    let ended = timeout(HANG, Command::from(command).output()).await.unwrap().unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success(), "{errors}");
    assert!(errors.contains("E224") && errors.contains("limits.memoryBytes"), "{errors}");
    site.emptied().await;
}
