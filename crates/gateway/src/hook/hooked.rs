//! Hooked: a handler whose tool calls pass through hooks.

use super::{
    HookEvent, Hooks, OnHookFailure, Prepared, interim,
    payload::Subject,
    verdict::{Decision, Notes, Verdict},
};
use crate::rewrite::Publisher;
use futures_util::{StreamExt, future, stream};
use std::sync::Arc;
use trunkline_protocol::{
    Call, Caller, Fault, FaultKind, Handler, Origin, Outcome, Part, Raw, Reply, message::says_error, method,
};

/// A handler behind [`Hooks`].
pub struct Hooked {
    inner: Arc<dyn Handler>,
    hooks: Arc<Hooks>,
}

impl std::fmt::Debug for Hooked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hooked").field("hooks", &self.hooks).finish_non_exhaustive()
    }
}

/// The hooks of one call.
#[derive(Clone)]
struct HookedCall {
    subject: Arc<Subject>,
    hooks: Arc<[Arc<Prepared>]>,
}

impl Hooked {
    pub fn new(inner: Arc<dyn Handler>, hooks: Arc<Hooks>) -> Self {
        Self { inner, hooks }
    }

    /// The hooks of a call; `None` if there are none.
    fn hooked(&self, call: &Call) -> Option<HookedCall> {
        let ours = call.origin == Origin::Ourselves || Caller::is_ourselves(&call.caller);
        if call.method != method::TOOLS_CALL || ours {
            return None;
        }
        let subject = Subject::of(call)?;
        let hooks = self.hooks.of(&subject);
        (!hooks.is_empty()).then(|| HookedCall { subject: Arc::new(subject), hooks: hooks.into() })
    }
}

impl Handler for Hooked {
    fn call(&self, call: Call) -> Reply {
        let Some(hooked) = self.hooked(&call) else { return self.inner.call(call) };
        let inner = self.inner.clone();
        let call = if hooked.may_withhold() { interim::answered_at_once(call) } else { call };
        let parts = async move {
            match hooked.run(HookEvent::Before, None).await {
                Err(fault) => Reply::ready(Err(fault)),
                Ok(notes) => hooked.around(inner.call(call), notes),
            }
        };
        Reply::new(stream::once(parts).flatten())
    }

    fn inner(&self) -> Option<&dyn Handler> {
        Some(&self.inner)
    }
}

impl HookedCall {
    /// True if a hook sees the result before the client does.
    fn may_withhold(&self) -> bool {
        self.hooks.iter().any(|hook| hook.is_for(HookEvent::After))
    }

    fn around(self, reply: Reply, notes: Notes) -> Reply {
        let withholds = self.may_withhold();
        let shown =
            move |part| future::ready(if withholds { interim::without_content(part) } else { Some(part) });
        Reply::new(reply.filter_map(shown).then(move |part| {
            let (hooked, notes) = (self.clone(), notes.clone());
            async move {
                match part {
                    Part::Final(outcome) => Part::Final(hooked.end(outcome, notes).await),
                    other => other,
                }
            }
        }))
    }

    /// Runs the hooks after the call.
    async fn end(&self, outcome: Outcome, mut notes: Notes) -> Outcome {
        let event = match &outcome {
            // The call continues when the client has answered; its retry is a new call.
            Ok(result) if asks(result) => return outcome,
            // Its result would come later, and no hook would see it.
            Ok(result) if self.may_withhold() && Publisher::started(result).is_some() => {
                tracing::warn!(tool = self.subject.tool, "a server started a task where it may not");
                return Err(Fault::new(FaultKind::BadAnswer, TASK).harmful_to_repeat());
            }
            Ok(result) if !says_error(result) => HookEvent::After,
            _ => HookEvent::Error,
        };
        match self.run(event, Some(&outcome)).await {
            Ok(more) => notes.extend(more),
            // A failed call has no result to withhold.
            Err(_) if event == HookEvent::Error => {}
            Err(fault) => return Err(fault.harmful_to_repeat()),
        }
        notes.on(outcome)
    }

    /// Runs the hooks of an event in order, until one denies.
    async fn run(&self, event: HookEvent, outcome: Option<&Outcome>) -> Result<Notes, Fault> {
        let mut notes = Notes::default();
        for prepared in self.hooks.iter().filter(|prepared| prepared.is_for(event)) {
            let hook = &prepared.hook;
            let payload = self.subject.payload(&hook.name, event, hook.shows, outcome);
            match prepared.ask(&self.subject.caller.id, payload).await {
                Ok(verdict) if verdict.decision == Decision::Deny => {
                    return Err(denial(&hook.name, event, &verdict));
                }
                Ok(verdict) => notes.add(&hook.name, verdict),
                Err(reason) => {
                    tracing::warn!(hook = hook.name, event = event.name(), %reason, "a hook failed");
                    if hook.on_failure == OnHookFailure::Refuse {
                        return Err(failure(&hook.name, event).with_detail(reason));
                    }
                }
            }
        }
        Ok(notes)
    }
}

/// A server that was told that its client follows no tasks started one.
const TASK: &str = "the result was withheld, because the server gives it where no check sees it";

/// True for a result that asks the client something.
fn asks(result: &Raw) -> bool {
    result.member_as::<String>("resultType").is_some_and(|kind| kind == "input_required")
}

fn denial(hook: &str, event: HookEvent, verdict: &Verdict) -> Fault {
    let reason = verdict.reason.as_deref().unwrap_or("no reason was given");
    let what = if event == HookEvent::Before { "the call was denied" } else { "the result was withheld" };
    let data = serde_json::json!({"hook": hook, "reason": reason});
    Fault::new(FaultKind::Forbidden, format!("{what}: {reason}")).with_data(data.into())
}

fn failure(hook: &str, event: HookEvent) -> Fault {
    let what = if event == HookEvent::Before { "the call was refused" } else { "the result was withheld" };
    Fault::new(FaultKind::Unavailable, format!("{what}, because a check of this server failed"))
        .with_data(serde_json::json!({"hook": hook}).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{hook::*, limit::ToolNames};
    use std::time::Duration;

    struct Tool;

    impl Handler for Tool {
        fn call(&self, call: Call) -> Reply {
            let fails = call.params.unwrap().as_str().contains("broken");
            Reply::ready(Ok(serde_json::json!({"content": [], "isError": fails}).into()))
        }
    }

    fn hook(events: &[HookEvent], run: RunHook) -> Hook {
        Hook {
            name: "h".to_owned(),
            events: events.to_vec(),
            tools: vec!["git_*".to_owned()],
            shows: Shows::Masked,
            on_failure: OnHookFailure::Refuse,
            timeout: Duration::from_secs(1),
            concurrency: 1,
            per_caller: None,
            run,
        }
    }

    async fn call(hook: Hook, tool: &str) -> Outcome {
        let hooks = Hooks::new(vec![hook], ToolNames::default()).unwrap();
        let params = serde_json::json!({"name": tool, "arguments": {"password": "hunter2", "a": 1}});
        Hooked::new(Arc::new(Tool), hooks)
            .call(Call::new(method::TOOLS_CALL, Some(params.into())))
            .outcome()
            .await
    }

    fn says(answer: &'static str) -> RunHook {
        Arc::new(move |_| Box::pin(async move { Ok(answer.as_bytes().to_vec()) }))
    }

    /// A tool that tells its result in every way there is before the final one.
    struct Leaky;

    impl Handler for Leaky {
        fn call(&self, call: Call) -> Reply {
            let declares = call.params.unwrap().as_str().contains("tasks");
            let note = |method, params: serde_json::Value| {
                Part::Notification(trunkline_protocol::Notification::new(method, Some(params.into())))
            };
            let progress = serde_json::json!({"progressToken": 7, "progress": 1, "total": 2,
                "message": "secret", "_meta": {"trunkline/partial": {"text": "secret"}}});
            let log = serde_json::json!({"level": "info", "data": "secret"});
            let result = if declares {
                serde_json::json!({"resultType": "task", "taskId": "1"})
            } else {
                serde_json::json!({"content": [{"type": "text", "text": "secret"}]})
            };
            let parts = [
                note(method::PROGRESS, progress),
                note(method::MESSAGE, log),
                Part::Final(Ok(result.into())),
            ];
            Reply::new(stream::iter(parts))
        }
    }

    async fn leaked(events: &[HookEvent]) -> (String, Outcome) {
        let deny = says(r#"{"decision":"deny","reason":"confidential"}"#);
        let hooks = Hooks::new(vec![hook(events, deny)], ToolNames::default()).unwrap();
        let params = serde_json::json!({"name": "git_log", "_meta": {
            "io.modelcontextprotocol/clientCapabilities":
                {"extensions": {"io.modelcontextprotocol/tasks": {}}}}});
        let mut reply =
            Hooked::new(Arc::new(Leaky), hooks).call(Call::new(method::TOOLS_CALL, Some(params.into())));
        let mut seen = String::new();
        while let Some(part) = reply.next().await {
            match part {
                Part::Final(outcome) => return (seen, outcome),
                Part::Notification(other) => seen.push_str(other.params.as_ref().map_or("", Raw::as_str)),
                Part::Question(_) | Part::Detach => panic!("nothing is asked here"),
            }
        }
        panic!("there is no final part");
    }

    #[tokio::test]
    async fn a16_a_result_that_is_withheld_comes_in_no_other_way() {
        let (seen, outcome) = leaked(&[HookEvent::After]).await;
        assert_eq!(outcome.unwrap_err().kind(), FaultKind::Forbidden);
        assert!(!seen.contains("secret") && seen.contains("progress"), "{seen}");
        let (seen, outcome) = leaked(&[HookEvent::Error]).await;
        assert!(seen.contains("secret") && outcome.is_ok(), "{seen}");
    }

    #[tokio::test]
    async fn h8_a_hook_denies_only_the_tools_that_it_names() {
        let deny = || hook(&[HookEvent::Before], says(r#"{"decision":"deny","reason":"not on Fridays"}"#));
        let fault = call(deny(), "git_push").await.unwrap_err();
        assert_eq!(fault.kind(), FaultKind::Forbidden);
        assert_eq!(fault.message(), "the call was denied: not on Fridays");
        assert!(call(deny(), "files_read").await.is_ok());
    }

    #[tokio::test]
    async fn h8_secrets_are_masked_and_events_are_told_apart() {
        let echo: RunHook = Arc::new(|payload| {
            Box::pin(async move {
                let text = String::from_utf8(payload).unwrap();
                Ok(serde_json::json!({"annotation": text}).to_string().into_bytes())
            })
        });
        let all = [HookEvent::Before, HookEvent::After, HookEvent::Error];
        let result = call(hook(&all, echo.clone()), "git_log").await.unwrap();
        let text = result.as_str();
        assert!(
            text.contains(r#"\"event\":\"before\""#) && text.contains(r#"\"event\":\"after\""#),
            "{text}"
        );
        assert!(!text.contains("hunter2") && !text.contains(r#"\"event\":\"error\""#), "{text}");
        let failed = call(hook(&[HookEvent::Error], echo), "git_broken").await.unwrap();
        assert!(failed.as_str().contains(r#"\"event\":\"error\""#), "{failed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn h8_a_hook_that_hangs_panics_or_babbles_fails_as_configured() {
        let hangs: RunHook = Arc::new(|_| Box::pin(std::future::pending()));
        let panics: RunHook = Arc::new(|_| Box::pin(async { panic!("a fault of the hook") }));
        let breaks: RunHook = Arc::new(|_| Box::pin(async { Err("it exited with status 1".to_owned()) }));
        for run in [hangs, panics, breaks, says("yes, of course")] {
            for event in [HookEvent::Before, HookEvent::After] {
                let refusing = hook(&[event], run.clone());
                let fault = call(refusing.clone(), "git_log").await.unwrap_err();
                assert_eq!(
                    (fault.kind(), fault.retryable()),
                    (FaultKind::Unavailable, event == HookEvent::Before)
                );
                let lenient = Hook { on_failure: OnHookFailure::Allow, ..refusing };
                assert!(call(lenient, "git_log").await.is_ok());
            }
        }
    }
}
