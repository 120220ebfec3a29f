//! When data expires. Wall-clock time, because it has to be true after a restart.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Expired entries that one transaction removes at most, so that it stays short.
pub(super) const MAX_EXPIRED_AT_ONCE: usize = 256;

/// The time of an entry that does not expire.
pub(super) const NEVER: u64 = u64::MAX;

/// Milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(NEVER)
}

pub(super) fn after(lifetime: Option<Duration>) -> u64 {
    let Some(lifetime) = lifetime else { return NEVER };
    u64::try_from(lifetime.as_millis()).map_or(NEVER, |millis| now().saturating_add(millis))
}
