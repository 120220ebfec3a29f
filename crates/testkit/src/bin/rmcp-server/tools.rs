//! The tools: definitions and implementations.

use crate::{
    offer::{NOTE, Peer, is_modern},
    questions::{self, Answer},
    shared_state::{Change, SharedState},
};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult,
        LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam,
        ResourceUpdatedNotificationParam, Tool,
    },
    service::RequestContext,
    task_manager::{TaskExit, TaskFuture, TaskOptions},
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

const POLL_INTERVAL_MS: u64 = 50;
const LEVELS: [LoggingLevel; 4] =
    [LoggingLevel::Debug, LoggingLevel::Info, LoggingLevel::Warning, LoggingLevel::Error];

pub(crate) fn list(shared: &SharedState) -> Vec<Tool> {
    let plain = |name: &str, about: &str, properties: Value| {
        json!({
            "name": name,
            "description": about,
            "inputSchema": {"type": "object", "properties": properties},
        })
    };
    let text = || json!({"text": {"type": "string"}});
    let number = || json!({"type": "integer"});
    let mut tools = vec![
        plain("echo", "Answers with the text it was given.", text()),
        plain("add", "Adds two integers; the answer is structured.", json!({"a": number(), "b": number()})),
        plain("fail", "Always fails, as a tool error.", json!({})),
        plain("slow", "Reports each of its steps.", json!({"steps": number(), "delay_ms": number()})),
        plain("cancelled", "Waits until so many calls were cancelled.", json!({"count": number()})),
        plain("log", "Logs the text as debug, info, warning and error.", text()),
        plain("ask_name", "Asks the user for a name.", json!({})),
        plain("ask_model", "Asks the client's model.", json!({"prompt": {"type": "string"}})),
        plain("show_roots", "Lists the client's roots.", json!({})),
        plain("visit", "Wants a page visited.", json!({})),
        plain("visit_first", "Refuses until a page was visited.", json!({})),
        plain("touch", "Changes the note.", json!({})),
        plain("grow", "Adds the tool `late`.", json!({})),
        plain("research", "Runs as a task that asks for a name.", json!({})),
        plain("endure", "Runs as a task until it is cancelled.", json!({})),
    ];
    tools[1]["outputSchema"] =
        json!({"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]});
    if shared.has_grown() {
        tools.push(plain("late", "Was not there before.", json!({})));
    }
    let read = |tool| serde_json::from_value(tool).expect("the tools of this server are well formed");
    tools.into_iter().map(read).collect()
}

pub(crate) async fn call(
    peer: &Peer,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
    match request.name.as_ref() {
        "echo" => Ok(said(arguments["text"].as_str().unwrap_or_default())),
        "add" => {
            let sum = arguments["a"].as_i64().unwrap_or(0) + arguments["b"].as_i64().unwrap_or(0);
            Ok(CallToolResult::structured(json!({"sum": sum})).into())
        }
        "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("it failed")]).into()),
        "slow" => slow(peer, context, &arguments).await,
        "cancelled" => {
            let count = arguments["count"].as_u64().unwrap_or(1);
            let mut cancelled = peer.shared.cancelled.subscribe();
            let seen = cancelled.wait_for(|seen| *seen >= count).await.map(|seen| *seen);
            Ok(said(&format!("{} cancelled", seen.unwrap_or_default())))
        }
        "log" => log(peer, context, &arguments).await,
        "ask_name" | "ask_model" | "show_roots" | "visit" => ask(request, context, &arguments).await,
        "visit_first" if is_modern(context) => ask(request, context, &arguments).await,
        "visit_first" => visit_first(peer),
        "touch" => touch(peer, context).await,
        "grow" => grow(peer, context).await,
        "research" | "endure" => Ok(start_task(&peer.shared, &request.name)),
        other => Err(ErrorData::invalid_params(format!("there is no tool {other}"), None)),
    }
}

async fn slow(
    peer: &Peer,
    context: &RequestContext<RoleServer>,
    arguments: &Value,
) -> Result<CallToolResponse, ErrorData> {
    let steps = u32::try_from(arguments["steps"].as_u64().unwrap_or(3)).unwrap_or(u32::MAX);
    let delay = Duration::from_millis(arguments["delay_ms"].as_u64().unwrap_or(20));
    for step in 1..=steps {
        tokio::select! {
            () = context.ct.cancelled() => {
                peer.shared.count_cancelled();
                return Err(ErrorData::internal_error("cancelled", None));
            }
            () = tokio::time::sleep(delay) => {}
        }
        if let Some(token) = context.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, step.into())
                .with_total(steps.into())
                .with_message(format!("step {step} of {steps}"));
            // The cancellation token reports a client that has disconnected.
            drop(context.peer.notify_progress(progress).await);
        }
    }
    Ok(said(&format!("{steps} steps done")))
}

async fn log(
    peer: &Peer,
    context: &RequestContext<RoleServer>,
    arguments: &Value,
) -> Result<CallToolResponse, ErrorData> {
    let least = peer.level(context);
    for level in LEVELS.into_iter().filter(|level| least.is_some_and(|least| *level as u8 >= least as u8)) {
        let message =
            LoggingMessageNotificationParam::new(level, arguments["text"].clone()).with_logger("peer");
        context.peer.notify_logging_message(message).await.map_err(|error| unsent(&error))?;
    }
    Ok(said("logged"))
}

async fn ask(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    arguments: &Value,
) -> Result<CallToolResponse, ErrorData> {
    let question = match request.name.as_ref() {
        "ask_name" => questions::name_form(),
        "ask_model" => questions::sampling(arguments["prompt"].as_str().unwrap_or("Say something short.")),
        "show_roots" => questions::roots(),
        _ => questions::page(),
    };
    let answer = match questions::ask(request, context, question).await? {
        Answer::Given(answer) => answer,
        Answer::Needed(result) => return Ok(result.into()),
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(match request.name.as_ref() {
        "ask_name" => said(&format!("hello, {}", text(&answer["content"]["name"]))),
        "ask_model" => {
            said(&format!("{} said: {}", text(&answer["model"]), text(&answer["content"]["text"])))
        }
        "show_roots" => said(&text(&answer["roots"][0]["uri"])),
        _ => said(&format!("visited: {}", text(&answer["action"]))),
    })
}

/// The page counts as visited when the caller repeats the call.
fn visit_first(peer: &Peer) -> Result<CallToolResponse, ErrorData> {
    if peer.visit_again() { Ok(said("visited: accept")) } else { Err(questions::page_required()) }
}

async fn touch(peer: &Peer, context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    // Fails if there is no listener, which is fine.
    drop(peer.shared.changes.send(Change::Resource(NOTE.to_owned())));
    if !is_modern(context) && peer.is_subscribed(NOTE) {
        let params = ResourceUpdatedNotificationParam::new(NOTE);
        context.peer.notify_resource_updated(params).await.map_err(|error| unsent(&error))?;
    }
    Ok(said("touched"))
}

async fn grow(peer: &Peer, context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    peer.shared.grow();
    drop(peer.shared.changes.send(Change::Tools));
    if !is_modern(context) {
        context.peer.notify_tool_list_changed().await.map_err(|error| unsent(&error))?;
    }
    Ok(said("grown"))
}

fn start_task(shared: &Arc<SharedState>, name: &str) -> CallToolResponse {
    let options = TaskOptions::new().with_poll_interval_ms(POLL_INTERVAL_MS);
    let (task_state, name) = (shared.clone(), name.to_owned());
    let task = shared.tasks.spawn(options, move |task| -> TaskFuture {
        Box::pin(async move {
            if name == "endure" {
                task.cancelled().await;
                task_state.count_cancelled();
                return Err(TaskExit::Cancelled);
            }
            task.set_status_message("asking");
            let answer = task.request_input("name", questions::read(questions::name_form())).await?;
            let name = answer["content"]["name"].as_str().unwrap_or_default();
            Ok(CallToolResult::success(vec![ContentBlock::text(format!("researched for {name}"))]))
        })
    });
    CallToolResponse::Task(CreateTaskResult::new(task))
}

fn said(text: &str) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

fn unsent(error: &rmcp::ServiceError) -> ErrorData {
    ErrorData::internal_error(format!("could not notify: {error}"), None)
}
