//! Requests to the client during a call, in the form of the caller's era.

use crate::offer::is_modern;
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, ErrorCode, InputRequest, InputRequests, InputRequiredResult},
    service::RequestContext,
};
use serde_json::{Value, json};

/// The request state that a modern caller must return unchanged.
const STATE: &str = "asked: \"once\" \u{2713}";
const URL: &str = "https://example.com/consent?for=matrix";

/// The client's answer, or the `input_required` result that asks for it.
pub(crate) enum Answer {
    Given(Value),
    Needed(InputRequiredResult),
}

pub(crate) async fn ask(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    question: Value,
) -> Result<Answer, ErrorData> {
    let question = read(question);
    if !is_modern(context) {
        return ask_now(context, question).await.map(Answer::Given);
    }
    let given = request.input_responses.as_ref().and_then(|responses| responses.get("answer"));
    match (given, request.request_state.as_deref()) {
        (None, _) => {
            let requests = InputRequests::from([("answer".to_owned(), question)]);
            Ok(Answer::Needed(InputRequiredResult::new(Some(requests), Some(STATE.to_owned()))))
        }
        (Some(given), Some(STATE)) => Ok(Answer::Given(given.clone())),
        (Some(_), other) => {
            Err(ErrorData::invalid_params(format!("the request state came back as {other:?}"), None))
        }
    }
}

/// Converts the question to the SDK's type.
pub(crate) fn read(question: Value) -> InputRequest {
    serde_json::from_value(question).expect("the questions of this server are well formed")
}

pub(crate) fn name_form() -> Value {
    json!({"method": "elicitation/create", "params": {
        "mode": "form",
        "message": "What is your name?",
        "requestedSchema": {
            "type": "object",
            "properties": {"name": {"type": "string", "title": "Name"}},
            "required": ["name"],
        },
    }})
}

pub(crate) fn sampling(prompt: &str) -> Value {
    json!({"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
        "maxTokens": 100,
    }})
}

pub(crate) fn roots() -> Value {
    json!({"method": "roots/list"})
}

pub(crate) fn page() -> Value {
    json!({"method": "elicitation/create", "params": {
        "mode": "url", "message": "Please agree.", "url": URL, "elicitationId": "consent-1",
    }})
}

/// The error by which 2025-11-25 asks the user to visit a URL first.
pub(crate) fn page_required() -> ErrorData {
    let elicitation = page()["params"].clone();
    ErrorData::new(
        ErrorCode(-32042),
        "a page must be visited first",
        Some(json!({"elicitations": [elicitation]})),
    )
}

async fn ask_now(context: &RequestContext<RoleServer>, question: InputRequest) -> Result<Value, ErrorData> {
    let answer = match question {
        InputRequest::CreateMessage(request) => {
            context.peer.create_message(request.params).await.map(|answer| json!(answer))
        }
        InputRequest::Elicitation(request) => {
            context.peer.create_elicitation(request.params).await.map(|answer| json!(answer))
        }
        _ => context.peer.list_roots().await.map(|answer| json!(answer)),
    };
    answer.map_err(|error| ErrorData::internal_error(format!("no answer: {error}"), None))
}
