//! `PromptFn`: the functions that can be prompts.

use super::IntoPrompt;
use crate::{
    Context, ToolError, schema,
    tool::function::{OfArgs, OfContext, OfContextAndArgs, OfNothing},
};
use futures_util::{FutureExt, future::BoxFuture};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use trunkline_protocol::{
    Raw,
    message::{GetPromptResult, PromptArgument},
};

/// An async function that can be a prompt. `M` is a marker that keeps the implementations for the
/// different signatures apart.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a prompt",
    note = "write `async fn()`, `async fn(Args)`, `async fn(Context)` or `async fn(Context, Args)`",
    note = "`Args` derives `serde::Deserialize` and `JsonSchema`, and its fields are texts; what is returned is `IntoPrompt`"
)]
pub trait PromptFn<M>: Send + Sync + 'static {
    fn arguments() -> Vec<PromptArgument>;

    fn call(&self, cx: Context, arguments: Raw) -> BoxFuture<'static, Result<GetPromptResult, ToolError>>;
}

impl<F, A, Fut> PromptFn<OfArgs<A>> for F
where
    F: Fn(A) -> Fut + Send + Sync + 'static,
    A: DeserializeOwned + JsonSchema + Send + 'static,
    Fut: Future<Output: IntoPrompt> + Send + 'static,
{
    fn arguments() -> Vec<PromptArgument> {
        fields::<A>()
    }

    fn call(&self, _cx: Context, arguments: Raw) -> BoxFuture<'static, Result<GetPromptResult, ToolError>> {
        match decode(&arguments) {
            Ok(arguments) => self(arguments).map(IntoPrompt::into_prompt).boxed(),
            Err(error) => std::future::ready(Err(error)).boxed(),
        }
    }
}

impl<F, A, Fut> PromptFn<OfContextAndArgs<A>> for F
where
    F: Fn(Context, A) -> Fut + Send + Sync + 'static,
    A: DeserializeOwned + JsonSchema + Send + 'static,
    Fut: Future<Output: IntoPrompt> + Send + 'static,
{
    fn arguments() -> Vec<PromptArgument> {
        fields::<A>()
    }

    fn call(&self, cx: Context, arguments: Raw) -> BoxFuture<'static, Result<GetPromptResult, ToolError>> {
        match decode(&arguments) {
            Ok(arguments) => self(cx, arguments).map(IntoPrompt::into_prompt).boxed(),
            Err(error) => std::future::ready(Err(error)).boxed(),
        }
    }
}

impl<F, Fut> PromptFn<OfContext> for F
where
    F: Fn(Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoPrompt> + Send + 'static,
{
    fn arguments() -> Vec<PromptArgument> {
        Vec::new()
    }

    fn call(&self, cx: Context, _arguments: Raw) -> BoxFuture<'static, Result<GetPromptResult, ToolError>> {
        self(cx).map(IntoPrompt::into_prompt).boxed()
    }
}

impl<F, Fut> PromptFn<OfNothing> for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoPrompt> + Send + 'static,
{
    fn arguments() -> Vec<PromptArgument> {
        Vec::new()
    }

    fn call(&self, _cx: Context, _arguments: Raw) -> BoxFuture<'static, Result<GetPromptResult, ToolError>> {
        self().map(IntoPrompt::into_prompt).boxed()
    }
}

/// The fields of the type as prompt arguments, in declaration order.
fn fields<A: JsonSchema>() -> Vec<PromptArgument> {
    let schema: Value = schema::of_input::<A>().decode().unwrap_or_default();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    let read = |(name, field): (&String, &Value)| {
        let mut argument = PromptArgument::new(name.as_str());
        argument.title = field["title"].as_str().map(str::to_owned);
        argument.description = field["description"].as_str().map(str::to_owned);
        argument.required = Some(required.iter().any(|r| r == name));
        argument
    };
    properties.iter().map(read).collect()
}

fn decode<A: DeserializeOwned>(arguments: &Raw) -> Result<A, ToolError> {
    arguments.decode().map_err(|error| {
        let message = format!("the arguments cannot be read: {error}");
        trunkline_protocol::Fault::new(trunkline_protocol::FaultKind::InvalidRequest, message).into()
    })
}
