//! A call between its start record and its end record.

use super::{
    Trail,
    journal::Writing,
    members::Members,
    outcome::Ending,
    record::{Need, Record, Unwritten},
    redact::mask,
};
use std::{borrow::Cow, sync::Arc, time::Instant};
use tokio::sync::OwnedSemaphorePermit;
use trunkline_protocol::{Call, CallRecord, Outcome, Raw, method};

/// A call that has a slot. After [`start`](Self::start) it writes exactly one end record, however
/// the call ends, even if it is dropped.
pub(super) struct OpenCall {
    trail: Trail,
    method: Cow<'static, str>,
    /// The members that both records have.
    common: String,
    /// Tells who answered its questions.
    record: Option<Arc<CallRecord>>,
    began: Instant,
    /// Passed on to the end record.
    slot: Option<OwnedSemaphorePermit>,
    started: bool,
    /// The write that the call waits for.
    writing: Option<Writing>,
}

/// `Yes` if a call may change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mutating {
    Yes,
    No,
}

/// The parameters of a call that its records contain.
#[derive(Debug, Default)]
pub(super) struct About {
    /// The tool, prompt, resource or task, not decoded yet.
    target: Option<(Kind, Raw)>,
    arguments: Option<Raw>,
}

/// The facts of a start record.
pub(super) struct Start<'a> {
    pub(super) call: &'a Call,
    pub(super) about: &'a About,
    pub(super) target: Option<&'a str>,
    pub(super) mutating: Mutating,
}

/// The kind of a call's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The name of a tool or prompt.
    Name,
    /// The URI of a resource.
    Address,
    Task,
}

impl About {
    pub(super) fn of(call: &Call) -> Self {
        let Some(params) = &call.params else { return Self::default() };
        let Some(kind) = Kind::of(&call.method) else {
            return Self { target: None, arguments: params.member("arguments") };
        };
        let [target, arguments] = params.pick([kind.member(), "arguments"]);
        Self { target: target.map(|target| (kind, target)), arguments }
    }

    /// The target of the call. Names are never masked, even if they look random; URIs may contain
    /// secrets and are masked.
    pub(super) fn target(&self) -> Option<Cow<'_, str>> {
        let (kind, target) = self.target.as_ref()?;
        let target = target.text()?;
        Some(if *kind == Kind::Address { mask(&target).into() } else { target })
    }
}

impl Kind {
    fn of(method: &str) -> Option<Self> {
        match method {
            method::TOOLS_CALL | method::PROMPTS_GET => Some(Self::Name),
            method::RESOURCES_READ | method::RESOURCES_SUBSCRIBE | method::RESOURCES_UNSUBSCRIBE => {
                Some(Self::Address)
            }
            method::TASKS_GET | method::TASKS_RESULT | method::TASKS_CANCEL | method::TASKS_UPDATE => {
                Some(Self::Task)
            }
            _ => None,
        }
    }

    fn member(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Address => "uri",
            Self::Task => "taskId",
        }
    }
}

impl OpenCall {
    pub(super) fn new(trail: Trail, call: &Call, target: Option<&str>, slot: OwnedSemaphorePermit) -> Self {
        let id = trail.next_id();
        if let Some(record) = &call.record {
            // Only the outermost of several recording handlers is asked for it.
            let mut text = String::new();
            id.push_to(&mut text);
            drop(record.id.set(text));
        }
        let common = Members::of_call(id, &call.caller.id, &call.method, target);
        Self {
            trail,
            method: call.method.clone(),
            common,
            record: call.record.clone(),
            began: Instant::now(),
            slot: Some(slot),
            started: false,
            writing: None,
        }
    }

    /// Records the start. With a `need`, [`written`](Self::written) waits until that is met.
    pub(super) fn start(&mut self, start: Start<'_>, need: Option<Need>) {
        let members = self.start_members(start);
        self.started = true;
        let record = Record::new(members, self.began);
        match need {
            Some(need) => self.write(Record { need, ..record }),
            None => self.trail.journal().put(record),
        }
    }

    /// Records the end; [`written`](Self::written) waits until it is written.
    pub(super) fn end(&mut self, outcome: &Outcome) {
        if let Some(record) = self.finish(Ending::of(&self.method, outcome)) {
            self.write(record);
        }
    }

    /// Records that the call was not made.
    pub(super) fn refuse(&mut self) {
        self.put_end(Ending::UNRECORDABLE);
    }

    /// Waits for the pending write, if there is one.
    pub(super) async fn written(&mut self) -> Result<(), Unwritten> {
        match self.writing.take() {
            Some(writing) => writing.await,
            None => Ok(()),
        }
    }

    /// Logs that the end could not be recorded.
    pub(super) fn alarm(&self) {
        tracing::error!(call = self.common, "ALARM: the end of a call could not be recorded yet");
    }

    fn write(&mut self, record: Record) {
        self.writing = self.trail.journal().write(record, self.trail.options().patience);
    }

    fn put_end(&mut self, ending: Ending) {
        if let Some(record) = self.finish(ending) {
            self.trail.journal().put(record);
        }
    }

    /// The end record; `None` if it was already made.
    fn finish(&mut self, ending: Ending) -> Option<Record> {
        let slot = self.slot.take()?;
        if !self.started {
            return None;
        }
        let at = Instant::now();
        let micros = u64::try_from(at.duration_since(self.began).as_micros()).unwrap_or(u64::MAX);
        let mut members = Members::at(at, "end")
            .part_of(&self.common)
            .number("micros", micros)
            .text("outcome", ending.word);
        if let Some(code) = ending.code {
            members = members.text("code", code);
        }
        if let Some(bytes) = ending.bytes {
            members = members.number("bytes", bytes as u64);
        }
        members = self.with_answerers(members);
        Some(Record::new(members.finish(), at).holding(slot))
    }

    /// Names the callers that answered questions of the call in place of its own caller.
    fn with_answerers(&self, members: Members) -> Members {
        let answerers = self.record.as_ref().map(|record| record.answerers()).unwrap_or_default();
        if answerers.is_empty() { members } else { members.text("answeredBy", &answerers.join(", ")) }
    }

    fn start_members(&self, Start { call, about, target, mutating }: Start<'_>) -> String {
        let bytes = call.params.as_ref().map_or(0, |params| params.as_bytes().len());
        let mut members = Members::at(self.began, "start")
            .part_of(&self.common)
            .text("effect", if mutating == Mutating::Yes { "may-change" } else { "reads" })
            .number("bytes", bytes as u64);
        if let Some(arguments) = about.arguments.as_ref().filter(|arguments| arguments.is_object()) {
            let redaction = &self.trail.options().redaction;
            let values = members
                .written("arguments", |out| redaction.arguments(target.unwrap_or_default(), arguments, out));
            if let Some(values) = values {
                members = members.json("values", &values);
            }
        }
        self.with_answerers(members).finish()
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let ending = if std::thread::panicking() { Ending::PANICKED } else { Ending::CANCELLED };
        self.put_end(ending);
    }
}
