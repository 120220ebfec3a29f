//! Evidence: everything that passed on the wire, and what was asked when.
//!
//! A *line* is one way to the server: a process, an HTTP conversation, an HTTP+SSE stream. A *frame* is what passed on it
//! one way at one time. An *exchange* is one thing we sent and what came back for it; its *step* names the question, and
//! rules find exchanges by step.

mod case;
mod exchange;
mod frame;
mod line;
mod listed;

pub use case::{Asked, Case, Message};
pub use exchange::{Exchange, HttpHead, Settled, Step};
pub use frame::{Direction, Frame, FrameRef};
pub use line::{Departed, Ending, Line};
pub use listed::{Item, List};

use crate::probes::Probe;
use trunkline_client::Carrier;
use trunkline_protocol::Era;

/// What was gathered about one target.
#[derive(Debug)]
pub struct Evidence {
    /// The target as a person wrote it, without secrets.
    pub target: String,
    pub carrier: Carrier,
    /// Where it listens, if it is reached by an address.
    pub address: Option<url::Url>,
    /// The eras the server was found to speak.
    pub served: Vec<Era>,
    pub lines: Vec<Line>,
    /// Probes that could not be run, and why.
    pub missed: Vec<Missed>,
}

/// A probe that was not run, or not to its end.
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
        }
    }

    /// Whether the server listens on this machine.
    pub fn is_local(&self) -> bool {
        self.address.as_ref().and_then(url::Url::host).is_some_and(|host| match host {
            url::Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
            url::Host::Ipv4(address) => address.is_loopback(),
            url::Host::Ipv6(address) => address.is_loopback(),
        })
    }

    pub fn frame(&self, at: FrameRef) -> Option<&Frame> {
        self.lines.get(at.line)?.frames.get(at.frame)
    }

    /// One view per era the server speaks.
    pub fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        self.served.iter().map(|era| Case::new(self, *era))
    }

    /// Every exchange of a step, over all eras and lines.
    pub fn asked(&self, step: Step) -> impl Iterator<Item = Asked<'_>> {
        self.lines.iter().enumerate().flat_map(move |(line, record)| {
            let of_step = record.exchanges.iter().filter(move |exchange| exchange.step == step);
            of_step.map(move |exchange| Asked::new(self, line, exchange))
        })
    }

    /// Why there is nothing from this probe.
    pub fn why_missed(&self, probe: &Probe, era: Option<Era>) -> Option<&str> {
        let same = |missed: &&Missed| {
            missed.probe == probe.name && (missed.era.is_none() || era.is_none() || missed.era == era)
        };
        self.missed.iter().find(same).map(|missed| missed.why.as_str())
    }
}
