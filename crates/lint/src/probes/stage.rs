//! Stage: where a probe runs. It has a line, knows how the server introduced itself, and can open more lines.

use super::{INTRODUCED_AGAIN, PING_STEP};
use crate::{
    engine::{Active, Callable},
    evidence::{Line, List, Settled, Step},
    wire::{Dial, Heard, Speaker},
};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use trunkline_protocol::Era;

/// What the introduction told.
#[derive(Debug)]
pub struct Known {
    pub era: Era,
    pub dial: Dial,
    /// The result of `initialize` or `server/discover`.
    pub introduction: Value,
    /// How long a new line may take to answer for the first time.
    pub start: Duration,
    /// What an active probe may do.
    pub active: Active,
    /// Calls of tools that are left, for all lines to this server.
    pub calls_left: Arc<AtomicUsize>,
}

#[derive(Debug)]
pub struct Stage {
    pub speaker: Speaker,
    pub known: Arc<Known>,
    more: Vec<Line>,
}

impl Known {
    /// Takes one call from the budget; false when there is none left.
    pub fn take_call(&self) -> bool {
        let less = |left: usize| left.checked_sub(1);
        self.calls_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    pub fn has_capability(&self, path: &str) -> bool {
        let capabilities = self.introduction.get("capabilities");
        let found = path.split('.').try_fold(capabilities, |at, name| Some(at?.get(name)));
        found.flatten().is_some_and(|value| !value.is_null() && *value != Value::Bool(false))
    }
}

impl Stage {
    pub(crate) fn new(speaker: Speaker, known: Arc<Known>) -> Self {
        Self { speaker, known, more: Vec::new() }
    }

    pub fn era(&self) -> Era {
        self.known.era
    }

    /// Opens another line to the same server, introduced.
    pub async fn another(&self, purpose: &'static str) -> Speaker {
        let mut speaker = self.fresh(purpose).await;
        speaker.introduce(INTRODUCED_AGAIN).await;
        speaker.patience(self.known.dial.answer);
        speaker
    }

    /// Opens another line on which nothing was said.
    pub async fn fresh(&self, purpose: &'static str) -> Speaker {
        let mut speaker = self.known.dial.open(purpose, self.known.era).await;
        // A process that is just starting may take as long as the first one did.
        speaker.patience(self.known.start);
        speaker
    }

    /// Ends a line opened here and keeps its record.
    pub async fn done(&mut self, speaker: Speaker) {
        self.more.push(speaker.finish().await);
    }

    /// The tools this run may call, as the server lists them.
    pub fn callable_tools(&self) -> Vec<Value> {
        let read_only = |tool: &Value| tool["annotations"]["readOnlyHint"] == true;
        let may = |tool: &Value| match self.known.active.tools {
            Callable::None => false,
            Callable::ReadOnly => read_only(tool),
            Callable::All => true,
        };
        self.listed(List::Tools).into_iter().filter(may).collect()
    }

    /// A list as the server gave it on the lines of this stage.
    pub fn listed(&self, list: List) -> Vec<Value> {
        let listed = |line: &Line| -> Vec<Value> { line.listed(list).cloned().collect() };
        let lines = std::iter::once(self.speaker.so_far(listed)).chain(self.more.iter().map(listed));
        lines.flatten().collect()
    }

    /// A plain request that every server answers, to see that it still does.
    pub async fn sentinel(&mut self, step: Step) -> Heard {
        let method = match self.era() {
            Era::Modern => "server/discover",
            Era::Legacy if self.ignores_pings() && self.known.has_capability("tools") => "tools/list",
            Era::Legacy => "ping",
        };
        self.speaker.ask(step, method, json!({})).await
    }

    /// Whether a ping was left without an answer while nothing else was wrong.
    fn ignores_pings(&self) -> bool {
        let ignored = |line: &Line| {
            line.exchanges.iter().any(|exchange| exchange.step == PING_STEP && exchange.answer.is_none())
        };
        self.speaker.so_far(ignored) || self.more.iter().any(ignored)
    }

    /// Whether the line still answers: it has not ended, and the last question was not left open.
    pub(crate) fn is_well(&self) -> bool {
        let open = self.speaker.so_far(|line| {
            line.exchanges.last().is_some_and(|last| {
                matches!(last.settled, Settled::Silent(_) | Settled::Gone | Settled::Failed(_))
            })
        });
        !open && !self.speaker.has_ended()
    }

    /// Takes a new line in place of one that no longer answers.
    pub(crate) async fn renew(&mut self, purpose: &'static str) {
        let fresh = self.another(purpose).await;
        let broken = std::mem::replace(&mut self.speaker, fresh);
        self.done(broken).await;
    }

    /// Ends all lines and gives their records, the stage's own first.
    pub(crate) async fn finish(self) -> Vec<Line> {
        let mut lines = vec![self.speaker.finish().await];
        lines.extend(self.more);
        lines
    }
}
