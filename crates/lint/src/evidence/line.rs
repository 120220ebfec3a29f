//! Line: one way to the server, and all that passed on it.

use super::{
    exchange::{Exchange, Step},
    frame::Frame,
    listed::List,
};
use serde_json::Value;
use std::time::Duration;
use trunkline_protocol::Era;

#[derive(Debug, Default)]
pub struct Line {
    /// The era spoken on it; none while that is being found out.
    pub era: Option<Era>,
    /// Whose questions were asked on it.
    pub purpose: &'static str,
    pub frames: Vec<Frame>,
    pub exchanges: Vec<Exchange>,
    /// How the server's process ended while it should have run.
    pub ended: Option<Ending>,
    /// How it left when it was asked to.
    pub departed: Option<Departed>,
    /// The end of what it wrote to stderr.
    pub stderr: String,
    /// Why the line could not be opened.
    pub failed: Option<String>,
    /// Frames that came when no more could be kept.
    pub dropped: usize,
    /// What a probe measured or saw beside the frames; rules find it by step.
    pub observed: Vec<(Step, String)>,
}

/// The end of a line that was not asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    pub at: Duration,
    /// Continues "the server …"; for a connection "closed the connection".
    pub how: String,
}

/// A shutdown by closing the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departed {
    /// How long it took to leave after the end of its input; none if it had to be killed.
    pub after: Option<Duration>,
    pub how: String,
    /// Processes of its group that were still there afterwards; none where that cannot be seen.
    pub left_behind: Option<Vec<String>>,
}

impl Line {
    pub fn new(purpose: &'static str) -> Self {
        Self { purpose, ..Self::default() }
    }

    /// Whether generated messages were sent on it.
    pub fn is_fuzzed(&self) -> bool {
        self.purpose.starts_with("fuzz-")
    }

    /// The items of a list as the server gave it on this line, over all pages.
    pub fn listed(&self, list: List) -> impl Iterator<Item = &Value> {
        let pages = self.exchanges.iter().filter(move |exchange| exchange.step == list.step());
        let items = move |page: &Exchange| {
            self.frames[page.answer?].json()?.get("result")?.get(list.member())?.as_array()
        };
        pages.filter_map(items).flatten()
    }

    pub fn observed(&self, step: Step) -> impl Iterator<Item = &str> {
        self.observed.iter().filter(move |(known, _)| *known == step).map(|(_, what)| what.as_str())
    }
}
