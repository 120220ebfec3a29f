//! Batches: 2025-03-26 has them, its successors do not.

use crate::{
    recorder::{Recorded, Recorder},
    scripted::{Scripted, legacy, result},
};
use serde_json::{Value, json};
use std::sync::Arc;
use trunkline_client::{Carrier, Client, ConnectOptions};
use trunkline_protocol::{FaultKind, Object, method};

/// Answers a call with a batch: a log message, a request, and the response.
fn batching(revision: &'static str) -> impl Fn(&Value) -> Option<Value> + Send + Sync {
    move |message| match message["method"].as_str() {
        Some("tools/call") => Some(json!([
            {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "batched"}},
            {"jsonrpc": "2.0", "id": "from-the-server", "method": "ping"},
            result(message, json!({"content": [{"type": "text", "text": "in a batch"}]})),
        ])),
        _ => legacy(revision, message),
    }
}

async fn take(path: &str, carrier: Carrier) {
    let server = Scripted::serve(batching("2025-03-26")).await;
    let recorder = Recorder::new("file:///");
    let options = ConnectOptions {
        host: Arc::new(recorder.clone()),
        tap: Some(recorder.tap()),
        ..ConnectOptions::default()
    };
    let client = Client::connect(&server.target(path), options).await.unwrap();
    assert_eq!((client.server().transport, client.server().revision.as_str()), (carrier, "2025-03-26"));
    let called = client.call("any", Object::new()).await.unwrap();
    assert_eq!(called.blocks().len(), 1);
    let logged = |event: &Recorded| match event {
        Recorded::Notice { method, params } => {
            (method == method::MESSAGE && params["data"] == "batched").then_some(())
        }
        _ => None,
    };
    recorder.until(logged).await;
    let answered = |event: &Recorded| match event {
        Recorded::Sent(frame) => {
            (frame["id"] == "from-the-server" && frame["result"] == json!({})).then_some(())
        }
        _ => None,
    };
    recorder.until(answered).await;
    client.close().await;
    assert!(server.seen().iter().all(Value::is_object), "we send no batches ourselves");
}

#[tokio::test]
async fn a_batch_is_taken_apart_over_streamable_http() {
    take("mcp", Carrier::StreamableHttp).await;
}

#[tokio::test]
async fn a_batch_is_taken_apart_over_http_and_sse() {
    take("sse", Carrier::LegacySse).await;
}

#[tokio::test]
async fn a_batch_from_a_server_whose_revision_has_none_is_refused() {
    let server = Scripted::serve(batching("2025-06-18")).await;
    let client = Client::connect(&server.target("mcp"), ConnectOptions::default()).await.unwrap();
    let fault = client.call("any", Object::new()).await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::BadAnswer);
    client.ping().await.unwrap();
    client.close().await;
}
