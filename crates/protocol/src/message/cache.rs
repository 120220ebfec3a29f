//! Caching hints of 2026-07-28: the lifetime of a result, and the clients that may share it.

use crate::{Number, Raw, view::words};

words! {
    /// The clients that may share a cached result. Any scope except `public` is treated as
    /// `private`.
    pub enum CacheScope {
        Public = "public",
        Private = "private",
    }
}

/// The hints of one result, with defaults for absent ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheHints {
    /// 0 (stale at once) if absent, negative or not a number.
    pub ttl_ms: u64,
    /// Private if absent.
    pub scope: CacheScope,
}

impl CacheHints {
    pub fn of(result: &Raw) -> Self {
        let members = result.object().unwrap_or_default();
        let ttl = members.get("ttlMs").and_then(Number::read);
        let scope = members.get("cacheScope").and_then(|raw| raw.decode().ok());
        Self { ttl_ms: ttl.as_ref().map_or(0, whole_millis), scope: scope.unwrap_or(CacheScope::Private) }
    }

    pub fn is_public(&self) -> bool {
        self.scope == CacheScope::Public
    }
}

/// Converts to whole milliseconds. Fractions are truncated and values out of range saturate.
pub(super) fn whole_millis(number: &Number) -> u64 {
    let value = number.as_f64();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates, and a negative time means none"
    )]
    number.as_u64().unwrap_or(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(text: &str) -> (u64, CacheScope) {
        let hints = CacheHints::of(&Raw::parse(text.to_owned()).unwrap());
        (hints.ttl_ms, hints.scope)
    }

    #[test]
    fn what_is_missing_or_senseless_is_not_cached() {
        assert_eq!(hints("{}"), (0, CacheScope::Private));
        assert_eq!(hints(r#"{"ttlMs":-5,"cacheScope":7}"#), (0, CacheScope::Private));
        assert_eq!(hints(r#"{"ttlMs":"9","cacheScope":"public"}"#), (0, CacheScope::Public));
    }

    #[test]
    fn numbers_are_read_in_every_spelling() {
        assert_eq!(hints(r#"{"ttlMs":3e5}"#).0, 300_000);
        assert_eq!(hints(r#"{"ttlMs":1.9}"#).0, 1);
        assert_eq!(hints(r#"{"ttlMs":123456789012345678901234567890}"#).0, u64::MAX);
    }
}
