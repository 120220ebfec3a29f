//! Tools that ask no questions: all kinds of content, progress, logs, schemas, and changing lists.

use super::content::{audio, embedded, image};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;
use trunkline_protocol::{
    Raw,
    message::{ContentBlock, Level},
};
use trunkline_toolbox::{Context, JsonSchema, Prompt, Tool, ToolError, schemars};

/// Time between two notifications of a tool, as the suite expects.
const STEP: Duration = Duration::from_millis(50);
/// Time that a disconnected client has to reconnect for the result.
const AWAY: Duration = Duration::from_millis(200);

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Mirrored {
    /// Sent as a header as well
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

/// The first tool is called without arguments by scenarios that take any tool.
pub(crate) fn all() -> Vec<Tool> {
    vec![
        Tool::new("test_simple_text", || async { "This is a simple text response for testing." })
            .description("Answers with a text"),
        Tool::new("test_image_content", || async { image() }).description("Answers with a picture"),
        Tool::new("test_audio_content", || async { audio() }).description("Answers with a sound"),
        Tool::new("test_embedded_resource", embedded_resource).description("Answers with a resource"),
        Tool::new("test_multiple_content_types", mixed)
            .description("Answers with text, picture and resource"),
        Tool::new("test_error_handling", fails).description("Always fails"),
        Tool::new("test_tool_with_progress", progress).description("Tells of its progress"),
        Tool::new("test_tool_with_logging", logs).description("Writes to the caller's log"),
        Tool::new("test_logging_tool", logs).description("Writes to the log of callers who want it"),
        Tool::new("test_reconnection", reconnection).description("Sends the caller away before it answers"),
        Tool::new("test_header_argument", |args: Mirrored| async move { format!("region {}", args.region) })
            .description("Has an argument that is sent as a header, too"),
        Tool::dynamic("json_schema_2020_12_tool", everything_schema(), |_cx, arguments: Raw| async move {
            format!("called with {}", arguments.as_str())
        })
        .description("Has a schema with keywords that some drop"),
        Tool::new("test_trigger_tool_change", change_tools).description("Changes the list of tools"),
        Tool::new("test_trigger_prompt_change", change_prompts).description("Changes the list of prompts"),
    ]
}

async fn embedded_resource() -> ContentBlock {
    embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
}

async fn mixed() -> Vec<ContentBlock> {
    let resource = r#"{"test":"data","value":123}"#;
    vec![
        ContentBlock::text("Multiple content types test:"),
        image(),
        embedded("test://mixed-content-resource", "application/json", resource),
    ]
}

async fn fails() -> Result<(), ToolError> {
    Err(ToolError::new("This tool intentionally returns an error for testing"))
}

async fn progress(cx: Context) -> &'static str {
    cx.progress(0, Some(100), "started");
    sleep(STEP).await;
    cx.progress(50, Some(100), "half way");
    sleep(STEP).await;
    cx.progress(100, Some(100), "done");
    "The tool told of its progress."
}

async fn logs(cx: Context) -> &'static str {
    cx.log(Level::Info, "conformance", "Tool execution started");
    sleep(STEP).await;
    cx.log(Level::Info, "conformance", "Tool processing data");
    sleep(STEP).await;
    cx.log(Level::Info, "conformance", "Tool execution completed");
    "The tool wrote to the log."
}

async fn reconnection(cx: Context) -> &'static str {
    cx.detach();
    sleep(AWAY).await;
    "The caller came back."
}

/// The schema keywords that the suite checks, which no Rust type would generate.
fn everything_schema() -> Raw {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    })
    .into()
}

/// Adds a tool, or removes it again.
async fn change_tools(cx: Context) -> Result<&'static str, ToolError> {
    const NAME: &str = "test_comes_and_goes";
    if cx.toolbox().remove_tool(NAME) {
        return Ok("A tool went.");
    }
    let tool = Tool::new(NAME, || async { "still here" }).description("Comes and goes");
    cx.toolbox().add_tool(tool).map_err(|error| ToolError::new(error.to_string()))?;
    Ok("A tool came.")
}

/// Adds a prompt, or removes it again.
async fn change_prompts(cx: Context) -> Result<&'static str, ToolError> {
    const NAME: &str = "test_comes_and_goes";
    if cx.toolbox().remove_prompt(NAME) {
        return Ok("A prompt went.");
    }
    let prompt = Prompt::new(NAME, || async { "Are you still here?" }).description("Comes and goes");
    cx.toolbox().add_prompt(prompt).map_err(|error| ToolError::new(error.to_string()))?;
    Ok("A prompt came.")
}
