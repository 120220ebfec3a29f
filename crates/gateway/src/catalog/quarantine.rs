//! Items that a server lists but that cannot be offered.

use super::{checker::BadSchema, lock::Drift};
use serde::Serialize;
use trunkline_protocol::message::BadHeaderParam;

/// Most characters of a name in a report.
const MAX_SHOWN: usize = 128;

/// One item that is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Quarantined {
    /// Its name or URI, cut if it is long; its index in the list if it has none.
    pub name: String,
    pub reason: String,
}

/// The reason why an item is not offered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Reason {
    #[error("it is not an object")]
    NotAnObject,
    #[error("it has no `{0}`")]
    NoName(&'static str),
    #[error("it has {size} bytes, more than the {most} allowed")]
    TooLarge { size: usize, most: usize },
    #[error("the list has more than {0} items")]
    TooMany(usize),
    #[error("its `inputSchema` is missing or not an object")]
    NoSchema,
    #[error("its `inputSchema` does not describe an object")]
    NotOfObjects,
    #[error("{0}")]
    Header(#[from] BadHeaderParam),
    #[error("its arguments cannot be checked: {0}")]
    Schema(#[from] BadSchema),
    #[error("{0}")]
    Drifted(Drift),
    #[error("its server lists it twice")]
    Twice,
    #[error("its public name `{public}` is taken by `{taken_by}`")]
    Taken { public: String, taken_by: String },
}

impl Quarantined {
    pub(crate) fn new(name: &str, reason: &Reason) -> Self {
        Self { name: shown(name), reason: reason.to_string() }
    }
}

/// The name, cut if it is too long for a report.
pub(crate) fn shown(name: &str) -> String {
    match name.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}
