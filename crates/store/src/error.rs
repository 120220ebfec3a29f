//! The errors of operations on a store.

use crate::{MAX_NAME, MAX_VALUE};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The change was not made.
    #[error("the store cannot be reached: {0}")]
    Unavailable(String),
    /// The change was not made.
    #[error("the store is full: {0}")]
    Full(String),
    #[error("the store's answer was lost, so the change may have been made: {0}")]
    Unknown(String),
    #[error("the store's data cannot be read: {0}")]
    Damaged(String),
    #[error("the store refuses the operation: {0}")]
    Refused(String),
    #[error("the store file is in use by another process: {0}")]
    InUse(String),
    #[error("a value of {given} bytes is larger than {MAX_VALUE}")]
    TooLarge { given: usize },
    #[error("a name of {given} bytes is not between 1 and {MAX_NAME} bytes long")]
    Name { given: usize },
}
