//! Reading git's machine formats.

mod blame;
mod changes;
mod commits;
mod status;
mod trial;

pub(super) use blame::{BlamedLine, blame};
pub(super) use changes::{FileChange, changes};
pub(super) use commits::{COMMIT_FORMAT, commits};
pub(super) use status::{StatusEntry, status};
pub use trial::listings;
