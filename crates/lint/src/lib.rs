//! Is this server correct? Probes gather evidence, rules judge it, reports render it.
//!
//! A [`Subject`] is the thing to judge. Only [`probes`] do I/O: they talk to a server over the raw
//! wire and record every frame as [`Evidence`]. A [`Rule`] is a pure function from evidence to an
//! [`Outcome`]. Renderers in [`report`] make no decisions.

mod baseline;
pub mod engine;
pub mod evidence;
mod lock;
mod outcome;
mod pointer;
pub mod probes;
pub mod report;
mod rule;
pub mod rules;
mod sample;
pub mod wire;

pub use baseline::{BadIgnore, Baseline, Ignore, Known, ignore};
pub use engine::{Budget, Options, Progress, Selection, Subject, Unreachable, lint};
pub use evidence::{Case, Evidence};
pub use lock::{lock_of, lock_subject};
pub use outcome::{Finding, Level, Outcome, Place, Skip, UnknownLevel, Verdict};
pub use report::Report;
pub use rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule};
pub use rules::suspicions;
