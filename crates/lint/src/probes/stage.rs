//! Stage: the context of a probe. It has a line, knows the server's introduction, and can open
//! more lines.

use super::{INTRODUCED_AGAIN, PING_STEP};
use crate::{
    engine::{Active, Callable},
    evidence::{Line, List, Settled, Step},
    wire::{Dial, Heard, Processes, Speaker},
};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};
use trunkline_protocol::Era;

/// Facts from the introduction, and limits for probes.
#[derive(Debug)]
pub struct Known {
    pub era: Era,
    pub dial: Dial,
    /// The result of `initialize` or `server/discover`.
    pub introduction: Value,
    /// Timeout for the first answer on a new line.
    pub start: Duration,
    /// Timeout for an answer that the server owes: a list, a resource, a prompt.
    pub owed: Duration,
    /// The longest time that a list took, in milliseconds.
    pub slowest_list: AtomicU64,
    /// Limits of active probes.
    pub active: Active,
    /// Remaining tool calls, shared by all lines to this server.
    pub calls_left: Arc<AtomicUsize>,
}

#[derive(Debug)]
pub struct Stage {
    pub speaker: Speaker,
    pub known: Arc<Known>,
    more: Vec<Line>,
}

impl Known {
    /// Takes one call from the budget. Returns false if none is left.
    pub fn take_call(&self) -> bool {
        let less = |left: usize| left.checked_sub(1);
        self.calls_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Timeout for the answer to a probe: longer for a server that is slow with its lists.
    pub fn patience(&self) -> Duration {
        self.dial.answer.max((self.slowest_list() * 2).min(self.owed))
    }

    /// The longest time that a list took.
    pub(super) fn slowest_list(&self) -> Duration {
        Duration::from_millis(self.slowest_list.load(Ordering::Relaxed))
    }

    /// Records how long the lists on this line took.
    pub(super) fn measure_lists(&self, line: &Line) {
        let lists = line.exchanges.iter().filter(|it| it.answer.is_some() && List::of(it.step).is_some());
        let slowest = lists.map(|list| list.took.as_millis()).max().unwrap_or_default();
        self.slowest_list.fetch_max(u64::try_from(slowest).unwrap_or(u64::MAX), Ordering::Relaxed);
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

    /// Opens another line to the same server and runs the introduction on it.
    pub async fn another(&mut self, purpose: &'static str) -> Speaker {
        let mut speaker = self.fresh(purpose).await;
        speaker.introduce(INTRODUCED_AGAIN).await;
        speaker.patience(self.known.patience());
        speaker
    }

    /// Opens another line without an introduction. If only one process may run at a time, it ends
    /// its own first; the next probe on that line gets a new one.
    pub async fn fresh(&mut self, purpose: &'static str) -> Speaker {
        if self.known.dial.processes == Processes::OneAtATime {
            let closed = Speaker::closed(self.era(), &self.known.dial);
            let own = std::mem::replace(&mut self.speaker, closed);
            self.done(own).await;
        }
        let mut speaker = self.known.dial.open(purpose, self.known.era).await;
        // A new process may need as long for its first answer as the first one.
        speaker.patience(self.known.start);
        speaker
    }

    /// Closes a line that was opened here, and keeps its record.
    pub async fn done(&mut self, speaker: Speaker) {
        let line = speaker.finish().await;
        self.more.extend(line.is_used().then_some(line));
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

    /// The first hit on the lines of this stage: on an earlier one if the current has none.
    pub(super) fn find<T>(&self, find: impl Fn(&Line) -> Option<T>) -> Option<T> {
        self.speaker.so_far(&find).or_else(|| self.more.iter().find_map(find))
    }

    /// The items of a list, from all lines of this stage.
    pub fn listed(&self, list: List) -> Vec<Value> {
        let listed = |line: &Line| -> Vec<Value> { line.listed(list).cloned().collect() };
        let lines = std::iter::once(self.speaker.so_far(listed)).chain(self.more.iter().map(listed));
        lines.flatten().collect()
    }

    /// A request that the server should answer with a result: the first list that it declares.
    pub(super) fn plain_method(&self) -> &'static str {
        let declared = List::ALL.into_iter().find(|list| self.known.has_capability(list.capability()));
        declared.map_or_else(|| self.basic_method(), List::method)
    }

    /// A request that every server must answer, whatever it declares.
    pub(super) fn basic_method(&self) -> &'static str {
        match self.era() {
            Era::Modern => "server/discover",
            Era::Legacy => "ping",
        }
    }

    /// Sends a request that every server answers, to check that the server is still responsive.
    pub async fn sentinel(&mut self, step: Step) -> Heard {
        let method = match self.era() {
            Era::Legacy if self.ignores_pings() && self.known.has_capability("tools") => "tools/list",
            _ => self.basic_method(),
        };
        self.speaker.ask(step, method, json!({})).await
    }

    /// True if the ping probe got no answer.
    fn ignores_pings(&self) -> bool {
        let ignored = |line: &Line| {
            line.exchanges.iter().any(|exchange| exchange.step == PING_STEP && exchange.answer.is_none())
        };
        self.speaker.so_far(ignored) || self.more.iter().any(ignored)
    }

    /// True if the line is usable: it is open, and the last exchange did not fail or time out.
    pub(crate) fn is_usable(&self) -> bool {
        let open = self.speaker.so_far(|line| {
            line.exchanges.last().is_some_and(|last| {
                matches!(last.settled, Settled::Silent(_) | Settled::Gone | Settled::Failed(_))
            })
        });
        !open && !self.speaker.has_ended()
    }

    /// Replaces a line that no longer answers by a new one.
    pub(crate) async fn renew(&mut self, purpose: &'static str) {
        let fresh = self.another(purpose).await;
        let broken = std::mem::replace(&mut self.speaker, fresh);
        self.done(broken).await;
    }

    /// Closes all lines and returns their records, the main line first.
    pub(crate) async fn finish(self) -> Vec<Line> {
        let own = self.speaker.finish().await;
        std::iter::once(own).chain(self.more).filter(Line::is_used).collect()
    }
}
