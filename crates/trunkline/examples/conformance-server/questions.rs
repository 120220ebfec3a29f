//! Tools that ask the user, the model or the client while they work.

use serde::Deserialize;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use trunkline_protocol::{
    Raw,
    message::{ContentBlock, CreateMessageParams, ElicitResult, Role, SampledContent, SamplingMessage},
};
use trunkline_toolbox::{Context, JsonSchema, Tool, ToolError, schemars};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Ask {
    /// What to ask the model
    prompt: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Show {
    /// What to show the user
    message: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Kind {
    /// What to ask for
    kind: AskedFor,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(rename_all = "lowercase")]
enum AskedFor {
    Form,
    Url,
    Sampling,
    Roots,
}

/// Number of calls cancelled while their question was open.
static LEFT_ALONE: AtomicUsize = AtomicUsize::new(0);
/// Number of calls that continued after the answer.
static ANSWERED: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn all() -> Vec<Tool> {
    vec![
        Tool::new("test_sampling", sampling).description("Asks the client's model"),
        Tool::new("test_elicitation", elicitation).description("Asks the user"),
        Tool::new("test_elicitation_sep1034_defaults", defaults)
            .description("Asks the user with a form that has defaults"),
        Tool::new("test_elicitation_sep1330_enums", choices)
            .description("Asks the user with a form that has every kind of choice"),
        Tool::new(
            "test_missing_capability",
            |cx: Context| async move { sample(&cx, "Are you there?", 10).await },
        )
        .description("Cannot do without the client's model"),
        Tool::new("test_streaming_elicitation", streaming).description("Says something, then asks the user"),
        Tool::new("test_asks_between", asks_between)
            .description("Tells of its progress, asks what it is told to, and tells of its progress again"),
        Tool::new("test_left_alone", || async { LEFT_ALONE.load(Ordering::Acquire).to_string() })
            .description("Tells how many calls were given up while they asked"),
        Tool::new("test_answered", || async { ANSWERED.load(Ordering::Acquire).to_string() })
            .description("Tells how many calls were answered"),
    ]
}

/// Asks the client's model.
pub(crate) async fn sample(cx: &Context, prompt: &str, most_tokens: u64) -> Result<String, ToolError> {
    let message = SamplingMessage::new(Role::User, SampledContent::from(ContentBlock::text(prompt)));
    let answer = cx.sample(CreateMessageParams::new(vec![message], most_tokens)).await?;
    let text = answer.content.blocks().iter().find_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    });
    text.ok_or_else(|| ToolError::new("the model answered without a text"))
}

async fn sampling(cx: Context, args: Ask) -> Result<String, ToolError> {
    Ok(format!("LLM response: {}", sample(&cx, &args.prompt, 100).await?))
}

async fn elicitation(cx: Context, args: Show) -> Result<String, ToolError> {
    let form = json!({
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"}
        },
        "required": ["username", "email"]
    });
    let answer = cx.elicit_form(args.message, form.into()).await?;
    Ok(format!("User response: {}", shown(&answer)))
}

async fn defaults(cx: Context) -> Result<String, ToolError> {
    let form = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true}
        },
        "required": []
    });
    let answer = cx.elicit_form("Please check these values", form.into()).await?;
    Ok(format!("Elicitation completed: {}", shown(&answer)))
}

async fn choices(cx: Context) -> Result<String, ToolError> {
    let answer = cx.elicit_form("Please choose", every_choice()).await?;
    Ok(format!("Elicitation completed: {}", shown(&answer)))
}

fn every_choice() -> Raw {
    let options = json!(["option1", "option2", "option3"]);
    let titled = |word: &str| {
        json!([
            {"const": "value1", "title": format!("First {word}")},
            {"const": "value2", "title": format!("Second {word}")},
            {"const": "value3", "title": format!("Third {word}")}
        ])
    };
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": {"type": "string", "oneOf": titled("Option")},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"]
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}}
        },
        "required": []
    })
    .into()
}

async fn streaming(cx: Context) -> Result<String, ToolError> {
    cx.progress(1, Some(2), "about to ask");
    let form = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
    let answer = cx.question("ok").elicit_form("Is this all right?", form.into()).await?;
    Ok(shown(&answer))
}

/// Counts a call that is dropped before its end.
struct Unfinished;

impl Drop for Unfinished {
    fn drop(&mut self) {
        LEFT_ALONE.fetch_add(1, Ordering::AcqRel);
    }
}

async fn asks_between(cx: Context, args: Kind) -> Result<String, ToolError> {
    let unfinished = Unfinished;
    cx.progress(1, Some(3), "about to ask");
    let asking = cx.question("between");
    let answer = match args.kind {
        AskedFor::Form => {
            let form =
                json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
            shown(&asking.elicit_form("Who is there?", form.into()).await?)
        }
        AskedFor::Url => shown(&asking.elicit_url("Please look", "https://example.com/look").await?),
        AskedFor::Sampling => sample(&asking, "What is between?", 100).await?,
        AskedFor::Roots => {
            let roots = asking.roots().await?;
            roots.iter().map(|root| root.uri.as_str()).collect::<Vec<_>>().join(", ")
        }
    };
    cx.progress(3, Some(3), "asked");
    std::mem::forget(unfinished);
    ANSWERED.fetch_add(1, Ordering::AcqRel);
    Ok(format!("{:?} answered: {answer}", args.kind))
}

fn shown(answer: &ElicitResult) -> String {
    let content = answer.content.as_ref().map_or("{}", Raw::as_str);
    format!("action={}, content={content}", answer.action)
}
