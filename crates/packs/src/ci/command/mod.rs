//! Command lines: how one is taken apart, and which may be run.

mod policy;
mod rule;
mod split;

pub(super) use policy::Approved;
pub use rule::{BadRule, CommandRule};
