//! Helpers of the fault tests: connecting to a scripted peer, and advancing the clock.

use serde_json::{Value, json};
use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::task::JoinHandle;
use trunkline_client::{
    Abilities, Ability, Asked as HostAsked, Client, ConnectOptions, Direction, FrameTap, Host, Ids,
    RevisionChoice, Target, resilience::RetryOptions,
};
use trunkline_protocol::{Era, Fault, Notification, Object, Outcome, Raw, message::CallToolResult};
use trunkline_testkit::script::{Asked, HttpPeer, ProcessLine, ProcessPeer};

/// Wall-clock limit of a test; reached only if it hangs.
const HANG: Duration = Duration::from_mins(1);

pub(crate) const INITIALIZED: &str = "notifications/initialized";

/// Runs a test on one thread; panics if it hangs. The limit is in wall-clock time, because tests
/// advance tokio's clock.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (expire, expired) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            std::thread::sleep(HANG);
            drop(expire);
        });
        tokio::select! {
            () = test => {}
            _ = expired => panic!("the test hangs"),
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
}

/// Advances the clock for timers that are already running.
pub(crate) async fn jump(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

pub(crate) fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// Options with integer ids and no retries, so that a test sees each failure once.
pub(crate) fn options() -> ConnectOptions {
    ConnectOptions {
        ids: Ids::Integer,
        retry: RetryOptions { attempts: 1, ..RetryOptions::default() },
        ..ConnectOptions::default()
    }
}

pub(crate) fn speaking(speak: RevisionChoice) -> ConnectOptions {
    ConnectOptions { speak, ..options() }
}

pub(crate) type Connecting = JoinHandle<Result<Client, Fault>>;

pub(crate) fn connect(target: Target, options: ConnectOptions) -> Connecting {
    tokio::spawn(async move { Client::connect(&target, options).await })
}

/// A process peer, and a client that is about to connect to it.
pub(crate) async fn process(options: ConnectOptions) -> (ProcessPeer, Connecting) {
    let peer = process_peer().await;
    let connecting = connect(Target::command(peer.command()).unwrap(), options);
    (peer, connecting)
}

pub(crate) async fn process_peer() -> ProcessPeer {
    ProcessPeer::start(env!("CARGO_BIN_EXE_scripted-peer")).await
}

/// An HTTP peer, and a client that is about to connect to it.
pub(crate) async fn http(options: ConnectOptions) -> (HttpPeer, Connecting) {
    let peer = HttpPeer::start().await;
    let connecting = connect(Target::url(&peer.url()).unwrap(), options);
    (peer, connecting)
}

pub(crate) fn introduction(revision: &str) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": {"tools": {"listChanged": true}, "resources": {}, "logging": {}, "tasks": {}},
        "serverInfo": {"name": "scripted", "version": "1"},
    })
}

pub(crate) fn discovery() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}, "resources": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
    })
}

/// A legacy process after its handshake.
pub(crate) async fn legacy(options: ConnectOptions) -> (Client, ProcessLine) {
    legacy_of("2025-11-25", options).await
}

pub(crate) async fn legacy_of(revision: &str, options: ConnectOptions) -> (Client, ProcessLine) {
    let (peer, connecting) =
        process(ConnectOptions { speak: RevisionChoice::Era(Era::Legacy), ..options }).await;
    let mut line = peer.accept().await;
    initialize(&mut line, revision).await;
    (connecting.await.unwrap().unwrap(), line)
}

/// Plays the server's part of the legacy handshake.
pub(crate) async fn initialize(line: &mut ProcessLine, revision: &str) {
    let asked = line.expect("initialize").await;
    line.answer(&asked, introduction(revision)).await;
    line.expect(INITIALIZED).await;
}

/// A modern process after discovery.
pub(crate) async fn modern(options: ConnectOptions) -> (Client, ProcessLine) {
    let (peer, connecting) = process(options).await;
    let mut line = peer.accept().await;
    let asked = line.expect("server/discover").await;
    line.answer(&asked, discovery()).await;
    (connecting.await.unwrap().unwrap(), line)
}

/// A legacy session over HTTP whose server has no GET stream.
pub(crate) async fn http_legacy(options: ConnectOptions) -> (Client, HttpPeer) {
    let (mut peer, connecting) =
        http(ConnectOptions { speak: RevisionChoice::Era(Era::Legacy), ..options }).await;
    begin_session(&mut peer, "session-1").await;
    let client = connecting.await.unwrap().unwrap();
    peer.expect("GET").await.status(405).await;
    (client, peer)
}

/// Plays the server's part of the legacy handshake over HTTP.
pub(crate) async fn begin_session(peer: &mut HttpPeer, id: &str) {
    let request = peer.expect("POST initialize").await;
    let body = request.asked().result(&introduction("2025-11-25"));
    let headers = [("content-type", "application/json"), ("mcp-session-id", id)];
    request.answer(200, &headers, body).await;
    peer.expect("POST notifications/initialized").await.status(202).await;
}

/// A modern server over HTTP after discovery.
pub(crate) async fn http_modern(options: ConnectOptions) -> (Client, HttpPeer) {
    let (mut peer, connecting) = http(options).await;
    peer.expect("POST server/discover").await.result(&discovery()).await;
    (connecting.await.unwrap().unwrap(), peer)
}

/// Calls the tool `work` in a separate task.
pub(crate) fn call(client: &Client) -> JoinHandle<Result<CallToolResult, Fault>> {
    let client = client.clone();
    tokio::spawn(async move { client.call("work", Object::new()).await })
}

pub(crate) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// Asserts that a normal call still works after the fault.
pub(crate) async fn assert_works(client: &Client, line: &mut ProcessLine) {
    let call = call(client);
    let asked = line.expect("tools/call").await;
    line.answer(&asked, text("fine")).await;
    call.await.unwrap().expect("a call after the fault works");
}

pub(crate) async fn assert_http_works(client: &Client, peer: &mut HttpPeer) {
    let call = call(client);
    peer.expect("POST tools/call").await.result(&text("fine")).await;
    call.await.unwrap().expect("a call after the fault works");
}

/// Returns the catalogue code and the whole text of a fault.
pub(crate) fn code_and_text(fault: &Fault) -> (&'static str, String) {
    (fault.entry().code, fault.to_string())
}

pub(crate) fn code<T: std::fmt::Debug>(outcome: Result<T, Fault>) -> &'static str {
    outcome.expect_err("the server did wrong").entry().code
}

/// Polls until a condition holds that cannot be awaited, such as a counter's value.
pub(crate) async fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Returns the id of a request, to put into a hand-written response.
pub(crate) fn id_of(asked: &Asked) -> &str {
    asked.id.as_deref().expect("a request has an id")
}

/// A host that answers every request with one function and records the methods.
pub(crate) struct TestHost {
    answer: Box<dyn Fn(&HostAsked) -> Outcome + Send + Sync>,
    pub(crate) asked: Mutex<Vec<String>>,
}

impl TestHost {
    pub(crate) fn new(answer: impl Fn(&HostAsked) -> Outcome + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { answer: Box::new(answer), asked: Mutex::default() })
    }

    pub(crate) fn accepting() -> Arc<Self> {
        Self::new(|_| Ok(Raw::from(json!({"action": "accept", "content": {"name": "Ada"}}))))
    }
}

impl Host for TestHost {
    fn abilities(&self) -> Abilities {
        Abilities { elicitation_form: Ability::Yes, ..Abilities::default() }
    }

    fn answer(&self, asked: HostAsked) -> futures_util::future::BoxFuture<'static, Outcome> {
        self.asked.lock().unwrap().push(asked.method.to_string());
        let outcome = (self.answer)(&asked);
        Box::pin(std::future::ready(outcome))
    }

    fn notice(&self, _notification: &Notification) {}
}

/// Returns a tap that records the lines that are not messages.
pub(crate) fn noise_counter() -> (FrameTap, Arc<Mutex<Vec<Vec<u8>>>>) {
    let noise = Arc::new(Mutex::new(Vec::new()));
    let kept = noise.clone();
    let tap = FrameTap::new(move |direction, frame| {
        if direction == Direction::Noise {
            kept.lock().unwrap().push(frame.to_vec());
        }
    });
    (tap, noise)
}
