//! Requests with one response: lists, calls, reads, prompts, completions, and the server's
//! requests during a call.

use super::Run;
use crate::{recorder::Recorded, script::Call};
use serde_json::Value;
use std::sync::Arc;
use trunkline_client::{Client, Listing};
use trunkline_protocol::{
    Fault, FaultKind,
    message::{
        CallToolResult, CompleteParams, CompletionArgument, ContentBlock, PromptReference, ResourceContents,
    },
};

/// Lists everything for which the server has a capability, and checks the items that the script
/// names.
pub(super) async fn lists(run: &Run) {
    let (client, script) = (&run.client, &run.script);
    let tools = client.tools().await.unwrap();
    assert!(tools.bad.is_empty(), "{:?}", tools.bad);
    for wanted in script.tools {
        assert!(tools.items.iter().any(|tool| tool.name == *wanted), "no tool {wanted} in {tools:?}");
    }
    if client.has_capability("resources") {
        let resources = client.resources().await.unwrap();
        let templates = client.resource_templates().await.unwrap();
        assert!(resources.bad.is_empty() && templates.bad.is_empty(), "{resources:?} {templates:?}");
        let found = |wanted: &str| resources.items.iter().any(|item| item.uri == wanted);
        assert!(script.resource.is_none_or(found), "{resources:?}");
        let found = |wanted: &str| templates.items.iter().any(|item| item.uri_template == wanted);
        assert!(script.template.is_none_or(found), "{templates:?}");
    } else {
        assert!(script.resource.is_none() && script.template.is_none());
        assert_eq!(client.resources().await.unwrap_err().entry().code, "E205");
    }
    if client.has_capability("prompts") {
        let prompts = client.prompts().await.unwrap();
        assert!(prompts.bad.is_empty(), "{:?}", prompts.bad);
        let found = |wanted: &str| prompts.items.iter().any(|item| item.name == wanted);
        assert!(script.prompt.as_ref().is_none_or(|prompt| found(prompt.name)), "{prompts:?}");
    } else {
        assert!(script.prompt.is_none());
    }
}

pub(super) async fn calls(run: &Run) {
    make(&run.client, &run.script.call).await;
    let Some((call, content)) = &run.script.structured else { return };
    let result = make(&run.client, call).await;
    let structured: Value = result.structured_content.unwrap().decode().unwrap();
    assert_eq!(structured, *content);
    let schema = run.client.tool(call.tool).await.unwrap().output_schema.unwrap();
    assert_eq!(schema.member_as::<String>("type").as_deref(), Some("object"));
}

pub(super) async fn reads(run: &Run) {
    let (Some(uri), Some(says)) = (run.script.resource, run.script.read) else {
        return must_be_empty(run.client.resources().await);
    };
    let result = run.client.read(uri).await.unwrap();
    let [ResourceContents::Text(contents)] = result.contents.as_slice() else { panic!("{result:?}") };
    assert_eq!(contents.uri, uri);
    assert!(contents.text.contains(says), "{contents:?}");
}

pub(super) async fn prompts(run: &Run) {
    let Some(prompt) = &run.script.prompt else {
        return must_be_empty(run.client.prompts().await);
    };
    let (name, value) = &prompt.argument;
    let result = run.client.prompt(prompt.name, vec![((*name).to_owned(), value.clone())]).await.unwrap();
    let said = |message: &trunkline_protocol::message::PromptMessage| match &message.content {
        ContentBlock::Text(text) => text.text.contains(&prompt.says),
        _ => false,
    };
    assert!(result.messages.iter().any(said), "{result:?}");
}

pub(super) async fn completes(run: &Run) {
    let Some(wanted) = &run.script.complete else { return run.must_lack("completions") };
    let params = CompleteParams::new(
        PromptReference::new(wanted.prompt),
        CompletionArgument::new(wanted.argument, wanted.begun),
    );
    let result = run.client.complete(params).await.unwrap();
    assert_eq!(result.completion.values, wanted.values);
}

/// Calls tools that send a request to the host during the call.
pub(super) async fn questions(run: &Run) {
    for call in &run.script.questions {
        let asked = || run.recorder.count(|event| matches!(event, Recorded::Asked { .. }));
        let before = asked();
        make(&run.client, call).await;
        // The server may have requested and cached the roots earlier.
        assert!(asked() > before || call.tool == "get-roots-list", "{} asked nothing", call.tool);
    }
}

/// A step may be skipped only if the server lacks the capability or its list is empty.
fn must_be_empty<T: std::fmt::Debug>(list: Result<Arc<Listing<T>>, Fault>) {
    match list {
        Ok(list) => assert!(list.items.is_empty(), "{list:?}"),
        Err(fault) => assert_eq!(fault.kind(), FaultKind::CapabilityMissing),
    }
}

/// Calls a tool and checks the text of its result.
pub(crate) async fn make(client: &Client, call: &Call) -> CallToolResult {
    let result = client.call(call.tool, call.arguments()).await.unwrap();
    assert!(!result.failed(), "{}: {result:?}", call.tool);
    let said =
        |block: &ContentBlock| matches!(block, ContentBlock::Text(text) if text.text.contains(&call.says));
    assert!(result.blocks().iter().any(said), "{} does not say `{}`: {result:?}", call.tool, call.says);
    result
}
