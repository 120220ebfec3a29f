//! The audit rows of the attack catalogue, each test named by its id.

mod endings;
mod failures;
mod files;
mod groups;
mod lines;
mod tampering;

use super::{Audited, Options, Trail, verify};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::{
    fs, future,
    path::Path,
    sync::Arc,
    task::{Context, Poll, Waker},
};
use trunkline_protocol::{Call, Fault, FaultKind, Handler, Notification, Part, Raw, Reply, method};

/// Its answer depends on the tool's name.
struct FakeHandler;

impl Handler for FakeHandler {
    fn call(&self, call: Call) -> Reply {
        let params = call.params.clone();
        let name: String = params.and_then(|params| params.member_as("name")).unwrap_or_default();
        let fault = |kind| Reply::ready(Err(Fault::new(kind, "no")));
        match name.as_str() {
            "denied" => fault(FaultKind::Forbidden),
            "invalid" => fault(FaultKind::InvalidRequest),
            "limited" => fault(FaultKind::RateLimited),
            "timed_out" => fault(FaultKind::Timeout),
            "failed" => fault(FaultKind::ConnectionLost),
            "tool_error" => Reply::ready(Ok(json!({"content": [], "isError": true}).into())),
            "never" | "get-never" => Reply::from_future(future::pending()),
            "panicked" => Reply::from_future(async { panic!("the tool panics") }),
            "chatty" => Reply::new(futures_util::stream::iter([
                Part::Notification(Notification::new("notifications/message", None)),
                Part::Final(Ok(Raw::empty_object())),
            ])),
            _ => Reply::ready(Ok(Raw::empty_object())),
        }
    }
}

/// A handler over a trail in `dir`; tools whose names begin with `get` only read.
fn audited(dir: &Path, options: Options) -> (Audited<FakeHandler>, Trail) {
    let trail = Trail::open(dir, options).unwrap();
    // The trail's thread syncs the first records. It would hold the writer, and a test that makes
    // syncs slow would block it.
    while !trail.journal().is_idle() {
        std::thread::yield_now();
    }
    (Audited::new(FakeHandler, trail.clone(), Arc::new(|_, tool| tool.starts_with("get"))), trail)
}

fn tool(name: &str, arguments: &Value) -> Call {
    Call::new(method::TOOLS_CALL, Some(json!({"name": name, "arguments": arguments}).into()))
}

async fn call(handler: &Audited<FakeHandler>, name: &str) -> Result<Raw, Fault> {
    handler.call(tool(name, &json!({}))).outcome().await
}

/// Polls once with a no-op waker.
fn poll_once(reply: &mut Reply) -> Poll<Option<Part>> {
    reply.poll_next_unpin(&mut Context::from_waker(Waker::noop()))
}

/// All records in order; fails if the trail is not intact.
fn records(dir: &Path) -> Vec<Value> {
    let report = verify(dir).unwrap();
    assert!(report.is_intact(), "{report:#?}");
    lines(dir).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn segments(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries.filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect();
    found.sort();
    found
}

fn lines(dir: &Path) -> Vec<String> {
    let texts = segments(dir).into_iter().map(|path| fs::read_to_string(path).unwrap());
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["kind"] == kind).collect()
}
