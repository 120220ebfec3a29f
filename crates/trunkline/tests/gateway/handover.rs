//! Restarts of a gateway whose listening socket is kept open by its parent, as systemd does.

use crate::{
    caller::{Caller, MODERN, text},
    door::Door,
    processes::{self, signal},
    site::{Site, until},
};
use rustix::process::Signal;
use serde_json::json;
use std::{
    net::TcpListener,
    os::fd::OwnedFd,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};
use tokio::task::JoinSet;

/// Number of concurrent clients, and of restarts while they call.
const CLIENTS: usize = 8;
const RESTARTS: usize = 3;
/// Number of calls on one connection.
const CALLS: usize = 5;
/// Starts a program with the socket as descriptor 3. The shell does it because only the started
/// process knows its id.
const ACTIVATE: &str = r#"export LISTEN_PID=$$ LISTEN_FDS=1; exec "$0" "$@" 3<&0 </dev/null"#;

/// Starts the gateway with this socket.
fn activate(site: &Site, socket: &TcpListener, script: &str) -> Command {
    let mut command = site.prepare(Command::new("sh"));
    command.args(["-c", script, env!("CARGO_BIN_EXE_trunkline"), "serve", "--json", "--config"]);
    command.arg(site.path("trunkline.json"));
    command.stdin(Stdio::from(OwnedFd::from(socket.try_clone().unwrap())));
    command
}

/// Calls on ever new connections; returns how many of them were closed before a response. The
/// first call of a connection gets one always.
async fn call(address: String, done: Arc<AtomicUsize>, stop: Arc<AtomicBool>) -> usize {
    let mut closed = 0;
    while !stop.load(Ordering::Relaxed) {
        // Panics if the connection is refused.
        let mut caller = Caller::connect(&address, "/mcp", None, MODERN).await;
        for number in 0..CALLS {
            let said = format!("{number} of {closed}");
            let params = json!({"name": "one_echo", "arguments": {"text": said}});
            let Ok(answer) = caller.ask(&json!(number), "tools/call", params).await else {
                assert!(number > 0, "an accepted connection was lost");
                closed += 1;
                break;
            };
            let message =
                answer.messages().pop().unwrap_or_else(|| panic!("{} {}", answer.status, answer.text()));
            assert_eq!(text(&message).as_ref(), Some(&said), "{} {message:#}", answer.status);
            done.fetch_add(1, Ordering::Relaxed);
            if answer.header("connection") == Some("close") {
                break;
            }
        }
    }
    closed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p07_a_restart_with_an_inherited_socket_refuses_no_connection() {
    let site = Site::of("handover", |site| json!({"one": site.echo("one", "modern")}));
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let start = || Door::start_with_input(&mut activate(&site, &socket, ACTIVATE));
    let mut door = start();
    assert_eq!(door.address, address);
    let (done, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        clients.spawn(call(address.clone(), done.clone(), stop.clone()));
    }
    let progress = async || {
        let before = done.load(Ordering::Relaxed);
        until(|| done.load(Ordering::Relaxed) > before + CLIENTS, || "no call succeeds".to_owned()).await;
    };
    for _ in 0..RESTARTS {
        progress().await;
        door.stop().await;
        door = start();
    }
    progress().await;
    stop.store(true, Ordering::Relaxed);
    let closed: usize = clients.join_all().await.into_iter().sum();
    // Each restart closes at most one idle connection of each client.
    assert!(closed <= CLIENTS * RESTARTS, "{closed} connections were closed before their response");
    door.stop().await;
}

#[tokio::test]
async fn p07_a_connection_that_was_accepted_before_the_restart_still_gets_its_answer() {
    let site = Site::of("accepted", |site| json!({"one": site.echo("one", "modern")}));
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut door = Door::start_with_input(&mut activate(&site, &socket, ACTIVATE));
    let mut first = Caller::open(&door, None, MODERN).await;
    first.insist("one_echo", json!({"text": "there"})).await;
    let descriptors = processes::descriptors(door.pid());
    let mut accepted = Caller::silent(&door, "/mcp", None, MODERN).await;
    until(|| processes::descriptors(door.pid()) > descriptors, || "it is not accepted".to_owned()).await;
    door.signal(Signal::TERM);
    // The connection that had a request is closed, so the gateway drains now.
    let gone = json!({"name": "one_echo", "arguments": {"text": "idle"}});
    while first.ask(&json!(1), "tools/call", gone.clone()).await.is_ok() {}
    assert_eq!(accepted.said("one_echo", json!({"text": "late"})).await, "late");
    assert_eq!(door.ended().await.code(), Some(0));
}

#[tokio::test]
async fn p07_children_get_neither_the_socket_nor_its_variables() {
    let site = Site::of("handover-child", |site| json!({"one": site.echo("one", "modern")}));
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let mut door = Door::start_with_input(&mut activate(&site, &socket, ACTIVATE));
    let pid = Caller::open(&door, None, MODERN).await.insist("one_pid", json!({})).await;
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    assert!(!String::from_utf8_lossy(&environment).contains("LISTEN_"), "{environment:?}");
    // Only the gateway and the test hold the socket: without them its port is free.
    drop(socket);
    signal(door.pid(), Signal::KILL);
    door.ended().await;
    until(|| TcpListener::bind(&address).is_ok(), || format!("{address} is still in use")).await;
}

#[tokio::test]
async fn p07_an_inherited_socket_for_other_machines_needs_keys() {
    let site = Site::of("handover-open", |site| json!({"one": site.echo("one", "modern")}));
    let socket = TcpListener::bind("0.0.0.0:0").unwrap();
    let output = activate(&site, &socket, ACTIVATE).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("0.0.0.0"), "{told}");
}

#[tokio::test]
async fn p07_two_sockets_or_another_process_s_are_not_used() {
    let site = Site::new("handover-two");
    let servers = json!({"one": site.echo("one", "modern")});
    site.configure(&json!({"mcp": {"servers": servers}, "listen": "127.0.0.1:0"}));
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let two = ACTIVATE.replace("LISTEN_FDS=1", "LISTEN_FDS=2");
    let output = activate(&site, &socket, &two).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("expected one inherited socket, got 2"), "{told}");

    let foreign = ACTIVATE.replace("LISTEN_PID=$$", "LISTEN_PID=1");
    let mut door = Door::start_with_input(&mut activate(&site, &socket, &foreign));
    assert_ne!(door.address, socket.local_addr().unwrap().to_string());
    door.stop().await;
}
