//! `tools/call`, from the name to the result.

use super::{Handle, Inner, catalog::Offer, run};
use crate::{
    Answer, Context, HookCall, HookOutcome, Limits, TaskMode, ToolError,
    context::{CallSlot, Cancel, Clock, Outbox, Request, Shared, Ticket},
    schema::{MAX_ELEMENTS, WRAPPED, count_elements},
};
use futures_util::FutureExt;
use serde_json::{Value, json};
use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};
use tokio::time::Instant;
use trunkline_protocol::{
    Fault, FaultKind, Object, Outcome, Raw,
    message::{CallToolParams, CallToolResult, TASKS_EXTENSION, tasks_needed},
};

impl Inner {
    pub(super) async fn call_tool(
        self: &Arc<Self>,
        request: Request,
        (name, arguments): (String, Option<Raw>),
        outbox: Arc<Outbox>,
    ) -> Outcome {
        let offer = self.catalog().tool(&name, &request.caller).cloned();
        let offer = offer.ok_or_else(|| unknown(&name))?;
        let follows = request.declares_extension(TASKS_EXTENSION);
        if offer.tool.task == Some(TaskMode::Required) && !follows {
            return Err(tasks_needed());
        }
        let arguments = match check(&offer, arguments)? {
            Ok(arguments) => arguments,
            Err(error) => return finish(self, &offer, &request, Err(error)),
        };
        let limits = &offer.tool.limits;
        let mut cx = self.context(Arc::clone(&offer.name), limits, request, outbox);
        if offer.tool.task.is_some() {
            cx = cx.able_to_become_task(limits.task_deadline);
        }
        if matches!(offer.tool.task, Some(TaskMode::Optional | TaskMode::Required)) {
            cx.become_task().await;
        }
        self.run_tool(&offer, &cx, arguments).await
    }

    async fn run_tool(&self, offer: &Offer, cx: &Context, arguments: Raw) -> Outcome {
        let hooks = &offer.tool.hooks;
        let call = HookCall {
            tool: Arc::clone(&offer.name),
            arguments: arguments.clone(),
            caller: Arc::clone(&cx.shared.request.caller),
        };
        let mut started = Instant::now();
        let outcome = run::run(cx, async {
            started = Instant::now();
            hooks.before(&call).await?;
            (offer.tool.handler)(cx.clone(), arguments).await
        })
        .await;
        let outcome = match outcome {
            Ok(answer) => finish(self, offer, &cx.shared.request, answer),
            Err(ending) => match ending.into_error(&offer.name) {
                Ok(error) => finish(self, offer, &cx.shared.request, Err(error)),
                Err(fault) => Err(fault),
            },
        };
        if hooks.look_at_ends() {
            let end = HookOutcome { call, outcome: outcome.clone(), took: started.elapsed() };
            let hooks = AssertUnwindSafe(hooks.after(&end)).catch_unwind();
            if !matches!(tokio::time::timeout(HOOK_TIME, hooks).await, Ok(Ok(()))) {
                tracing::warn!(tool = &*offer.name, "the hooks after a call panicked or did not end in time");
            }
        }
        outcome
    }

    /// The context of a call that may not become a task.
    pub(super) fn context(
        self: &Arc<Self>,
        subject: Arc<str>,
        limits: &Limits,
        request: Request,
        outbox: Arc<Outbox>,
    ) -> Context {
        let ticket =
            Ticket { kind: Arc::clone(&subject), of_kind: limits.concurrency, priority: limits.priority };
        Context::new(Shared {
            subject,
            outbox,
            clock: Clock::new(limits.deadline, request.deadline),
            slot: CallSlot::new(Arc::clone(&self.slots), ticket),
            cancel: Cancel::default(),
            answer_time: limits.answer_time,
            task_deadline: None,
            progress: parking_lot::Mutex::default(),
            handle: Handle(Arc::clone(self)),
            request,
        })
    }
}

/// Timeout of the hooks after a call. It is short because the caller waits for them.
const HOOK_TIME: Duration = Duration::from_secs(5);

/// The same answer for a missing tool and for one hidden from the caller, so that callers cannot
/// probe for hidden tools.
fn unknown(name: &str) -> Fault {
    let name: String = name.chars().take(128).collect();
    // The specification's code for an unknown tool is that of invalid params.
    Fault::new(FaultKind::NotAvailable, format!("unknown tool: `{name}`")).with_rpc_code(-32602)
}

/// The name of the tool, and its arguments.
pub(super) fn read(mut members: Object, params: Option<&Raw>) -> Result<(String, Option<Raw>), Fault> {
    if members.iter().all(|(name, _)| matches!(name, "name" | "arguments" | "_meta"))
        && let Some(name) = members.get("name").and_then(Raw::text)
    {
        let name = name.into_owned();
        return Ok((name, members.remove("arguments")));
    }
    let params: CallToolParams = super::read_params(params)?;
    Ok((params.name, params.arguments))
}

/// Validates the arguments. Arguments that are not an object or too many are a fault; a mismatch
/// with the schema is a tool error, which the model can correct.
fn check(offer: &Offer, arguments: Option<Raw>) -> Result<Result<Raw, ToolError>, Fault> {
    let mut arguments = arguments.filter(|a| !a.is_null()).unwrap_or_else(Raw::empty_object);
    // Every value takes at least one byte, so a short text need not be counted.
    if arguments.as_bytes().len() >= MAX_ELEMENTS && count_elements(arguments.as_bytes()) > MAX_ELEMENTS {
        let message = format!("the arguments hold more than {MAX_ELEMENTS} values");
        return Err(Fault::new(FaultKind::InvalidRequest, message));
    }
    if !arguments.is_object() {
        return Err(Fault::new(FaultKind::InvalidRequest, "the arguments are not an object"));
    }
    if offer.checker.surely_fits(&arguments) {
        return Ok(Ok(arguments));
    }
    let mut value: Value = arguments
        .decode()
        .map_err(|e| Fault::new(FaultKind::InvalidRequest, format!("the arguments cannot be read: {e}")))?;
    if let Some(kept) = offer.checker.drop_nulls(&mut value, &arguments) {
        arguments = kept;
    }
    Ok(match offer.checker.check(&value) {
        Ok(()) => Ok(arguments),
        Err(complaints) => {
            let lines: Vec<String> = complaints.iter().map(|c| format!("- {c}")).collect();
            let facts: Vec<Value> = complaints.iter().map(trunkline_schema::Complaint::to_value).collect();
            let message =
                format!("the arguments of `{}` do not fit its schema:\n{}", offer.name, lines.join("\n"));
            Err(ToolError::bad_arguments(message)
                .hint("Correct them and call again.")
                .data(json!({"invalid": facts}).into()))
        }
    })
}

/// Turns the tool's answer into the caller's result: errors, wrapping, size limit.
fn finish(inner: &Inner, offer: &Offer, request: &Request, answer: Result<Answer, ToolError>) -> Outcome {
    let mut result = match answer {
        Ok(Answer::Complete(result)) => result,
        Ok(Answer::InputRequired(required)) => return Ok(required.to_raw()),
        Err(error) => {
            if let Some(detail) = error.log_detail() {
                tracing::info!(tool = &*offer.name, error = error.message(), detail, "a tool failed");
            }
            error.into_outcome()?
        }
    };
    wrap(offer, &mut result);
    inner.results.fit(&mut result, &request.caller, offer.tool.limits.result_bytes);
    Ok(result.to_raw())
}

fn wrap(offer: &Offer, result: &mut CallToolResult) {
    if offer.wraps
        && let Some(content) = result.structured_content.take()
    {
        let mut wrapped = Object::new();
        wrapped.set(WRAPPED, content);
        result.structured_content = Some(wrapped.to_raw());
    }
}
