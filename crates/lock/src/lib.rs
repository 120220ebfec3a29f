//! The lock file: the accepted definitions of each server, and how they differ from those of
//! today. Reading and writing files is left to others.

mod canonical;
mod changes;
mod file;
mod pinned;
mod schema;

pub use canonical::{canonical, hash};
pub use changes::{Change, Severity, Suspicion, compare, compare_text};
pub use file::{BadLock, FILE_NAME, Lock};
pub use pinned::{Kind, Pinned};
