//! Records of the access log.

use crate::support::{
    Fixture,
    wire::{HANG, headers_of, modern, open_session, post, request, send},
};
use std::{net::SocketAddr, sync::Arc};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{mpsc, watch},
};
use trunkline_serve::{
    Access, AccessHook, AccessTransport, CallEnding, Logged, ServeOptions, Server, Shutdown, serve_stdio,
};

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

struct Log(mpsc::UnboundedReceiver<Access>);

impl Log {
    fn new() -> (AccessHook, Self) {
        let (tell, heard) = mpsc::unbounded_channel();
        (Arc::new(move |access| drop(tell.send(access))), Self(heard))
    }

    async fn next(&mut self) -> Access {
        tokio::time::timeout(HANG, self.0.recv()).await.expect("a record comes").unwrap()
    }
}

async fn served() -> (SocketAddr, Log, mpsc::UnboundedReceiver<String>, watch::Sender<Shutdown>) {
    let (hook, log) = Log::new();
    let (fixture, seen) = Fixture::new();
    let handler = Arc::new(Logged::new(fixture, hook.clone()));
    let options = ServeOptions { access: Some(hook), ..ServeOptions::default() };
    let server = Server::bind(SocketAddr::from(([127, 0, 0, 1], 0)), handler, options).await.unwrap();
    let address = server.address();
    let (tell, told) = watch::channel(Shutdown::Running);
    tokio::spawn(server.run(told));
    (address, log, seen, tell)
}

fn status(access: &Access) -> Option<u16> {
    match &access.way {
        AccessTransport::Http { status, .. } => *status,
        AccessTransport::Unread { status, .. } => Some(*status),
        AccessTransport::Stream { .. } => None,
    }
}

#[tokio::test]
async fn a_request_is_told_once_with_its_call() {
    let (address, mut log, _seen, _running) = served().await;
    let mut headers = headers_of("tools/call", "echo");
    headers.push(("mcp-param-text", "hi"));
    headers.push(("traceparent", TRACE));
    let body = modern("tools/call", r#""name":"echo","arguments":{"text":"hi"}"#);
    let heard = post(address, &headers, &body).await;
    assert_eq!(heard.status, 200);
    let told = log.next().await;
    let AccessTransport::Http { verb, path, peer, status } = &told.way else { panic!("{told:?}") };
    assert_eq!(
        (verb.as_str(), path.as_str(), peer.is_loopback(), *status),
        ("POST", "/mcp", true, Some(200))
    );
    assert_eq!((told.method.as_deref(), told.target.as_deref()), (Some("tools/call"), Some("echo")));
    assert_eq!((told.caller.unwrap().id.as_str(), told.ending), ("local", Some(CallEnding::Fine)));
    assert_eq!((told.bytes_in, told.bytes_out), (body.len() as u64, heard.body.len() as u64));
    assert_eq!(told.trace_id.map(u128::from_be_bytes), Some(0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736));
    assert!(!told.cut);

    let page = send(address, &request("GET", "/healthz?token=secret", address, &[], "")).await;
    assert_eq!(page.status, 200);
    let told = log.next().await;
    assert!(told.method.is_none() && !format!("{told:?}").contains("secret"), "{told:?}");
}

#[tokio::test]
async fn failures_and_refusals_are_told() {
    let (address, mut log, _seen, _running) = served().await;
    let body = modern("tools/call", r#""name":"nothing""#);
    post(address, &headers_of("tools/call", "nothing"), &body).await;
    assert!(matches!(log.next().await.ending, Some(CallEnding::Failed { code: -32602, .. })));
    let foreign = [("host", "evil.example")];
    let heard = post(address, &foreign, &body).await;
    let told = log.next().await;
    assert_eq!(status(&told), Some(heard.status));
    assert!(told.caller.is_none() && told.method.is_none() && heard.status == 403);
}

#[tokio::test]
async fn a_session_is_told_by_its_hash_from_its_first_request_on() {
    let (address, mut log, _seen, _running) = served().await;
    let session = open_session(address, &[]).await;
    let begun = log.next().await;
    assert_eq!(begun.method.as_deref(), Some("initialize"));
    let hash = begun.session.unwrap();
    assert!(hash.len() == 16 && !session.contains(&hash));
    let list = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
    post(address, &[("mcp-session-id", &session)], list).await;
    loop {
        let told = log.next().await;
        assert_eq!(told.session.as_deref(), Some(hash.as_str()));
        if told.method.as_deref() == Some("tools/list") {
            break assert_eq!(told.ending, Some(CallEnding::Fine));
        }
    }
}

#[tokio::test]
async fn a_client_that_hangs_up_leaves_a_record_without_status() {
    let (address, mut log, mut seen, _running) = served().await;
    let body = modern("tools/call", r#""name":"never""#);
    let mut stream = TcpStream::connect(address).await.unwrap();
    let asked = request("POST", "/mcp", address, &headers_of("tools/call", "never"), &body);
    stream.write_all(&asked).await.unwrap();
    assert_eq!(seen.recv().await.as_deref(), Some("began"));
    drop(stream);
    let told = log.next().await;
    assert_eq!((status(&told), told.target.as_deref()), (None, Some("never")));
    assert_eq!((told.ending, told.cut), (Some(CallEnding::Cancelled), true));
}

#[tokio::test]
async fn an_answer_that_its_client_did_not_wait_for_is_told_as_cut() {
    let (address, mut log, _seen, _running) = served().await;
    let body = modern("subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#);
    let mut stream = TcpStream::connect(address).await.unwrap();
    let asked = request("POST", "/mcp", address, &headers_of("subscriptions/listen", ""), &body);
    stream.write_all(&asked).await.unwrap();
    assert_eq!(stream.read_u8().await.unwrap(), b'H');
    drop(stream);
    let told = log.next().await;
    assert_eq!((status(&told), told.cut), (Some(200), true), "{told:?}");
}

#[tokio::test]
async fn a_request_that_cannot_be_read_is_told_with_its_reason() {
    let (address, mut log, _seen, _running) = served().await;
    for (head, expected) in [
        ("GET / HTTP/1.1\nhost: a\n\n", 400),
        ("GET / HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n", 501),
        (&format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(101)), 431),
    ] {
        assert_eq!(send(address, head.as_bytes()).await.status, expected);
        let told = log.next().await;
        let AccessTransport::Unread { peer, status, reason } = &told.way else { panic!("{told:?}") };
        assert!(peer.is_loopback() && *status == expected && !reason.is_empty(), "{told:?}");
        assert!(told.caller.is_none() && told.method.is_none());
    }
}

#[tokio::test]
async fn a_call_over_a_line_has_a_record_of_its_own() {
    let (hook, mut log) = Log::new();
    let handler = Arc::new(Logged::new(Fixture::new().0, hook.clone()));
    let (mut client, server) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(server);
    let options = ServeOptions { access: Some(hook), ..ServeOptions::default() };
    let serving = tokio::spawn(serve_stdio(handler, options, input, output));
    let line = format!("{}\n", modern("tools/call", r#""name":"echo","arguments":{"text":"hi"}"#));
    client.write_all(line.as_bytes()).await.unwrap();
    let told = loop {
        let told = log.next().await;
        if told.method.as_deref() == Some("tools/call") {
            break told;
        }
    };
    assert_eq!((told.way, told.target.as_deref()), (AccessTransport::Stream { view: None }, Some("echo")));
    assert!(told.ending == Some(CallEnding::Fine) && told.bytes_out > 0);
    drop(client);
    serving.await.unwrap().unwrap();
}
