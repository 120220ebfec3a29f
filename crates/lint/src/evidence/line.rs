//! Line: one connection to the server, with all its frames.

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
    /// The era of the line; `None` until it is known.
    pub era: Option<Era>,
    /// The name of the probe that uses it, or `main`.
    pub purpose: &'static str,
    pub frames: Vec<Frame>,
    pub exchanges: Vec<Exchange>,
    /// The part of the first exchange in which the server waited for a CPU.
    pub queued: Duration,
    /// Set if the server ended the line by itself.
    pub ended: Option<Ending>,
    /// The time at which we closed it.
    pub closed: Option<Duration>,
    /// The result of our shutdown.
    pub departed: Option<Departed>,
    /// The last lines of its stderr.
    pub stderr: String,
    /// The error if the line could not be opened.
    pub failed: Option<String>,
    /// Number of frames that exceeded the limits and were dropped.
    pub dropped: usize,
    /// Observations of probes other than frames; rules find them by step.
    pub observed: Vec<(Step, String)>,
}

/// An end of the line that we did not cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    pub at: Duration,
    /// Continues "the server …"; for a connection "closed the connection".
    pub how: String,
}

/// The result of a shutdown by EOF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departed {
    /// Time from EOF to the exit; `None` if the process had to be killed.
    pub after: Option<Duration>,
    pub how: String,
    /// Processes of its group that survived it; `None` if this is unknown.
    pub left_behind: Option<Vec<String>>,
}

impl Line {
    pub fn new(purpose: &'static str) -> Self {
        Self { purpose, ..Self::default() }
    }

    /// True if generated messages were sent on it.
    pub fn is_fuzzed(&self) -> bool {
        self.purpose.starts_with("fuzz-")
    }

    /// The items of a list from all pages on this line.
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
