//! Tool: an async function with its metadata, limits, permissions and hooks.

pub(crate) mod function;
mod hooks;
mod limits;
mod metadata;
mod permissions;

use crate::{Answer, Context, IntoToolResult, ToolError, setters::common_setters};
use futures_util::{FutureExt, future::BoxFuture};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::{fmt, sync::Arc, time::Duration};
use trunkline_protocol::message::meta::TOOL_METADATA;
use trunkline_protocol::{
    Raw,
    message::{self, TaskSupport, ToolAnnotations, ToolExecution},
};

pub use function::ToolFn;
pub(crate) use hooks::Hooks;
pub use hooks::{HookCall, HookOutcome, IntoHook};
pub use limits::{Limits, Priority, TaskMode};
pub use metadata::Metadata;
pub use permissions::Permissions;

/// The function that a call runs.
pub(crate) type Handler =
    Arc<dyn Fn(Context, Raw) -> BoxFuture<'static, Result<Answer, ToolError>> + Send + Sync>;

/// A tool and its metadata. Nothing is checked before
/// [`ToolboxBuilder::build`](crate::ToolboxBuilder::build).
#[derive(Clone)]
pub struct Tool {
    pub(crate) definition: message::Tool,
    pub(crate) handler: Handler,
    pub(crate) limits: Limits,
    pub(crate) permissions: Permissions,
    pub(crate) hooks: Hooks,
    pub(crate) aliases: Vec<String>,
    pub(crate) task: Option<TaskMode>,
    pub(crate) metadata: Metadata,
}

impl Tool {
    /// A tool from an async function or closure: `fn(Args)`, `fn(Context, Args)`, `fn(Context)` or
    /// `fn()`.
    pub fn new<M, F: ToolFn<M>>(name: impl Into<String>, function: F) -> Self {
        let function = Arc::new(function);
        let handler: Handler = Arc::new(move |cx, arguments| function.call(cx, arguments));
        let mut tool = Self::raw(name.into(), F::input_schema(), handler);
        tool.definition.output_schema = F::output_schema();
        tool
    }

    /// A tool from an async function with shared state, such as the state of all tools of a pack.
    pub fn with_state<S, A, F, Fut>(name: impl Into<String>, state: impl Into<Arc<S>>, function: F) -> Self
    where
        S: Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(Arc<S>, Context, A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoToolResult> + Send + 'static,
    {
        let state = state.into();
        Self::new(name, move |cx: Context, arguments: A| function(Arc::clone(&state), cx, arguments))
    }

    /// A tool with a schema written by hand; the handler receives the arguments as JSON.
    pub fn dynamic<F, Fut>(name: impl Into<String>, input_schema: Raw, handler: F) -> Self
    where
        F: Fn(Context, Raw) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoToolResult> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |cx, arguments| {
            handler(cx, arguments).map(IntoToolResult::into_tool_result).boxed()
        });
        Self::raw(name.into(), input_schema, handler)
    }

    fn raw(name: String, input_schema: Raw, handler: Handler) -> Self {
        Self {
            definition: message::Tool::new(name, input_schema),
            handler,
            limits: Limits::default(),
            permissions: Permissions::default(),
            hooks: Hooks::default(),
            aliases: Vec::new(),
            task: None,
            metadata: Metadata::default(),
        }
    }

    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// The tool as `tools/list` shows it.
    pub fn definition(&self) -> message::Tool {
        let mut definition = self.definition.clone();
        if let Some(metadata) = self.metadata.to_raw() {
            let mut meta = definition.meta.as_ref().and_then(Raw::object).unwrap_or_default();
            meta.set(TOOL_METADATA, metadata);
            definition.meta = Some(meta.to_raw());
        }
        if let (Some(mode), None) = (self.task, &definition.execution) {
            // Listed only for clients of 2025-11-25; others see a task in the answer to a call.
            let support = match mode {
                TaskMode::Required => TaskSupport::Required,
                TaskMode::Optional | TaskMode::OnDemand => TaskSupport::Optional,
            };
            definition.execution =
                Some(ToolExecution { task_support: Some(support), ..ToolExecution::default() });
        }
        definition
    }
}

common_setters!(Tool, "tool");

/// Metadata of the tool.
impl Tool {
    /// Hint: the tool changes nothing, so it is neither destructive nor harmful to repeat.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.hint(|hints| {
            hints.read_only_hint = Some(true);
            hints.destructive_hint = Some(false);
        })
    }

    /// Hint: the tool changes things and may destroy some.
    #[must_use]
    pub fn destructive(self) -> Self {
        self.hint(|hints| {
            hints.read_only_hint = Some(false);
            hints.destructive_hint = Some(true);
        })
    }

    /// Hint: the tool changes things, but only adds to them.
    #[must_use]
    pub fn additive(self) -> Self {
        self.hint(|hints| {
            hints.read_only_hint = Some(false);
            hints.destructive_hint = Some(false);
        })
    }

    /// Hint: repeating the same call changes nothing more.
    #[must_use]
    pub fn idempotent(self) -> Self {
        self.hint(|hints| hints.idempotent_hint = Some(true))
    }

    /// Hint: repeating the same call has its effect again.
    #[must_use]
    pub fn not_idempotent(self) -> Self {
        self.hint(|hints| hints.idempotent_hint = Some(false))
    }

    /// Hint: the tool reaches things beyond this machine.
    #[must_use]
    pub fn open_world(self) -> Self {
        self.hint(|hints| hints.open_world_hint = Some(true))
    }

    /// Hint: the tool reaches only things that belong to this server.
    #[must_use]
    pub fn closed_world(self) -> Self {
        self.hint(|hints| hints.open_world_hint = Some(false))
    }

    /// Sets all hints at once.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.definition.annotations = Some(annotations);
        self
    }

    fn hint(mut self, set: impl FnOnce(&mut ToolAnnotations)) -> Self {
        set(self.definition.annotations.get_or_insert_default());
        self
    }

    /// Replaces the schema generated from the type of the arguments.
    #[must_use]
    pub fn input_schema(mut self, schema: Raw) -> Self {
        self.definition.input_schema = schema;
        self
    }

    /// Replaces the schema generated from the type of the result.
    #[must_use]
    pub fn output_schema(mut self, schema: Raw) -> Self {
        self.definition.output_schema = Some(schema);
        self
    }

    /// Sets version, author, category and similar facts.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// Adds a key to the listed `_meta`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: Raw) -> Self {
        let mut meta = self.definition.meta.as_ref().and_then(Raw::object).unwrap_or_default();
        meta.set(key.into(), value);
        self.definition.meta = Some(meta.to_raw());
        self
    }

    /// Adds another name under which the tool can be called. It is not listed.
    #[must_use]
    pub fn alias(mut self, name: impl Into<String>) -> Self {
        self.aliases.push(name.into());
        self
    }
}

/// Limits and hooks of the tool.
impl Tool {
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the time limit of a call; questions to the user do not count.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.limits.deadline = deadline;
        self
    }

    /// Maximum number of concurrent calls of this tool.
    #[must_use]
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.limits.concurrency = calls;
        self
    }

    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.limits.priority = priority;
        self
    }

    /// Sets the maximum text of an answer; the rest can be read as a resource.
    #[must_use]
    pub fn result_budget(mut self, bytes: usize) -> Self {
        self.limits.result_bytes = bytes;
        self
    }

    /// Sets when calls run as tasks, for callers that support tasks.
    #[must_use]
    pub fn task(mut self, mode: TaskMode) -> Self {
        self.task = Some(mode);
        self
    }

    /// Adds a hook that runs before the tool, after the arguments were validated. If it returns an
    /// error, the tool does not run.
    #[must_use]
    pub fn before<M>(mut self, hook: impl IntoHook<HookCall, Result<(), ToolError>, M>) -> Self {
        self.hooks.before.push(hook.into_hook());
        self
    }

    /// Adds a hook that runs after every finished call, failed or not.
    #[must_use]
    pub fn after<M>(mut self, hook: impl IntoHook<HookOutcome, (), M>) -> Self {
        self.hooks.after.push(hook.into_hook());
        self
    }

    /// Adds a hook that runs after every failed call.
    #[must_use]
    pub fn on_error<M>(mut self, hook: impl IntoHook<HookOutcome, (), M>) -> Self {
        self.hooks.on_error.push(hook.into_hook());
        self
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("definition", &self.definition).finish_non_exhaustive()
    }
}
