//! Data that outlives a request: values, event logs and counters.
//!
//! Two implementations have the same behaviour and share one test suite: [`Embedded`] keeps data in
//! memory or in one file, [`Redis`] in a Redis or Valkey server that several processes use. Why
//! `redb` for the file: transactions survive `kill -9`, one file, no native code, no background
//! compaction; and it locks the file, so that two processes cannot damage it.
//!
//! Every operation is bounded in time and size. A failed operation says whether the change may have
//! been made.

mod embedded;
mod error;
mod followers;
mod lazy;
mod redis;

use std::{fmt, future::Future, pin::Pin, time::Duration};

use bytes::Bytes;

pub use embedded::Embedded;
pub use error::StoreError;
pub use lazy::{Lazy, Place};
pub use redis::{Redis, RedisOptions};

/// Largest value or event.
pub const MAX_VALUE: usize = 16 << 20;
/// Longest key, log or counter name.
pub const MAX_NAME: usize = 512;

pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A store of values, event logs and counters. Dropping a future before it resolves does not say
/// whether its change was made.
pub trait Store: fmt::Debug + Send + Sync {
    fn get<'a>(&'a self, key: &'a str) -> Pending<'a, Option<Value>>;

    /// Writes a value if the condition holds. It expires after `lifetime`; `None` keeps it.
    fn put<'a>(
        &'a self,
        key: &'a str,
        bytes: Bytes,
        condition: Condition,
        lifetime: Option<Duration>,
    ) -> Pending<'a, Outcome>;

    /// Removes a value if the condition holds. A value that does not exist is a conflict, unless
    /// the condition is [`Condition::Always`].
    fn remove<'a>(&'a self, key: &'a str, condition: Condition) -> Pending<'a, Outcome>;

    /// Returns up to `limit` values whose keys start with `prefix` and are greater than `after`, in
    /// order of their keys. An empty `after` starts at the first one.
    fn list<'a>(&'a self, prefix: &'a str, after: &'a str, limit: usize)
    -> Pending<'a, Vec<(String, Value)>>;

    /// Appends an event and returns its number. The first event of a log has number 1.
    fn append<'a>(&'a self, log: &'a str, event: Bytes, retention: Retention) -> Pending<'a, u64>;

    /// Returns up to `limit` events with numbers greater than `after`.
    fn events<'a>(&'a self, log: &'a str, after: u64, limit: usize) -> Pending<'a, Vec<Event>>;

    /// Resolves when the log has an event with a number greater than `after`. Never resolves if
    /// none is appended: the caller sets a timeout.
    fn appended<'a>(&'a self, log: &'a str, after: u64) -> Pending<'a, ()>;

    /// True if other processes may use the store at the same time.
    fn is_shared(&self) -> bool;

    /// Adds to a counter and returns its new value. A counter expires `lifetime` after its first
    /// addition.
    fn add<'a>(&'a self, counter: &'a str, by: i64, lifetime: Duration) -> Pending<'a, i64>;
}

/// A value, and the version that identifies this write of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    pub bytes: Bytes,
    pub version: Version,
}

/// Identifies one write of a value; random, so that a repeated write can be recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(u64);

/// The condition on the stored value for a change to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    Always,
    /// There is no value.
    Absent,
    /// The stored value still has this version.
    Unchanged(Version),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The change was made; a written value has this version.
    Done(Version),
    /// The condition does not hold; nothing was changed.
    Conflict,
}

/// Lifetime of a log after its last event, and the number of events that it keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub lifetime: Duration,
    pub events: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub number: u64,
    pub bytes: Bytes,
}

impl Version {
    fn random() -> Self {
        Self(uuid::Uuid::new_v4().as_u64_pair().1)
    }
}

/// Returns an error if a name or a value is longer than a store takes.
fn check(name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(StoreError::Name { given: name.len() });
    }
    if bytes.len() > MAX_VALUE {
        return Err(StoreError::TooLarge { given: bytes.len() });
    }
    Ok(())
}
