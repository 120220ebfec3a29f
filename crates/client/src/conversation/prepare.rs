//! Prepares a request before it is sent. Usually everything is cached and nothing has to be
//! waited for.

use super::{CallStage, Conversation, Next, Step, clock::Clock, end};
use crate::{
    connection::Inner,
    conversation::Rounds,
    facts::{Fact, Known},
    line_lock::LineGuard,
    switchboard::Standing,
};
use std::sync::Arc;
use trunkline_protocol::{
    Era, Fault, Raw,
    message::{Level, TaskSupport, header_values, tasks_needed},
    method,
};

/// The results of the preparation.
#[derive(Default)]
pub(super) struct Prepared {
    fact: Option<Arc<Fact>>,
    guard: Option<LineGuard>,
}

/// The preparations that must be waited for.
#[derive(Default)]
struct Needs {
    /// A log level that the server must be set to, and the caller's era.
    level: Option<Level>,
    /// The tool whose header rules and task support must be known.
    tool: Option<String>,
    /// The tool, prompt or resource that the line is locked for.
    subject: Option<Arc<str>>,
}

impl Conversation {
    /// Sends the request, or starts to wait for what it needs.
    pub(super) fn start_round(&mut self) -> Next {
        if let Some(guard) = self.relay.as_mut().and_then(|relay| relay.guard.take()) {
            self.guard = Some(guard);
        }
        if let Some(prepared) = self.prepared_already() {
            return self.send(prepared);
        }
        let waiting = prepare(self.connection.clone(), self.needs());
        self.stage = CallStage::Preparing(Box::pin(waiting));
        Next::Continue
    }

    pub(super) fn send(&mut self, prepared: Prepared) -> Next {
        if prepared.guard.is_some() {
            self.guard = prepared.guard;
        }
        if self.is_tool_of_caller() {
            let task = self.apply_fact(prepared.fact.as_deref());
            if task == TaskSupport::Required && self.is_for_modern() && !self.passes_tasks() {
                return end(Err(tasks_needed()));
            }
        }
        self.clock = self.timeouts.map(Clock::start);
        self.session = self.connection.session();
        self.stage = CallStage::Sent(self.connection.exchange(&self.ask));
        Next::Continue
    }

    fn prepared_already(&self) -> Option<Prepared> {
        if !self.connection.is_ready() {
            return None;
        }
        let Some(relay) = &self.relay else { return Some(Prepared::default()) };
        if relay.level.is_some_and(|level| self.connection.must_set_level(level)) {
            return None;
        }
        let mut prepared = Prepared::default();
        if self.is_tool_of_caller() {
            let name = self.ask.params.get("name").and_then(Raw::text);
            prepared.fact = match self.connection.known_fact(name.as_deref().unwrap_or_default()) {
                Known::Fact(fact) => Some(fact),
                Known::None => None,
                Known::Unsure => return None,
            };
        }
        if let Some(subject) = self.lock_subject() {
            prepared.guard = Some(self.connection.link.board().line_lock.try_acquire(subject)?);
        }
        Some(prepared)
    }

    fn needs(&self) -> Needs {
        let Some(relay) = &self.relay else { return Needs::default() };
        let name = || self.ask.params.get("name").and_then(Raw::text).unwrap_or_default().into_owned();
        Needs {
            level: relay.level,
            tool: self.is_tool_of_caller().then(name),
            subject: self.lock_subject().cloned(),
        }
    }

    fn is_tool_of_caller(&self) -> bool {
        self.relay.is_some() && self.step == Step::Call && self.ask.method == method::TOOLS_CALL
    }

    fn is_for_modern(&self) -> bool {
        self.relay.as_ref().is_some_and(|relay| relay.caller.era() == Era::Modern)
    }

    fn lock_subject(&self) -> Option<&Arc<str>> {
        match (&self.guard, self.connection.speech.era(), &self.ask.standing) {
            (None, Era::Legacy, Standing::Askable(subject)) => Some(subject),
            _ => None,
        }
    }

    /// Adds the arguments that the tool wants as headers, and `task` if the tool requires it.
    fn apply_fact(&mut self, fact: Option<&Fact>) -> TaskSupport {
        let Some(fact) = fact else { return TaskSupport::Forbidden };
        if !fact.headers.is_empty() || !self.ask.mirrored.is_empty() {
            let arguments = self.ask.params.get("arguments").cloned().unwrap_or_else(Raw::empty_object);
            self.ask.mirrored = header_values(&fact.headers, &arguments);
        }
        if !self.connection.runs_tasks() {
            return TaskSupport::Forbidden;
        }
        let wanted = match fact.task {
            TaskSupport::Required => self.rounds == Rounds::Driven || self.passes_tasks(),
            TaskSupport::Optional => self.passes_tasks(),
            _ => false,
        };
        for params in [Some(&mut self.ask.params), self.original.as_mut()].into_iter().flatten() {
            let task = params.remove("task").unwrap_or_else(Raw::empty_object);
            if wanted {
                params.set("task", task);
            }
        }
        fact.task.clone()
    }
}

async fn prepare(connection: Arc<Inner>, needs: Needs) -> Result<Prepared, Fault> {
    connection.ready().await?;
    if let Some(level) = needs.level {
        connection.want_level(level).await;
    }
    let fact = match &needs.tool {
        None => None,
        Some(tool) => match connection.known_fact(tool) {
            Known::Fact(fact) => Some(fact),
            Known::None => None,
            Known::Unsure => connection.find_fact(tool).await,
        },
    };
    let guard = match needs.subject {
        None => None,
        Some(subject) => {
            let limit = connection.options.timeouts.call();
            Some(connection.link.board().line_lock.acquire(&subject, limit).await?)
        }
    };
    Ok(Prepared { fact, guard })
}
