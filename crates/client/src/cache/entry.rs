//! A cached list with its freshness and scope.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{LONGEST_TTL, Stale};

/// The result of a fetch.
#[derive(Debug, Clone)]
pub struct Fetched<T> {
    pub value: T,
    pub freshness: Freshness,
    pub scope: Scope,
}

/// The source of a list's time to live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// The server's revision has no hints, so the cache's default TTL applies.
    Unhinted,
    /// The server's own TTL, capped at 24 h.
    Hinted(Duration),
}

/// The audience of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Everyone who may use the server.
    Public,
    /// Only the user whose credentials fetched it. The cautious default if the server says
    /// nothing.
    #[default]
    Private,
}

/// A list as returned to a caller.
#[derive(Debug)]
pub struct Listed<T> {
    pub value: Arc<T>,
    pub scope: Scope,
    pub source: Source,
    pub fetched_at: Instant,
    /// End of its freshness. Already past for a stale list, and for one with a TTL of zero.
    pub fresh_until: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// From the cache, still fresh.
    Cached,
    /// Fetched from the server for this lookup.
    Fetched,
    /// Expired, but the fetch of a new one failed.
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
    /// Reads the `ttlMs` of a revision that has it. As the specification says, absent or negative
    /// means immediately stale.
    pub fn from_ttl_ms(ttl_ms: Option<i64>) -> Self {
        let millis = ttl_ms.and_then(|ttl| u64::try_from(ttl).ok()).unwrap_or(0);
        Self::Hinted(Duration::from_millis(millis))
    }
}

impl<T> Entry<T> {
    /// `ttl` is the cache's default, for lists without a hint.
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

    /// True if this list may be returned in place of one that could not be fetched.
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
