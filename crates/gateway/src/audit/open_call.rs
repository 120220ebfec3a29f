//! A call between its two records.

use super::{
    Trail,
    members::Members,
    outcome::Ending,
    queue::{Entry, Need, Unwritten},
    redact::mask,
};
use std::{borrow::Cow, time::Instant};
use tokio::sync::OwnedSemaphorePermit;
use trunkline_protocol::{Call, Outcome, Raw, method};

/// A call that was let in. However it goes away, after [`start`](Self::start) it leaves exactly one end record.
#[derive(Debug)]
pub(super) struct OpenCall {
    trail: Trail,
    method: Cow<'static, str>,
    target: Option<String>,
    /// The members that both records have.
    common: String,
    began: Instant,
    /// Present from the start record to the end record.
    slot: Option<OwnedSemaphorePermit>,
    started: bool,
}

impl OpenCall {
    pub(super) fn new(trail: Trail, id: (&str, u64), call: &Call, slot: OwnedSemaphorePermit) -> Self {
        let target = call.params.as_ref().and_then(|params| target(&call.method, params));
        let id = format_args!("{}-{}", id.0, id.1);
        let common = Members::of_call(id, &call.caller.id, &call.method, target.as_deref());
        Self {
            trail,
            method: call.method.clone(),
            target,
            common,
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
        let entry = Entry { members, need: need.unwrap_or(Need::Written), told: None, slot: None };
        if need.is_some() {
            return self.trail.ledger().write(entry, self.trail.options().patience).await;
        }
        self.trail.ledger().put(entry);
        Ok(())
    }

    /// Records the end, and comes back when it is written.
    pub(super) async fn end(mut self, outcome: &Outcome) {
        let ending = Ending::of(&self.method, outcome);
        let Some(entry) = self.finish(ending) else { return };
        if self.trail.ledger().write(entry, self.trail.options().patience).await.is_err() {
            tracing::error!(call = self.common, "ALARM: the end of a call could not be recorded yet");
        }
    }

    /// Records that the call was not made.
    pub(super) fn refuse(mut self) {
        self.put_end(Ending::UNRECORDABLE);
    }

    fn put_end(&mut self, ending: Ending) {
        if let Some(entry) = self.finish(ending) {
            self.trail.ledger().put(entry);
        }
    }

    /// The end record, the first time that this is asked for.
    fn finish(&mut self, ending: Ending) -> Option<Entry> {
        let slot = self.slot.take()?;
        if !self.started {
            return None;
        }
        let micros = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let mut members =
            Members::new("end").part_of(&self.common).number("micros", micros).text("outcome", ending.word);
        if let Some(code) = ending.code {
            members = members.text("code", code);
        }
        if let Some(bytes) = ending.bytes {
            members = members.number("bytes", bytes as u64);
        }
        Some(Entry { members: members.finish(), need: Need::Written, told: None, slot: Some(slot) })
    }

    fn start_members(&self, call: &Call, mutating: Mutating) -> String {
        let bytes = call.params.as_ref().map_or(0, |params| params.as_bytes().len());
        let mut members = Members::new("start")
            .part_of(&self.common)
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
        self.put_end(ending);
    }
}

/// What a call is about: the tool, the prompt or the resource. Names stay whole, however random they look; addresses may
/// hold secrets.
fn target(asked: &str, params: &Raw) -> Option<String> {
    let name = match asked {
        method::TOOLS_CALL | method::PROMPTS_GET => "name",
        method::RESOURCES_READ | method::RESOURCES_SUBSCRIBE | method::RESOURCES_UNSUBSCRIBE => {
            return Some(mask(&params.member("uri")?.text()?));
        }
        method::TASKS_GET | method::TASKS_RESULT | method::TASKS_CANCEL | method::TASKS_UPDATE => "taskId",
        _ => return None,
    };
    params.member(name)?.text().map(Cow::into_owned)
}
