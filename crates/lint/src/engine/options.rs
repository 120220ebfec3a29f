//! What to judge, by which rules, and how far to go for it.

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

/// Which rules take part; an empty list means all.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    pub rules: Vec<String>,
    pub groups: Vec<Group>,
    /// Rules below this level are left out.
    pub level: Option<Level>,
}

/// How much a run may use.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// How long a server may take to start and answer for the first time.
    pub start: Duration,
    /// How long one answer may take afterwards.
    pub answer: Duration,
    /// How long all probes of one target may take together, once it has answered.
    pub total: Duration,
    /// How many tools an active run may call.
    pub calls: usize,
    /// Lines open to one server at a time.
    pub lines: usize,
}

/// What an active run may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Active {
    pub tools: Callable,
    /// Calls that are allowed in all.
    pub calls: usize,
    /// Messages that a fuzzing probe generates.
    pub cases: usize,
    /// Where the generator begins; the same seed gives the same messages.
    pub seed: u64,
}

/// Which tools may be called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Callable {
    #[default]
    None,
    /// Tools with `readOnlyHint: true`.
    ReadOnly,
    All,
}

/// Told what happens, so that a person who waits sees it.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<Tell>>);

type Tell = dyn Fn(Event<'_>) + Send + Sync;

#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A target is being connected to.
    Connecting { target: &'a str },
    /// A probe begins.
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
            answer: Duration::from_secs(3),
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
