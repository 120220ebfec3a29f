//! Tools whose questions become rounds of `input_required` for modern clients. The tool sees no
//! difference.

use super::questions::sample;
use serde::Deserialize;
use trunkline_toolbox::{Context, Elicited, JsonSchema, Tool, ToolError, schemars};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
pub(crate) struct Name {
    pub(crate) name: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Color {
    color: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Confirmed {
    ok: bool,
}

pub(crate) fn all() -> Vec<Tool> {
    vec![
        Tool::new("test_input_required_result_elicitation", greets).description("Asks for a name"),
        Tool::new("test_input_required_result_sampling", capital).description("Asks the client's model"),
        Tool::new("test_input_required_result_list_roots", lists_roots).description("Asks for the roots"),
        Tool::new("test_input_required_result_request_state", confirms)
            .description("Asks for a confirmation, and goes on from where it was"),
        Tool::new("test_input_required_result_tampered_state", confirms)
            .description("Goes on only from where it really was"),
        Tool::new("test_input_required_result_multiple_inputs", asks_everything)
            .description("Asks user, model and client at once"),
        Tool::new("test_input_required_result_multi_round", asks_twice).description("Asks, then asks again"),
        Tool::new("test_input_required_result_capabilities", asks_whoever_answers)
            .description("Asks only what the client can answer"),
    ]
}

/// The user's answer; if the user declined, the tool fails.
pub(crate) fn accepted<T>(answer: Elicited<T>) -> Result<T, ToolError> {
    match answer {
        Elicited::Accepted(answer) => Ok(answer),
        Elicited::Declined => Err(ToolError::new("the user declined")),
        Elicited::Cancelled => Err(ToolError::new("the user closed the form")),
    }
}

pub(crate) async fn user_name(cx: &Context) -> Result<String, ToolError> {
    let answer = cx.question("user_name").elicit::<Name>("What is your name?").await?;
    Ok(accepted(answer)?.name)
}

async fn greets(cx: Context) -> Result<String, ToolError> {
    Ok(format!("Hello, {}!", user_name(&cx).await?))
}

async fn capital(cx: Context) -> Result<String, ToolError> {
    sample(&cx.question("capital_question"), "What is the capital of France?", 100).await
}

async fn lists_roots(cx: Context) -> Result<String, ToolError> {
    let roots = cx.question("client_roots").roots().await?;
    let uris: Vec<&str> = roots.iter().map(|root| root.uri.as_str()).collect();
    Ok(format!("Roots: {}", uris.join(", ")))
}

async fn confirms(cx: Context) -> Result<&'static str, ToolError> {
    let answer = cx.question("confirm").elicit::<Confirmed>("Please confirm").await?;
    Ok(if accepted(answer)?.ok { "state-ok" } else { "state-ok, but not confirmed" })
}

async fn asks_everything(cx: Context) -> Result<String, ToolError> {
    let greeting = cx.question("greeting");
    let (name, greeting, roots) =
        tokio::join!(user_name(&cx), sample(&greeting, "Generate a greeting", 50), lists_roots(cx.clone()));
    Ok(format!("{}: {}. {}", name?, greeting?, roots?))
}

async fn asks_twice(cx: Context) -> Result<String, ToolError> {
    let name = accepted(cx.question("step1").elicit::<Name>("Step 1: What is your name?").await?)?.name;
    let question = "Step 2: What is your favorite color?";
    let color = accepted(cx.question("step2").elicit::<Color>(question).await?)?.color;
    Ok(format!("{name} likes {color}."))
}

async fn asks_whoever_answers(cx: Context) -> Result<String, ToolError> {
    let capabilities = cx.client_capabilities();
    let (user, model) =
        capabilities.map_or((false, false), |c| (c.elicitation.is_some(), c.sampling.is_some()));
    let mut answers = Vec::new();
    if user {
        answers.push(user_name(&cx).await?);
    }
    if model {
        answers.push(sample(&cx.question("greeting"), "Generate a greeting", 50).await?);
    }
    Ok(format!("Answers: {}", answers.join(", ")))
}
