//! Options of a run: rules, mode and limits.

use crate::{
    outcome::Level,
    rule::{Group, Mode, Rule},
};
use std::{fmt, sync::Arc, time::Duration};

#[derive(Debug, Clone)]
pub struct Options {
    pub selection: Selection,
    pub budget: Budget,
    /// The riskiest mode that may be used.
    pub mode: Mode,
    pub active: Active,
    pub progress: Progress,
}

/// Selects the rules; an empty list selects all.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    pub rules: Vec<String>,
    pub groups: Vec<Group>,
    /// The minimum level of selected rules.
    pub level: Option<Level>,
}

/// Limits of a run.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Timeout for the start and the first answer of a server.
    pub start: Duration,
    /// Timeout for each later answer that the server owes, such as a list. Probes for which
    /// silence is a possible outcome wait less.
    pub answer: Duration,
    /// Time limit for all probes of one target, counted from the introduction.
    pub total: Duration,
    /// Maximum number of tool calls in an active run.
    pub calls: usize,
    /// Maximum number of concurrent connections to one server.
    pub lines: usize,
}

/// Limits of an active run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Active {
    pub tools: Callable,
    /// Maximum number of tool calls in all.
    pub calls: usize,
    /// Number of messages that a fuzzing probe generates.
    pub cases: usize,
    /// Seed of the generator; the same seed gives the same messages.
    pub seed: u64,
}

/// The tools that may be called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Callable {
    #[default]
    None,
    /// Only tools with `readOnlyHint: true`.
    ReadOnly,
    All,
}

/// A callback for progress events.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<Tell>>);

type Tell = dyn Fn(Event<'_>) + Send + Sync;

#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The run connects to a target.
    Connecting { target: &'a str },
    /// A probe starts.
    Probe { target: &'a str, name: &'static str, done: usize, total: usize },
}

impl Selection {
    pub fn includes(&self, rule: &Rule) -> bool {
        (self.rules.is_empty() || self.rules.iter().any(|name| name == rule.name))
            && (self.groups.is_empty() || self.groups.contains(&rule.group))
            && self.level.is_none_or(|level| rule.level >= level)
    }
}

impl Progress {
    pub fn new(tell: impl Fn(Event<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }

    pub(crate) fn tell(&self, event: Event<'_>) {
        if let Some(tell) = &self.0 {
            tell(event);
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            selection: Selection::default(),
            budget: Budget::default(),
            mode: Mode::Negative,
            active: Active::default(),
            progress: Progress::default(),
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            start: Duration::from_mins(1),
            answer: Duration::from_mins(1),
            total: Duration::from_mins(1),
            calls: 50,
            lines: 4,
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}
