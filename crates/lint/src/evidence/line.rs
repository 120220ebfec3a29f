//! Line: one connection to the server, with all its frames.

use super::{
    exchange::{Exchange, Settled, Step},
    frame::{Direction, Frame},
    listed::List,
};
use serde_json::Value;
use std::time::Duration;
use trunkline_protocol::Era;

/// The purpose of the line on which the server introduces itself first.
pub const MAIN: &str = "main";

#[derive(Debug, Default)]
pub struct Line {
    /// The era of the line; `None` until it is known.
    pub era: Option<Era>,
    /// The name of the probe that uses it, or [`MAIN`].
    pub purpose: &'static str,
    pub frames: Vec<Frame>,
    pub exchanges: Vec<Exchange>,
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

    /// True if something was sent on it, or it could not be opened.
    pub fn is_used(&self) -> bool {
        !self.frames.is_empty() || !self.exchanges.is_empty() || self.failed.is_some()
    }

    /// True if the server answered the first message, even if with an error.
    pub fn was_answered(&self) -> bool {
        self.exchanges.first().is_some_and(|first| first.settled == Settled::Answered)
    }

    /// True if generated messages were sent on it.
    pub fn is_fuzzed(&self) -> bool {
        self.purpose.starts_with("fuzz-")
    }

    /// True if the request was answered after the probe had stopped waiting, and before we closed
    /// the line: on a busy machine an answer is late, not missing.
    pub fn answered_late(&self, exchange: &Exchange) -> bool {
        let id_of = |frame: &Frame| frame.json().and_then(|message| message.get("id").cloned());
        let Some(sent) = exchange.sent else { return false };
        let Some(id) = id_of(&self.frames[sent]).filter(|id| !id.is_null()) else { return false };
        self.frames[sent..].iter().any(|frame| {
            frame.direction == Direction::Received
                && self.closed.is_none_or(|closed| frame.at < closed)
                && id_of(frame).as_ref() == Some(&id)
                && frame.json().is_some_and(|message| message.get("method").is_none())
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    /// True if the answer with this id, received after so many seconds, counts.
    fn is_answered(answered: u64, closed: u64, answer: &'static str) -> bool {
        let frame = |direction, at, text: &'static str| {
            Frame::new(direction, Duration::from_secs(at), &Bytes::from_static(text.as_bytes()))
        };
        let mut line = Line { closed: Some(Duration::from_secs(closed)), ..Line::new("main") };
        line.frames.push(frame(Direction::Sent, 1, r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#));
        line.frames.push(frame(Direction::Received, answered, answer));
        let waited = Duration::from_secs(3);
        line.answered_late(&Exchange {
            step: Step("a"),
            variant: String::new(),
            sent: Some(0),
            got: Vec::new(),
            answer: None,
            settled: Settled::Silent(waited),
            http: None,
            took: waited,
            queued: Duration::ZERO,
        })
    }

    #[test]
    fn an_answer_after_the_timeout_counts_until_the_line_is_closed() {
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        assert!(is_answered(6, 9, result));
        assert!(!is_answered(9, 9, result), "it was pushed out by EOF");
        assert!(!is_answered(6, 9, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#));
        assert!(!is_answered(6, 9, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#));
    }
}
