//! Prompts: plain, with arguments, with non-text content, and one that asks a question first.

use super::{
    content::{embedded, image},
    rounds::accepted,
};
use serde::Deserialize;
use trunkline_protocol::message::{ContentBlock, PromptMessage, Role};
use trunkline_toolbox::{Context, JsonSchema, Prompt, ToolError, ToolboxBuilder, schemars};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct TwoArguments {
    /// First test argument
    arg1: String,
    /// Second test argument
    arg2: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
#[serde(rename_all = "camelCase")]
struct Embed {
    /// URI of the resource to embed
    resource_uri: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct UserContext {
    context: String,
}

pub(crate) fn add(builder: ToolboxBuilder) -> ToolboxBuilder {
    let simple = Prompt::new("test_simple_prompt", || async { "This is a simple prompt for testing." });
    let arguments = Prompt::new("test_prompt_with_arguments", |args: TwoArguments| async move {
        format!("Prompt with arguments: arg1='{}', arg2='{}'", args.arg1, args.arg2)
    });
    builder
        .prompt(simple.description("Says a sentence"))
        .prompt(
            arguments
                .description("Says its arguments")
                .complete_from("arg1", ["paris", "park", "party"])
                .complete_from("arg2", ["world"]),
        )
        .prompt(
            Prompt::new("test_prompt_with_embedded_resource", embeds).description("Carries a resource along"),
        )
        .prompt(Prompt::new("test_prompt_with_image", shows).description("Carries a picture along"))
        .prompt(Prompt::new("test_input_required_result_prompt", asks).description("Asks the user first"))
}

async fn embeds(args: Embed) -> Vec<PromptMessage> {
    let resource = embedded(&args.resource_uri, "text/plain", "Embedded resource content for testing.");
    said([resource, ContentBlock::text("Please process the embedded resource above.")])
}

async fn shows() -> Vec<PromptMessage> {
    said([image(), ContentBlock::text("Please analyze the image above.")])
}

async fn asks(cx: Context) -> Result<String, ToolError> {
    let question = "What context should the prompt use?";
    let answer = accepted(cx.question("user_context").elicit::<UserContext>(question).await?)?;
    Ok(format!("Please consider this: {}", answer.context))
}

fn said(blocks: [ContentBlock; 2]) -> Vec<PromptMessage> {
    blocks.into_iter().map(|block| PromptMessage::new(Role::User, block)).collect()
}
