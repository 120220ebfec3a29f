//! Our own client, in both eras and over both HTTP transports, against one server.

use crate::support::{
    Fixture, start,
    wire::{INITIALIZE, headers_of, modern, open_session, post},
};
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::json;
use std::{future, sync::Arc, time::Duration};
use trunkline_client::{
    Abilities, Ability, Asked, Carrier, Client, ConnectOptions, Host, Interest, RevisionChoice, Target,
};
use trunkline_protocol::{Era, Notification, Object, Outcome, Raw, Revision, message::ContentBlock, method};
use trunkline_serve::{Eras, ServeOptions, Shutdown};

struct Ada;

impl Host for Ada {
    fn abilities(&self) -> Abilities {
        Abilities { elicitation_form: Ability::Yes, ..Abilities::default() }
    }

    fn answer(&self, _asked: Asked) -> BoxFuture<'static, Outcome> {
        future::ready(Ok(json!({"action": "accept", "content": {"name": "Ada"}}).into())).boxed()
    }

    fn notice(&self, _notification: &Notification) {}
}

fn options(speak: RevisionChoice) -> ConnectOptions {
    ConnectOptions { speak, host: Arc::new(Ada), ..ConnectOptions::default() }
}

fn arguments(text: &str) -> Object {
    let mut arguments = Object::new();
    arguments.set("text", Raw::string(text));
    arguments
}

async fn say(client: &Client, tool: &str) -> String {
    let result = client.call(tool, arguments("hällo\n")).await.unwrap();
    match &result.blocks()[0] {
        ContentBlock::Text(block) => block.text.clone(),
        other => panic!("{other:?}"),
    }
}

async fn exercise(client: &Client) {
    let tools = client.tools().await.unwrap();
    assert_eq!(tools.items[0].rest.get("vendor").unwrap().as_str(), r#"{"big":1}"#);
    assert_eq!(say(client, "echo").await, "hällo\n");
    assert_eq!(say(client, "ask").await, "hello Ada");
    assert_eq!(say(client, "detach").await, "later");
    let mut seen = Vec::new();
    let call = client.call("progress", Object::new()).on_progress(|p| seen.push(p.progress.to_string()));
    call.await.unwrap();
    assert_eq!(seen, ["1", "2"]);
    let fault = client.call("missing", Object::new()).await.unwrap_err();
    assert_eq!(fault.original_mcp_code(), Some(-32602));
    client.ping().await.unwrap();
}

async fn hear_a_change(client: &Client, fixture: &Fixture) {
    let mut subscription = client.subscribe(Interest { tools: true, ..Interest::default() }).await.unwrap();
    // A legacy session starts to listen concurrently with the response to its first notification,
    // so the change is repeated until it arrives.
    let heard = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            fixture.changes.send(method::TOOLS_CHANGED).ok();
            if let Ok(change) = tokio::time::timeout(Duration::from_millis(100), subscription.next()).await {
                return change;
            }
        }
    });
    assert_eq!(heard.await.unwrap(), Some(trunkline_client::Change::Tools));
}

async fn cancel(client: &Client, dropped: &mut tokio::sync::mpsc::UnboundedReceiver<String>) {
    let limit = Duration::from_secs(30);
    tokio::select! {
        _ = client.call("never", Object::new()).into_future() => panic!("it never ends"),
        told = tokio::time::timeout(limit, dropped.recv()) => assert_eq!(told.unwrap().as_deref(), Some("began")),
    }
    assert_eq!(tokio::time::timeout(limit, dropped.recv()).await.unwrap().as_deref(), Some("never"));
}

async fn whole_visit(path: &str, speak: RevisionChoice, want: (Era, Carrier)) {
    let (fixture, mut dropped) = Fixture::new();
    let (address, _running, _server) = start(fixture.clone(), ServeOptions::default()).await;
    let target = Target::url(&format!("http://{address}{path}")).unwrap();
    let client = Client::connect(&target, options(speak)).await.unwrap();
    assert_eq!((client.server().era(), client.server().transport), want);
    assert_eq!(client.server().name.as_deref(), Some("fixture"));
    assert_eq!(client.server().instructions.as_deref(), Some("be kind"));
    exercise(&client).await;
    hear_a_change(&client, &fixture).await;
    cancel(&client, &mut dropped).await;
    assert_eq!(say(&client, "echo").await, "hällo\n");
    client.close().await;
}

#[tokio::test]
async fn modern_over_http() {
    whole_visit("/mcp", RevisionChoice::Newest, (Era::Modern, Carrier::StreamableHttp)).await;
}

#[tokio::test]
async fn legacy_over_http() {
    whole_visit("/mcp", RevisionChoice::Era(Era::Legacy), (Era::Legacy, Carrier::StreamableHttp)).await;
}

#[tokio::test]
async fn every_legacy_revision_over_http() {
    for revision in Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Legacy) {
        let (fixture, _) = Fixture::new();
        let (address, _running, _server) = start(fixture, ServeOptions::default()).await;
        let target = Target::url(&format!("http://{address}/mcp")).unwrap();
        let client = Client::connect(&target, options(RevisionChoice::Exactly(revision))).await.unwrap();
        assert_eq!(client.server().revision, revision);
        assert_eq!(say(&client, "echo").await, "hällo\n");
        client.close().await;
    }
}

#[tokio::test]
async fn legacy_over_sse() {
    whole_visit("/sse", RevisionChoice::Newest, (Era::Legacy, Carrier::LegacySse)).await;
}

#[tokio::test]
async fn an_era_can_be_switched_off() {
    for era in [Era::Legacy, Era::Modern] {
        let (fixture, _) = Fixture::new();
        let options_served = ServeOptions { eras: Eras::Only(era), ..ServeOptions::default() };
        let (address, _running, _server) = start(fixture, options_served).await;
        let target = Target::url(&format!("http://{address}/mcp")).unwrap();
        let client = Client::connect(&target, options(RevisionChoice::Newest)).await.unwrap();
        assert_eq!(client.server().era(), era);
        assert_eq!(say(&client, "echo").await, "hällo\n");
    }
}

#[tokio::test]
async fn a_modern_server_tells_a_legacy_client_what_it_speaks() {
    let (fixture, _) = Fixture::new();
    let options = ServeOptions { eras: Eras::Only(Era::Modern), ..ServeOptions::default() };
    let (address, _running, _server) = start(fixture, options).await;
    let heard = post(address, &[], INITIALIZE).await;
    assert_eq!((heard.status, heard.code()), (400, -32022));
    let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
    assert_eq!(heard.json()["error"]["data"], data);
    let heard = post(address, &headers_of("server/discover", ""), &modern("server/discover", "")).await;
    assert_eq!(heard.json()["result"]["supportedVersions"], json!(["2026-07-28"]));
}

#[tokio::test]
async fn p02_a_server_told_to_stop_lets_calls_finish() {
    let (fixture, _) = Fixture::new();
    let (address, tell, server) = start(fixture, ServeOptions::default()).await;
    let target = Target::url(&format!("http://{address}/mcp")).unwrap();
    let client = Client::connect(&target, options(RevisionChoice::Newest)).await.unwrap();
    assert_eq!(say(&client, "echo").await, "hällo\n");
    tell.send(Shutdown::Drain).unwrap();
    tokio::time::timeout(Duration::from_secs(20), server).await.unwrap().unwrap();
    assert!(client.call("echo", Object::new()).await.is_err());
}

#[tokio::test]
async fn v06_readiness_turns_false_while_a_call_finishes() {
    let (fixture, mut told) = Fixture::new();
    let (address, tell, server) = start(fixture, ServeOptions::default()).await;
    let target = Target::url(&format!("http://{address}/mcp")).unwrap();
    let client = Client::connect(&target, options(RevisionChoice::Newest)).await.unwrap();
    let call = tokio::spawn({
        let client = client.clone();
        async move { client.call("never", Object::new()).await }
    });
    assert_eq!(told.recv().await.as_deref(), Some("began"));
    tell.send(Shutdown::Drain).unwrap();
    let ready = crate::support::wire::request("GET", "/readyz", address, &[], "");
    let heard = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            let heard = crate::support::wire::send(address, &ready).await;
            if heard.status != 200 {
                return heard;
            }
        }
    });
    assert_eq!(heard.await.unwrap().status, 503);
    call.abort();
    tokio::time::timeout(Duration::from_secs(20), server).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_legacy_client_that_cannot_be_told_apart_lists_no_tasks() {
    let (fixture, _) = Fixture::new();
    let (address, _running, _server) = start(fixture, ServeOptions::default()).await;
    let session = open_session(address, &[]).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/list"}"#;
    let heard = post(address, &[("mcp-session-id", &session)], body).await;
    assert_eq!(heard.code(), -32601, "{heard:?}");
}
