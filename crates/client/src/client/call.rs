//! A tool call and its options: timeout, progress callback, `_meta`, task.

use super::{
    Client,
    driver::{OnProgress, read},
    lists::KnownTool,
};
use crate::{
    era::Ask,
    item_filter::ItemKind,
    resilience::{OutOfRange, Safety, Timeouts},
};
use futures_util::future::BoxFuture;
use std::{fmt, future::IntoFuture, time::Duration};
use trunkline_protocol::{
    Era, Fault, FaultKind, Object, Raw,
    message::{CallToolResult, ProgressParams, TaskSupport, Tool, header_params, header_values},
    method,
};

/// A call that is sent when it is awaited. Dropping it before its end cancels it on the server.
#[must_use = "a call is sent when it is awaited"]
pub struct ToolCall<'a> {
    client: &'a Client,
    name: String,
    arguments: Object,
    meta: Object,
    limit: Option<Duration>,
    task: Option<Object>,
    on_progress: Option<Box<dyn FnMut(ProgressParams) + Send + 'a>>,
}

impl Client {
    /// Prepares the call of a tool; awaiting it sends it.
    pub fn call(&self, name: impl Into<String>, arguments: Object) -> ToolCall<'_> {
        ToolCall {
            client: self,
            name: name.into(),
            arguments,
            meta: Object::new(),
            limit: None,
            task: None,
            on_progress: None,
        }
    }
}

impl<'a> ToolCall<'a> {
    /// Sets the timeout; each progress notification restarts it.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Sets a callback for progress notifications.
    pub fn on_progress(mut self, hear: impl FnMut(ProgressParams) + Send + 'a) -> Self {
        self.on_progress = Some(Box::new(hear));
        self
    }

    /// Adds a member to `_meta`, for private extensions of client and server.
    pub fn meta(mut self, name: impl Into<String>, value: Raw) -> Self {
        self.meta.set(name.into(), value);
        self
    }

    /// Asks a 2025-11-25 server to run the call as a task and to keep it for `keep` after its
    /// creation. Awaiting the call still waits for the result. Modern servers decide themselves
    /// which calls become tasks.
    pub fn as_task(mut self, keep: Option<Duration>) -> Self {
        let mut task = Object::new();
        if let Some(keep) = keep {
            task.set(
                "ttl",
                Raw::from(serde_json::Value::from(u64::try_from(keep.as_millis()).unwrap_or(u64::MAX))),
            );
        }
        self.task = Some(task);
        self
    }

    async fn run(mut self) -> Result<CallToolResult, Fault> {
        self.client.needs("tools")?;
        // Before the tool is looked up: a hidden one must not be asked for.
        self.client.0.items.allow(ItemKind::Tool, &self.name)?;
        let timeouts = self.timeouts().map_err(|e| Fault::new(FaultKind::InvalidRequest, e.to_string()))?;
        let known = match &self.task {
            Some(_) => self.client.known_tool(&self.name),
            None => tool_for_call(self.client, &self.name).await,
        };
        let outcome = self.attempt(known.as_deref(), timeouts).await;
        let result = match outcome {
            // The cached schema is stale, or none was read yet: read it and retry once.
            Err(fault) if fault.kind() == FaultKind::HeaderMismatch => {
                self.client.invalidate();
                let tool = self.client.tool(&self.name).await?;
                self.attempt(Some(&tool), timeouts).await?
            }
            other => other?,
        };
        read(&result, method::TOOLS_CALL)
    }

    async fn attempt(&mut self, tool: Option<&Tool>, timeouts: Timeouts) -> Result<Raw, Fault> {
        let ask = self.ask(tool);
        let on_progress = self.on_progress.as_mut().map(|hear| &mut **hear as OnProgress<'_>);
        self.client.send_once(ask, timeouts, on_progress).await
    }

    fn ask(&self, tool: Option<&Tool>) -> Ask {
        let mut params = Object::new();
        params.set("name", Raw::string(&self.name));
        params.set("arguments", self.arguments.to_raw());
        if let Some(task) = self.task_for(tool) {
            params.set("task", task.to_raw());
        }
        if !self.meta.is_empty() {
            params.set("_meta", self.meta.to_raw());
        }
        let mut ask = Ask::new(method::TOOLS_CALL, params);
        if let Some(tool) = tool {
            if let (Era::Modern, Ok(rules)) = (self.client.server().era(), header_params(&tool.input_schema))
            {
                ask.mirrored = header_values(&rules, &self.arguments.to_raw());
            }
            if is_repeatable(tool) {
                ask.safety = Safety::Repeatable;
            }
        }
        ask
    }

    /// The `task` member: set if the caller wants a task, or if the tool requires one.
    fn task_for(&self, tool: Option<&Tool>) -> Option<Object> {
        if !self.client.server().revision.has_core_tasks() {
            return None;
        }
        let required = tool.is_some_and(|tool| tool.task_support() == TaskSupport::Required);
        self.task.clone().or_else(|| required.then(Object::new))
    }

    fn timeouts(&self) -> Result<Timeouts, OutOfRange> {
        match self.limit {
            Some(limit) => self.client.0.timeouts.with_call(limit),
            None => Ok(self.client.0.timeouts),
        }
    }
}

/// The tool as far as it is known. A 2025-11-25 server with tasks may require them for this tool,
/// so the list is fetched if it is not cached. If that fails, the call is sent without a task.
async fn tool_for_call(client: &Client, name: &str) -> Option<KnownTool> {
    let may_want_tasks =
        client.server().revision.has_core_tasks() && client.has_capability("tasks.requests.tools.call");
    let known = client.known_tool(name);
    if known.is_none() && may_want_tasks {
        // Read from the returned list, not from the cache: if the list is invalidated during the
        // fetch, it is not cached.
        return KnownTool::find(client.tools().await.ok()?, name);
    }
    known
}

/// True if the server declares the tool read-only or idempotent.
fn is_repeatable(tool: &Tool) -> bool {
    let hints = tool.annotations.as_ref();
    hints.is_some_and(|hints| hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true))
}

impl<'a> IntoFuture for ToolCall<'a> {
    type Output = Result<CallToolResult, Fault>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for ToolCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("name", &self.name)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}
