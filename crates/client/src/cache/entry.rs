//! One list, how long it may be believed, and by whom.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{LONGEST_TTL, Stale};

/// What a fetch brings.
#[derive(Debug, Clone)]
pub struct Fetched<T> {
    pub value: T,
    pub freshness: Freshness,
    pub scope: Scope,
}

/// Who says how long a list is fresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// The server's revision has no hint: the cache's own time counts.
    Unhinted,
    /// The server says so. More than 24 h are not believed.
    Hinted(Duration),
}

/// Who may see a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Everybody who may use the server.
    Public,
    /// The one whose credentials fetched it. The cautious reading where nothing is said.
    #[default]
    Private,
}

/// A list as a caller gets it.
#[derive(Debug)]
pub struct Listed<T> {
    pub value: Arc<T>,
    pub scope: Scope,
    pub source: Source,
    pub fetched_at: Instant,
    /// Until when it is fresh. In the past for a stale list, and for one that is stale from the start.
    pub fresh_until: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// It was there, and fresh.
    Cached,
    /// It came from the server just now.
    Fetched,
    /// It is past its time, but the server could not be asked.
    Stale,
}

pub(super) struct Entry<T> {
    value: Arc<T>,
    scope: Scope,
    fetched_at: Instant,
    fresh_until: Instant,
}

impl<T> Fetched<T> {
    /// A list from a server whose revision has no hints.
    pub fn unhinted(value: T) -> Self {
        Self { value, freshness: Freshness::Unhinted, scope: Scope::Private }
    }

    /// A list from a server whose revision has hints.
    pub fn hinted(value: T, ttl_ms: Option<i64>, scope: Scope) -> Self {
        Self { value, freshness: Freshness::from_ttl_ms(ttl_ms), scope }
    }
}

impl Freshness {
    /// Reads the `ttlMs` of a revision that has it; absent or negative means stale at once, as the specification says.
    pub fn from_ttl_ms(ttl_ms: Option<i64>) -> Self {
        let millis = ttl_ms.and_then(|ttl| u64::try_from(ttl).ok()).unwrap_or(0);
        Self::Hinted(Duration::from_millis(millis))
    }
}

impl<T> Entry<T> {
    /// `ttl` is the cache's own time.
    pub(super) fn new(fetched: Fetched<T>, ttl: Duration, now: Instant) -> Self {
        let fresh_for = match fetched.freshness {
            Freshness::Unhinted => ttl,
            Freshness::Hinted(hint) => hint.min(LONGEST_TTL),
        };
        Self {
            value: Arc::new(fetched.value),
            scope: fetched.scope,
            fetched_at: now,
            fresh_until: now + fresh_for,
        }
    }

    pub(super) fn fresh_until(&self) -> Instant {
        self.fresh_until
    }

    /// Whether this list may stand in for one that could not be fetched.
    pub(super) fn usable(&self, stale: Stale, now: Instant) -> bool {
        match stale {
            Stale::Never => false,
            Stale::OnError { for_up_to } => now <= self.fresh_until + for_up_to,
        }
    }

    pub(super) fn listed(&self, source: Source) -> Listed<T> {
        Listed {
            value: Arc::clone(&self.value),
            scope: self.scope,
            source,
            fetched_at: self.fetched_at,
            fresh_until: self.fresh_until,
        }
    }
}

impl<T> Clone for Listed<T> {
    fn clone(&self) -> Self {
        Self { value: Arc::clone(&self.value), ..*self }
    }
}
