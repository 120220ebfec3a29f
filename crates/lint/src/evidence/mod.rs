//! Evidence: a record of all traffic with a server.
//!
//! A *line* is one connection to the server: a process, an HTTP client with its session, or an
//! HTTP+SSE stream. A *frame* is one message or output line in one direction. An *exchange* is one
//! sent message and its outcome; its *step* names the request, and rules find exchanges by step.

mod case;
mod exchange;
mod frame;
mod line;
mod listed;
mod surrogates;

pub use case::{Asked, Case, Message};
pub use exchange::{Exchange, HttpHead, Settled, Step};
pub use frame::{Direction, Frame, FrameRef};
pub use line::{Departed, Ending, Line, MAIN};
pub use listed::{Item, List};

use crate::probes::Probe;
use trunkline_client::{Carrier, is_this_machine};
use trunkline_protocol::Era;

/// All evidence about one target.
#[derive(Debug)]
pub struct Evidence {
    /// The target as the user wrote it, without secrets.
    pub target: String,
    pub carrier: Carrier,
    /// The server's URL, if it has one.
    pub address: Option<url::Url>,
    /// The eras in which the server introduced itself.
    pub served: Vec<Era>,
    pub lines: Vec<Line>,
    /// Probes that could not run, with the reason.
    pub missed: Vec<Missed>,
    /// How two processes of the server disturb each other, if they do.
    pub exclusive: Option<String>,
}

/// A probe that did not run or did not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missed {
    pub probe: &'static str,
    pub era: Option<Era>,
    pub why: String,
}

impl Evidence {
    pub fn new(target: impl Into<String>, carrier: Carrier) -> Self {
        Self {
            target: target.into(),
            carrier,
            address: None,
            served: Vec::new(),
            lines: Vec::new(),
            missed: Vec::new(),
            exclusive: None,
        }
    }

    /// True if the server listens on this machine.
    pub fn is_local(&self) -> bool {
        self.address.as_ref().is_some_and(is_this_machine)
    }

    pub fn frame(&self, at: FrameRef) -> Option<&Frame> {
        self.lines.get(at.line)?.frames.get(at.frame)
    }

    /// One `Case` per era that the server speaks.
    pub fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        self.served.iter().map(|era| Case::new(self, *era))
    }

    /// All exchanges of a step in all eras and lines.
    pub fn asked(&self, step: Step) -> impl Iterator<Item = Asked<'_>> {
        self.lines.iter().enumerate().flat_map(move |(line, record)| {
            let of_step = record.exchanges.iter().filter(move |exchange| exchange.step == step);
            of_step.map(move |exchange| Asked::new(self, line, exchange))
        })
    }

    /// The reason why this probe left no evidence.
    pub fn why_missed(&self, probe: &Probe, era: Option<Era>) -> Option<&str> {
        let same = |missed: &&Missed| {
            missed.probe == probe.name && (missed.era.is_none() || era.is_none() || missed.era == era)
        };
        self.missed.iter().find(same).map(|missed| missed.why.as_str())
    }
}
