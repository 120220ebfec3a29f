//! Tool: an async function, and everything that is said about it.

mod function;
mod hooks;
mod limits;
mod metadata;
mod permissions;

use crate::{Answer, Context, IntoToolResult, ToolError};
use futures_util::{FutureExt, future::BoxFuture};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::{fmt, sync::Arc, time::Duration};
use trunkline_protocol::{
    Raw,
    message::{self, Icon, TaskSupport, ToolAnnotations, ToolExecution},
};

pub use function::ToolFn;
pub(crate) use hooks::Hooks;
pub use hooks::{HookCall, HookOutcome, IntoHook};
pub use limits::{Limits, Priority, TaskMode};
pub use metadata::Metadata;
pub use permissions::Permissions;

/// What runs when a tool is called.
pub(crate) type Handler =
    Arc<dyn Fn(Context, Raw) -> BoxFuture<'static, Result<Answer, ToolError>> + Send + Sync>;

/// A tool and what is said about it. Nothing is checked before [`ToolboxBuilder::build`](crate::ToolboxBuilder::build).
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
    /// A tool from an async function or closure: `fn(Args)`, `fn(Context, Args)`, `fn(Context)` or `fn()`.
    pub fn new<M, F: ToolFn<M>>(name: impl Into<String>, function: F) -> Self {
        let function = Arc::new(function);
        let handler: Handler = Arc::new(move |cx, arguments| function.call(cx, arguments));
        let mut tool = Self::raw(name.into(), F::input_schema(), handler);
        tool.definition.output_schema = F::output_schema();
        tool
    }

    /// A tool from an async function of something it shares with others, such as the tools of its pack.
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

    /// A tool with a schema written by hand; the handler gets the arguments as they came.
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
            meta.set(metadata::META_KEY, metadata);
            definition.meta = Some(meta.to_raw());
        }
        if let (Some(mode), None) = (self.task, &definition.execution) {
            // Only clients of 2025-11-25 hear of it; others learn it from the answer to a call.
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

/// What is said about the tool.
impl Tool {
    /// What to call the tool before people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// What the tool does, for the model that chooses.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    /// Changes nothing; so it is neither destructive, nor does repeating it matter.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.hint(|hints| {
            hints.read_only_hint = Some(true);
            hints.destructive_hint = Some(false);
        })
    }

    /// Changes things, and may destroy some.
    #[must_use]
    pub fn destructive(self) -> Self {
        self.hint(|hints| {
            hints.read_only_hint = Some(false);
            hints.destructive_hint = Some(true);
        })
    }

    /// Changes things, but only adds to them.
    #[must_use]
    pub fn additive(self) -> Self {
        self.hint(|hints| {
            hints.read_only_hint = Some(false);
            hints.destructive_hint = Some(false);
        })
    }

    /// Repeating the same call changes nothing more.
    #[must_use]
    pub fn idempotent(self) -> Self {
        self.hint(|hints| hints.idempotent_hint = Some(true))
    }

    /// Repeating the same call has its effect again.
    #[must_use]
    pub fn not_idempotent(self) -> Self {
        self.hint(|hints| hints.idempotent_hint = Some(false))
    }

    /// Reaches things beyond this machine.
    #[must_use]
    pub fn open_world(self) -> Self {
        self.hint(|hints| hints.open_world_hint = Some(true))
    }

    /// Reaches only what belongs to this server.
    #[must_use]
    pub fn closed_world(self) -> Self {
        self.hint(|hints| hints.open_world_hint = Some(false))
    }

    /// All hints at once.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.definition.annotations = Some(annotations);
        self
    }

    fn hint(mut self, set: impl FnOnce(&mut ToolAnnotations)) -> Self {
        set(self.definition.annotations.get_or_insert_default());
        self
    }

    /// Replaces the schema that came from the type of the arguments.
    #[must_use]
    pub fn input_schema(mut self, schema: Raw) -> Self {
        self.definition.input_schema = schema;
        self
    }

    /// Replaces the schema that came from the type of the result.
    #[must_use]
    pub fn output_schema(mut self, schema: Raw) -> Self {
        self.definition.output_schema = Some(schema);
        self
    }

    #[must_use]
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.definition.icons = Some(icons);
        self
    }

    /// Version, author, category and the like.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// One more key of the listed `_meta`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: Raw) -> Self {
        let mut meta = self.definition.meta.as_ref().and_then(Raw::object).unwrap_or_default();
        meta.set(key.into(), value);
        self.definition.meta = Some(meta.to_raw());
        self
    }

    /// Another name that calls it. It is not listed.
    #[must_use]
    pub fn alias(mut self, name: impl Into<String>) -> Self {
        self.aliases.push(name.into());
        self
    }
}

/// Who may call the tool, how much it may take, and who looks on.
impl Tool {
    /// Only callers whose token has this scope, and every other one named here. To others the tool does not exist.
    #[must_use]
    pub fn require_scope(mut self, scope: impl Into<String>) -> Self {
        self.permissions.scopes.push(scope.into());
        self
    }

    /// Only callers who have this role, or another one named here. To others the tool does not exist.
    #[must_use]
    pub fn require_role(mut self, role: impl Into<String>) -> Self {
        self.permissions.roles.push(role.into());
        self
    }

    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How long one call may run; questions to the user do not count.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.limits.deadline = deadline;
        self
    }

    /// How many calls of this tool may run at once.
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

    /// How much text one answer may hold; the rest can be read as a resource.
    #[must_use]
    pub fn result_budget(mut self, bytes: usize) -> Self {
        self.limits.result_bytes = bytes;
        self
    }

    /// Whether the tool runs in the background for callers who can follow a task.
    #[must_use]
    pub fn task(mut self, mode: TaskMode) -> Self {
        self.task = Some(mode);
        self
    }

    /// Runs before the tool, once the arguments are known to fit; an error keeps the tool from running.
    #[must_use]
    pub fn before<M>(mut self, hook: impl IntoHook<HookCall, Result<(), ToolError>, M>) -> Self {
        self.hooks.before.push(hook.into_hook());
        self
    }

    /// Runs after every call that came to an end, failed or not.
    #[must_use]
    pub fn after<M>(mut self, hook: impl IntoHook<HookOutcome, (), M>) -> Self {
        self.hooks.after.push(hook.into_hook());
        self
    }

    /// Runs after every call that failed.
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
