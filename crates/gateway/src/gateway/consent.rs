//! Calls that need the consent of a person: they wait until it is there.
//!
//! The person at the client is asked by elicitation, if the client has it. Otherwise the call
//! becomes a question to an operator. Neither can be answered by a tool call.

use super::{Inner, Passed, faults};
use crate::{
    approval::{Approvals, Scope, shown_arguments},
    policy::{Agreement, Asked, Consent},
};
use futures_util::{StreamExt, future, stream};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, oneshot},
    time::interval,
};
use trunkline_protocol::{
    Call, Fault, FaultKind, Notification, Origin, Outcome, Part, Question, Raw, Reply,
    message::{ClientCapabilities, meta},
    method,
};

/// Interval of progress notifications while a call waits for an operator.
const PROGRESS: Duration = Duration::from_secs(15);
/// Parts that may wait for the client to take them.
const PARTS: usize = 4;
/// The time that the person at the client can agree for.
const WHILE: Duration = Duration::from_hours(1);
/// The choices of the person at the client.
const ONCE: &str = "allow once";
const FOR_SESSION: &str = "allow for this session";
const FOR_A_WHILE: &str = "allow for one hour";
const DENY: &str = "deny";

/// The parts of a waiting call's reply.
enum Step {
    Part(Part),
    /// The reply after the decision.
    Rest(Reply),
}

impl Inner {
    /// Asks a person, then makes the call.
    pub(super) fn once_agreed(self: &Arc<Self>, call: Call, asked: Asked, mut passed: Passed) -> Reply {
        let Some(approvals) = self.shared.options.approvals.clone() else {
            return Reply::ready(Err(faults::unasked(&asked)));
        };
        let inner = Arc::clone(self);
        let (tell, parts) = mpsc::channel(PARTS);
        let work = async move {
            if let Err(fault) = agreed(&approvals, &call, &asked, &tell).await {
                return Reply::ready(Err(fault));
            }
            drop(tell);
            passed.agreement = Some(Agreement::new(&asked, &call));
            inner.by_newest(call, |catalog, view, call| inner.use_item(catalog, view, call, passed))
        };
        let parts = stream::unfold(parts, |mut parts| async move { Some((parts.recv().await?, parts)) });
        let steps = stream::select(parts.map(Step::Part), stream::once(work).map(Step::Rest));
        Reply::new(steps.flat_map(|step| match step {
            Step::Part(part) => stream::once(future::ready(part)).left_stream(),
            Step::Rest(reply) => reply.right_stream(),
        }))
    }
}

async fn agreed(
    approvals: &Approvals,
    call: &Call,
    asked: &Asked,
    tell: &mpsc::Sender<Part>,
) -> Result<(), Fault> {
    if approvals.is_granted(call, asked).await {
        return Ok(());
    }
    if asks_client(call, asked) {
        return ask_client(approvals, call, asked, tell).await;
    }
    let question = approvals.open(call, asked).await?;
    let token = meta::get(call.params.as_ref(), meta::PROGRESS_TOKEN);
    let text = format!("waiting for approval {} by an operator", question.id());
    let decided = question.decided();
    tokio::pin!(decided);
    let (mut ticks, mut count) = (interval(PROGRESS), 0);
    loop {
        tokio::select! {
            decided = &mut decided => return decided,
            _ = ticks.tick(), if token.is_some() => {
                count += 1;
                if let Some(token) = &token {
                    // If the client does not read, it is not told again.
                    drop(tell.try_send(progress(token, count, &text)));
                }
            }
        }
    }
}

/// True if the person at the client is asked. A program that calls over REST answers its own
/// questions, so it cannot stand for a person.
pub(super) fn asks_client(call: &Call, asked: &Asked) -> bool {
    asked.consent == Consent::Client && call.origin != Origin::Rest && has_form(call)
}

/// True if the client can show a form.
fn has_form(call: &Call) -> bool {
    let declared = meta::get(call.params.as_ref(), meta::CLIENT_CAPABILITIES);
    let capabilities = declared.and_then(|raw| raw.decode::<ClientCapabilities>().ok());
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
    elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

async fn ask_client(
    approvals: &Approvals,
    call: &Call,
    asked: &Asked,
    tell: &mpsc::Sender<Part>,
) -> Result<(), Fault> {
    let (answer, answered) = oneshot::channel::<Outcome>();
    let question = Question::new(method::ELICIT, Some(form(call, asked)), move |outcome| {
        // The call may have been cancelled.
        drop(answer.send(outcome));
    });
    let refused = || {
        let text = format!("the person at the client did not agree to `{}`", asked.subject);
        Fault::new(FaultKind::ApprovalRefused, text)
    };
    tell.send(Part::Question(question.named("consent"))).await.map_err(|_| refused())?;
    let decision = match answered.await {
        Ok(Ok(answer)) => decision(call, &answer),
        Ok(Err(_)) | Err(_) => None,
    };
    approvals.answered(call, asked, decision).await;
    if decision.is_some() { Ok(()) } else { Err(refused()) }
}

/// The person must choose: a client that accepts forms without showing them sends no choice.
fn decision(call: &Call, answer: &Raw) -> Option<Scope> {
    if answer.text_of("action")? != "accept" {
        return None;
    }
    match answer.member("content")?.text_of("decision")?.as_ref() {
        ONCE => Some(Scope::Once),
        FOR_SESSION if call.session.is_some() => Some(Scope::Session),
        FOR_A_WHILE => Some(Scope::Caller(WHILE)),
        _ => None,
    }
}

fn form(call: &Call, asked: &Asked) -> Raw {
    let reason = asked.reason.as_ref().map(|reason| format!("\nReason: {reason}")).unwrap_or_default();
    let tool = trunkline_secrets::visible::line(&asked.subject);
    let message = format!(
        "Your agent wants to call `{tool}`, which needs your consent.{reason}\nArguments: {}",
        shown_arguments(call)
    );
    let for_session = call.session.as_ref().map(|_| FOR_SESSION);
    let choices: Vec<&str> =
        [Some(ONCE), for_session, Some(FOR_A_WHILE), Some(DENY)].into_iter().flatten().collect();
    let choice = json!({
        "type": "string",
        "title": "Decision",
        "description": format!("Whether `{tool}` may be called"),
        "enum": choices,
    });
    let schema = json!({"type": "object", "properties": {"decision": choice}, "required": ["decision"]});
    Raw::from(json!({"message": message, "requestedSchema": schema}))
}

/// Progress increases with each notification and stays below zero, so that the server's own
/// progress goes on increasing.
fn progress(token: &Raw, count: u32, text: &str) -> Part {
    let token: Value = token.decode().unwrap_or_default();
    let params = json!({"progressToken": token, "progress": -1.0 / f64::from(count), "message": text});
    Part::Notification(Notification::new(method::PROGRESS, Some(Raw::from(params))))
}
