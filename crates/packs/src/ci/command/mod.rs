//! Command lines: how they are split into words, and the rules that allow them.

mod policy;
mod rule;
mod split;

pub(super) use policy::Approved;
pub use rule::{BadRule, CommandRule};
