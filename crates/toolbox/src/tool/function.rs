//! `ToolFn`: the functions that can be tools.

use crate::{Answer, Context, IntoToolResult, ToolError, schema};
use futures_util::{FutureExt, future::BoxFuture};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use trunkline_protocol::Raw;

/// An async function that can be a tool. `M` is a marker that keeps the implementations for the
/// different signatures apart.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool",
    label = "not an async function of `Context` and typed arguments",
    note = "write `async fn(Args)`, `async fn(Context, Args)`, `async fn(Context)` or `async fn()`",
    note = "`Args` derives `serde::Deserialize` and `JsonSchema`; the future is `Send`; what it returns is `IntoToolResult`"
)]
pub trait ToolFn<M>: Send + Sync + 'static {
    fn input_schema() -> Raw;

    fn output_schema() -> Option<Raw>;

    /// Runs the tool. The arguments are already validated against the schema.
    fn call(&self, cx: Context, arguments: Raw) -> BoxFuture<'static, Result<Answer, ToolError>>;
}

/// Marker: `fn(Args)`.
#[derive(Debug)]
pub struct OfArgs<A>(A);
/// Marker: `fn(Context, Args)`.
#[derive(Debug)]
pub struct OfContextAndArgs<A>(A);
/// Marker: `fn(Context)`.
#[derive(Debug)]
pub struct OfContext;
/// Marker: `fn()`.
#[derive(Debug)]
pub struct OfNothing;

impl<F, A, Fut> ToolFn<OfArgs<A>> for F
where
    F: Fn(A) -> Fut + Send + Sync + 'static,
    A: DeserializeOwned + JsonSchema + Send + 'static,
    Fut: Future<Output: IntoToolResult> + Send + 'static,
{
    fn input_schema() -> Raw {
        schema::of_input::<A>()
    }

    fn output_schema() -> Option<Raw> {
        Fut::Output::output_schema()
    }

    fn call(&self, _cx: Context, arguments: Raw) -> BoxFuture<'static, Result<Answer, ToolError>> {
        match decode(&arguments) {
            Ok(arguments) => self(arguments).map(IntoToolResult::into_tool_result).boxed(),
            Err(error) => std::future::ready(Err(error)).boxed(),
        }
    }
}

impl<F, A, Fut> ToolFn<OfContextAndArgs<A>> for F
where
    F: Fn(Context, A) -> Fut + Send + Sync + 'static,
    A: DeserializeOwned + JsonSchema + Send + 'static,
    Fut: Future<Output: IntoToolResult> + Send + 'static,
{
    fn input_schema() -> Raw {
        schema::of_input::<A>()
    }

    fn output_schema() -> Option<Raw> {
        Fut::Output::output_schema()
    }

    fn call(&self, cx: Context, arguments: Raw) -> BoxFuture<'static, Result<Answer, ToolError>> {
        match decode(&arguments) {
            Ok(arguments) => self(cx, arguments).map(IntoToolResult::into_tool_result).boxed(),
            Err(error) => std::future::ready(Err(error)).boxed(),
        }
    }
}

impl<F, Fut> ToolFn<OfContext> for F
where
    F: Fn(Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoToolResult> + Send + 'static,
{
    fn input_schema() -> Raw {
        schema::of_nothing()
    }

    fn output_schema() -> Option<Raw> {
        Fut::Output::output_schema()
    }

    fn call(&self, cx: Context, _arguments: Raw) -> BoxFuture<'static, Result<Answer, ToolError>> {
        self(cx).map(IntoToolResult::into_tool_result).boxed()
    }
}

impl<F, Fut> ToolFn<OfNothing> for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoToolResult> + Send + 'static,
{
    fn input_schema() -> Raw {
        schema::of_nothing()
    }

    fn output_schema() -> Option<Raw> {
        Fut::Output::output_schema()
    }

    fn call(&self, _cx: Context, _arguments: Raw) -> BoxFuture<'static, Result<Answer, ToolError>> {
        self().map(IntoToolResult::into_tool_result).boxed()
    }
}

/// Decodes the arguments. This can fail although they match the schema, for example if a number
/// is too large for its field.
fn decode<A: DeserializeOwned>(arguments: &Raw) -> Result<A, ToolError> {
    arguments.decode().map_err(|error| {
        ToolError::new(format!("the arguments cannot be read: {error}")).hint("Correct them and call again")
    })
}
