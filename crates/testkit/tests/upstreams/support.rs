//! Helpers of the upstream tests.

use serde_json::{Value, json};
use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;
use trunkline_client::{ConnectOptions, Connector, Ids, RevisionChoice, Target};
use trunkline_gateway::upstream::{Offer, State, Status, Upstream, UpstreamOptions};
use trunkline_protocol::{Call, Caller, Era, Handler, Outcome};
use trunkline_testkit::script::{ProcessLine, ProcessPeer};

/// Environment variable that marks the processes of a test.
pub(crate) const MARK: &str = "TRUNKLINE_TEST_MARK";

pub(crate) fn upstream(name: &str, target: Target, options: UpstreamOptions) -> Arc<Upstream> {
    let connect = ConnectOptions {
        ids: Ids::Integer,
        timeouts: options.timeouts,
        environment: environment(),
        ..ConnectOptions::default()
    };
    start(name, target, connect, options)
}

/// A legacy upstream that is not probed, so that a script always sees the same messages.
pub(crate) fn legacy(name: &str, peer: &ProcessPeer, options: UpstreamOptions) -> Arc<Upstream> {
    let connect = ConnectOptions {
        ids: Ids::Integer,
        speak: RevisionChoice::Era(Era::Legacy),
        timeouts: options.timeouts,
        ..ConnectOptions::default()
    };
    start(name, Target::command(peer.command()).unwrap(), connect, options)
}

pub(crate) fn start(
    name: &str,
    target: Target,
    connect: ConnectOptions,
    options: UpstreamOptions,
) -> Arc<Upstream> {
    let upstream = Upstream::new(name.parse().unwrap(), Arc::new(Connector::new(target, connect)), options);
    upstream.start();
    upstream
}

pub(crate) fn environment() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    std::env::vars_os().collect()
}

/// Timeout, longer than any step takes on a busy machine.
const HANG: Duration = Duration::from_mins(3);

/// Waits until the status of an upstream satisfies `wanted`.
pub(crate) async fn until(upstream: &Upstream, wanted: impl Fn(&Status) -> bool) -> Status {
    let began = Instant::now();
    loop {
        let status = upstream.status();
        if wanted(&status) {
            return status;
        }
        assert!(began.elapsed() < HANG, "timed out, the status is {status:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) async fn ready(upstream: &Upstream) -> Arc<Offer> {
    until(upstream, |status| status.state == State::Ready && !status.stale && status.revision.is_some())
        .await;
    upstream.offer().unwrap()
}

pub(crate) fn call_of(tool: &str, arguments: &Value) -> Call {
    Call::new("tools/call", Some(json!({"name": tool, "arguments": arguments}).into()))
}

pub(crate) fn call_by(who: &str, tool: &str, arguments: &Value) -> Call {
    let mut call = call_of(tool, arguments);
    call.caller = Arc::new(Caller { id: who.to_owned(), ..(*Caller::local()).clone() });
    call
}

/// Runs a call in a separate task.
pub(crate) fn begin(upstream: &Arc<Upstream>, call: Call) -> JoinHandle<Outcome> {
    tokio::spawn(upstream.call(call).outcome())
}

/// Plays a server's part until its tools are listed.
pub(crate) async fn welcome(line: &mut ProcessLine) {
    let asked = line.expect("initialize").await;
    let introduction = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {"listChanged": true}},
        "serverInfo": {"name": "scripted", "version": "1"},
    });
    line.answer(&asked, introduction).await;
    line.expect("notifications/initialized").await;
    answer_list(line).await;
}

pub(crate) async fn answer_list(line: &mut ProcessLine) {
    let asked = line.expect("tools/list").await;
    line.answer(&asked, tools()).await;
}

pub(crate) fn tools() -> Value {
    json!({"tools": [{"name": "work", "inputSchema": {"type": "object"}}]})
}

/// Returns the processes with this mark.
pub(crate) fn processes(mark: &str) -> Vec<i32> {
    let wanted = format!("{MARK}={mark}");
    let marked = |path: &Path| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    entries.filter(|path| marked(path)).filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect()
}

/// Returns the number of child processes that have exited but were not waited for.
pub(crate) fn zombies() -> usize {
    let parent = std::process::id();
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("stat"));
    let is_ours = |stat: String| {
        let mut fields = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ')).into_iter().flatten();
        fields.next() == Some("Z") && fields.next() == Some(&parent.to_string())
    };
    entries.filter_map(|stat| fs::read_to_string(stat).ok()).filter(|stat| is_ours(stat.clone())).count()
}

pub(crate) fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

pub(crate) fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    // It may have exited already.
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
}

/// The command of `rmcp-server` with this mark and era.
pub(crate) fn rmcp(mark: &str, era: &str) -> Target {
    let words = [env!("CARGO_BIN_EXE_rmcp-server"), "--era", era];
    Target::command(words).unwrap().with_variable(MARK, mark)
}

/// Returns a mark that no other test run has.
pub(crate) fn unique(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

/// Waits until no process with this mark is left.
pub(crate) async fn gone(mark: &str) {
    let began = tokio::time::Instant::now();
    while !processes(mark).is_empty() {
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", processes(mark));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
