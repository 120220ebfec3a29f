//! Prompt: a prepared text for users, plus its metadata.

mod function;
mod messages;

use crate::{
    Context, Permissions, ToolError,
    completion::Completers,
    setters::{common_setters, completion_setters, meta_setter},
};
use futures_util::{FutureExt, future::BoxFuture};
use std::{collections::BTreeMap, fmt, sync::Arc};
use trunkline_protocol::{
    Raw,
    message::{self, GetPromptResult, PromptArgument},
};

pub use function::PromptFn;
pub use messages::IntoPrompt;

pub(crate) type Writer =
    Arc<dyn Fn(Context, Raw) -> BoxFuture<'static, Result<GetPromptResult, ToolError>> + Send + Sync>;

/// A prompt and its metadata.
#[derive(Clone)]
pub struct Prompt {
    pub(crate) definition: message::Prompt,
    pub(crate) writer: Writer,
    pub(crate) permissions: Permissions,
    pub(crate) completers: Completers,
}

impl Prompt {
    /// A prompt from an async function or closure, whose arguments are the fields of its argument
    /// type.
    pub fn new<M, F: PromptFn<M>>(name: impl Into<String>, function: F) -> Self {
        let function = Arc::new(function);
        let writer: Writer = Arc::new(move |cx, arguments| function.call(cx, arguments));
        Self::raw(name.into(), F::arguments(), writer)
    }

    /// A prompt with arguments declared by hand; the writer receives them as strings by name.
    pub fn dynamic<F, Fut>(name: impl Into<String>, arguments: Vec<PromptArgument>, writer: F) -> Self
    where
        F: Fn(Context, BTreeMap<String, String>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoPrompt> + Send + 'static,
    {
        let writer: Writer = Arc::new(move |cx, given| {
            writer(cx, given.decode().unwrap_or_default()).map(IntoPrompt::into_prompt).boxed()
        });
        Self::raw(name.into(), arguments, writer)
    }

    fn raw(name: String, arguments: Vec<PromptArgument>, writer: Writer) -> Self {
        let mut definition = message::Prompt::new(name);
        definition.arguments = (!arguments.is_empty()).then_some(arguments);
        Self { definition, writer, permissions: Permissions::default(), completers: Completers::default() }
    }

    pub fn name(&self) -> &str {
        &self.definition.name
    }

    pub(crate) fn arguments(&self) -> &[PromptArgument] {
        self.definition.arguments.as_deref().unwrap_or_default()
    }
}

common_setters!(Prompt, "prompt");
meta_setter!(Prompt);
completion_setters!(Prompt, "an argument");

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt").field("definition", &self.definition).finish_non_exhaustive()
    }
}
