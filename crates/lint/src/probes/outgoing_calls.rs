//! Calls tools that take a URL with one of a local listener, to detect request forgery.

use super::{LineUse, Probe, Stage};
use crate::{evidence::Step, rule::Mode, sample};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    task::JoinSet,
};

/// The calls, and the observation: the variant of a call whose URL was requested.
pub(crate) const OUTGOING_CALL_STEP: Step = Step("outgoing-call");

/// Parts of argument names that mean a URL.
const ADDRESS_NAMES: [&str; 6] = ["url", "uri", "link", "href", "endpoint", "webhook"];

/// Maximum number of URLs tried.
const MOST: usize = 8;

/// Bytes read from a request; the path is in the first line.
const HEAD: usize = 1024;

const ANSWER: &[u8] = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";

pub(crate) static OUTGOING_CALLS: Probe =
    Probe::new("outgoing-calls", Mode::Active, |stage| Box::pin(run(stage))).line(LineUse::Risky);

type Heads = Arc<Mutex<Vec<String>>>;

async fn run(stage: &mut Stage) {
    let tools = stage.callable_tools();
    let targets: Vec<(&Value, &str)> = tools.iter().flat_map(addresses).take(MOST).collect();
    if targets.is_empty() {
        return;
    }
    let Ok(listener) = TcpListener::bind("127.0.0.1:0").await else { return };
    let Ok(here) = listener.local_addr() else { return };
    let heads = Heads::default();
    let serving = tokio::spawn(serve(listener, heads.clone()));
    for (number, (tool, field)) in targets.into_iter().enumerate() {
        if !stage.known.take_call() {
            break;
        }
        let name = tool["name"].as_str().unwrap_or_default();
        let variant = format!("{name}:{field}");
        let path = format!("/trunkline-lint-{number}-");
        let mut arguments = sample::sample(&tool["inputSchema"]);
        arguments[field] = json!(format!("http://{here}{path}"));
        let params = json!({"name": name, "arguments": arguments});
        stage.speaker.ask_variant((OUTGOING_CALL_STEP, &variant), "tools/call", params).await;
        let reached = heads.lock().iter().any(|head| head.contains(&path));
        if reached {
            stage.speaker.observe(OUTGOING_CALL_STEP, variant);
        }
    }
    serving.abort();
}

/// The arguments of a tool that are URLs.
fn addresses(tool: &Value) -> impl Iterator<Item = (&Value, &str)> {
    let properties = tool["inputSchema"]["properties"].as_object().into_iter().flatten();
    properties.filter_map(move |(name, schema)| {
        let lower = name.to_ascii_lowercase();
        let named = ADDRESS_NAMES.iter().any(|part| lower.contains(part));
        let address = schema["type"] == "string" && (named || schema["format"] == "uri");
        address.then_some((tool, name.as_str()))
    })
}

async fn serve(listener: TcpListener, heads: Heads) {
    let mut visitors = JoinSet::new();
    while let Ok((mut visitor, _)) = listener.accept().await {
        let heads = heads.clone();
        visitors.spawn(async move {
            let mut head = vec![0; HEAD];
            let read = visitor.read(&mut head).await.unwrap_or(0);
            let text = String::from_utf8_lossy(&head[..read]).into_owned();
            heads.lock().push(text);
            visitor.write_all(ANSWER).await.ok();
        });
    }
}
