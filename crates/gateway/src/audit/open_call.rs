//! A call between its two records.

use super::{
    Trail,
    members::Members,
    outcome::Ending,
    queue::{Entry, Need, Unwritten},
    redact::mask,
};
use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use trunkline_protocol::{Call, Object, Outcome, Raw, method};

/// A call that was let in. However it goes away, after [`start`](Self::start) it leaves exactly one end record.
#[derive(Debug)]
pub(super) struct OpenCall {
    trail: Trail,
    id: String,
    caller: String,
    method: String,
    target: Option<String>,
    began: Instant,
    /// Present from the start record to the end record.
    slot: Option<OwnedSemaphorePermit>,
    started: bool,
}

impl OpenCall {
    pub(super) fn new(trail: Trail, id: String, call: &Call, slot: OwnedSemaphorePermit) -> Self {
        let params = call.params.as_ref().and_then(Raw::object);
        let target = params.as_ref().and_then(|params| target(&call.method, params));
        Self {
            trail,
            id,
            caller: call.caller.id.clone(),
            method: call.method.to_string(),
            target,
            began: Instant::now(),
            slot: Some(slot),
            started: false,
        }
    }

    pub(super) fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Records the start. With a need, comes back when that is met.
    pub(super) async fn start(
        &mut self,
        call: &Call,
        mutating: Mutating,
        need: Option<Need>,
    ) -> Result<(), Unwritten> {
        let members = self.start_members(call, mutating);
        self.started = true;
        let (told, heard) = need.map(|_| oneshot::channel()).unzip();
        let entry = Entry { members, need: need.unwrap_or(Need::Written), told, slot: None };
        self.trail.queue().push(entry);
        match heard {
            Some(heard) => self.wait(heard).await,
            None => Ok(()),
        }
    }

    /// Records the end, and comes back when it is written.
    pub(super) async fn end(mut self, outcome: &Outcome) {
        let ending = Ending::of(&self.method, outcome);
        let (told, heard) = oneshot::channel();
        self.finish(ending, Some(told));
        if self.wait(heard).await.is_err() {
            tracing::error!(call = self.id, "ALARM: the end of a call could not be recorded yet");
        }
    }

    /// Records that the call was not made.
    pub(super) fn refuse(mut self) {
        self.finish(Ending::UNRECORDABLE, None);
    }

    async fn wait(&self, heard: oneshot::Receiver<Result<(), Unwritten>>) -> Result<(), Unwritten> {
        match tokio::time::timeout(self.trail.options().patience, heard).await {
            Ok(Ok(result)) => result,
            _ => Err(Unwritten),
        }
    }

    fn finish(&mut self, ending: Ending, told: Option<oneshot::Sender<Result<(), Unwritten>>>) {
        let Some(slot) = self.slot.take() else { return };
        if !self.started {
            return;
        }
        let micros = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let mut members = self.members("end").number("micros", micros).text("outcome", ending.word);
        if let Some(code) = ending.code {
            members = members.text("code", code);
        }
        if let Some(bytes) = ending.bytes {
            members = members.number("bytes", bytes as u64);
        }
        let entry = Entry { members: members.finish(), need: Need::Written, told, slot: Some(slot) };
        self.trail.queue().push(entry);
    }

    fn start_members(&self, call: &Call, mutating: Mutating) -> String {
        let bytes = call.params.as_ref().map_or(0, |params| params.as_bytes().len());
        let mut members = self
            .members("start")
            .text("effect", if mutating == Mutating::Yes { "may-change" } else { "reads" })
            .number("bytes", bytes as u64);
        let arguments = call.params.as_ref().and_then(|params| params.member("arguments")?.object());
        if let Some(arguments) = arguments {
            let redaction = &self.trail.options().redaction;
            let redacted = redaction.arguments(self.target.as_deref().unwrap_or_default(), &arguments);
            members = members.json("arguments", &redacted.sizes);
            if let Some(values) = redacted.values {
                members = members.json("values", &values);
            }
        }
        members.finish()
    }

    fn members(&self, kind: &'static str) -> Members {
        let members = Members::new(kind)
            .text("call", &self.id)
            .text("caller", &self.caller)
            .text("method", &self.method);
        match &self.target {
            Some(target) => members.text("target", target),
            None => members,
        }
    }
}

/// Whether a call may change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mutating {
    Yes,
    No,
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let ending = if std::thread::panicking() { Ending::PANICKED } else { Ending::CANCELLED };
        self.finish(ending, None);
    }
}

/// What a call is about: the tool, the prompt or the resource. Names stay whole, however random they look; addresses may
/// hold secrets.
fn target(asked: &str, params: &Object) -> Option<String> {
    let name = match asked {
        method::TOOLS_CALL | method::PROMPTS_GET => "name",
        method::RESOURCES_READ | method::RESOURCES_SUBSCRIBE | method::RESOURCES_UNSUBSCRIBE => {
            return Some(mask(&params.get("uri")?.decode::<String>().ok()?));
        }
        method::TASKS_GET | method::TASKS_RESULT | method::TASKS_CANCEL | method::TASKS_UPDATE => "taskId",
        _ => return None,
    };
    params.get(name)?.decode().ok()
}
