//! The first call, which must be read-only and need no arguments.
//!
//! A tool qualifies if it has `readOnlyHint` and no required argument; otherwise a resource is
//! read or a prompt fetched. `readOnlyHint` is only a hint, so the user can turn the call off.

use super::{
    super::{
        cause::Cause,
        diagnosis::Problem,
        evidence::Evidence,
        examination::{Checked, Examination, Stop, passed},
        options::FirstCall,
        step::StepId,
    },
    lists::Offered,
    problem_of,
    trial::Session,
};
use serde_json::Value;
use std::time::Duration;
use trunkline_protocol::{
    Fault, FaultKind, Object,
    message::{CallToolResult, ContentBlock, Prompt, Tool},
};

/// The call to make.
enum Choice<'a> {
    Tool(&'a str),
    Resource(&'a str),
    Prompt(&'a str),
}

pub(super) async fn make(
    exam: &mut Examination<'_>,
    session: &Session,
    offered: &Offered,
) -> Result<(), Stop> {
    if exam.options.first_call == FirstCall::Skip {
        exam.skip(StepId::FirstCall, "not wanted");
        return Ok(());
    }
    let Some(choice) = choose(offered) else {
        exam.skip(StepId::FirstCall, "it offers nothing that only reads and needs no arguments");
        return Ok(());
    };
    let limit = exam.options.limits.step;
    exam.wait(StepId::FirstCall, call(session, &choice, limit)).await
}

fn choose(offered: &Offered) -> Option<Choice<'_>> {
    let tools = offered.tools.iter().flat_map(|list| &list.items);
    let resources = offered.resources.iter().flat_map(|list| &list.items);
    let prompts = offered.prompts.iter().flat_map(|list| &list.items);
    let tool = tools.filter(|tool| only_reads(tool)).map(|tool| Choice::Tool(&tool.name)).next();
    let tool = tool.or_else(|| resources.map(|resource| Choice::Resource(&resource.uri)).next());
    tool.or_else(|| {
        prompts.filter(|prompt| needs_nothing(prompt)).map(|prompt| Choice::Prompt(&prompt.name)).next()
    })
}

fn only_reads(tool: &Tool) -> bool {
    let reads = tool.annotations.as_ref().and_then(|hints| hints.read_only_hint) == Some(true);
    let required: Vec<Value> = tool.input_schema.member_as("required").unwrap_or_default();
    reads && required.is_empty()
}

fn needs_nothing(prompt: &Prompt) -> bool {
    prompt.arguments.iter().flatten().all(|argument| argument.required != Some(true))
}

async fn call(session: &Session, choice: &Choice<'_>, limit: Duration) -> Checked<()> {
    let client = &session.client;
    let (what, answer) = match choice {
        Choice::Tool(name) => {
            let answer = async {
                let result = client.call(*name, Object::new()).timeout(limit).await?;
                Ok(result.failed().then(|| said(&result)))
            };
            (format!("the tool `{name}`"), within(limit, answer).await)
        }
        Choice::Resource(uri) => {
            let answer = async { client.read(uri).await.map(|_| None) };
            (format!("the resource `{uri}`"), within(limit, answer).await)
        }
        Choice::Prompt(name) => {
            let answer = async { client.prompt(name, Vec::<(String, String)>::new()).await.map(|_| None) };
            (format!("the prompt `{name}`"), within(limit, answer).await)
        }
    };
    match answer {
        Ok(None) => passed((), what),
        Ok(Some(said)) => Err(Box::new(
            Problem::new(Cause::CallFails, format!("{what} reports an error"))
                .proof(Evidence::fact(said))
                .proofs(session.last_frames())
                .fix("do what the message says; a missing credential in \"env\" is the usual reason"),
        )),
        // A request for input counts as an answer.
        Err(fault) if asks_back(&fault) => passed((), format!("{what} asks back")),
        Err(fault) => Err(Box::new(
            problem_of(&fault, &what, Cause::CallFails)
                .proofs(session.last_frames())
                .fix("see the server's message and its log"),
        )),
    }
}

fn asks_back(fault: &Fault) -> bool {
    matches!(
        fault.kind(),
        FaultKind::ClientCapabilityMissing | FaultKind::Declined | FaultKind::UrlElicitationRequired
    )
}

/// The first text of a result.
fn said(result: &CallToolResult) -> String {
    let text = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    };
    result.blocks().iter().find_map(text).unwrap_or_else(|| "it gives no text".to_owned())
}

async fn within<T>(limit: Duration, answer: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    tokio::time::timeout(limit, answer).await.unwrap_or_else(|_| {
        Err(Fault::new(FaultKind::Timeout, format!("no answer within {} s", limit.as_secs_f64())))
    })
}
