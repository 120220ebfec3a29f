//! Paginated lists.

use crate::{
    cell::{Cell, Server, Way},
    exercise::Run,
    recorder::{Recorded, Recorder},
    scripted::{Scripted, legacy, result},
};
use serde_json::{Value, json};
use std::sync::Arc;
use trunkline_client::{Carrier, Client, ConnectOptions};
use trunkline_protocol::{Era, FaultKind};

async fn follow(era: Era) {
    let cell = Cell { server: Server::Rmcp, carrier: Carrier::Stdio, era, way: Way::Auto };
    let run = Run::begin(cell).await;
    let resources = run.client.resources().await.unwrap();
    let uris: Vec<_> = resources.items.iter().map(|item| item.uri.as_str()).collect();
    assert_eq!(uris, ["note://hello", "note://page-1", "note://page-2"]);
    let cursor = |event: &Recorded| match event {
        Recorded::Sent(frame) if frame["method"] == "resources/list" => {
            Some(frame["params"]["cursor"].clone())
        }
        _ => None,
    };
    let cursors: Vec<_> = run.recorder.all().iter().filter_map(cursor).collect();
    assert_eq!(cursors, [Value::Null, json!(""), json!("last")], "a cursor of no characters is a cursor");
    run.client.close().await;
}

#[tokio::test]
async fn pages_are_followed_to_the_end_in_the_legacy_era() {
    follow(Era::Legacy).await;
}

#[tokio::test]
async fn pages_are_followed_to_the_end_in_the_modern_era() {
    follow(Era::Modern).await;
}

#[tokio::test]
async fn pages_that_lead_back_to_each_other_are_an_error() {
    let server = Scripted::serve(|message| match message["method"].as_str() {
        Some("tools/list") => Some(result(message, json!({"tools": [], "nextCursor": "again"}))),
        _ => legacy("2025-11-25", message),
    })
    .await;
    let options = ConnectOptions { host: Arc::new(Recorder::new("file:///")), ..ConnectOptions::default() };
    let client = Client::connect(&server.target("mcp"), options).await.unwrap();
    let fault = client.tools().await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::BadAnswer);
    client.close().await;
}
