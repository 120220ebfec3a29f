//! The tokens of a login.

use crate::{Secret, error::said, scopes::split};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A token is renewed when less than this is left, or a fifth of its lifetime if that is shorter.
const MARGIN: u64 = 60;

/// An access token with its refresh token, scopes and lifetime.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tokens {
    pub access: Secret,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Secret>,
    /// The granted scopes; those that were asked for if the server does not say.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Seconds since 1970 at which it was issued, by our clock.
    pub issued_at: u64,
    /// Lifetime in seconds; `None` if the server gave no usable one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<u64>,
    /// An `expires_in` that is not usable, as written.
    #[serde(skip)]
    pub odd_lifetime: Option<String>,
}

/// The age of a token, by the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    Valid,
    /// Still valid, but soon to be renewed.
    Ending,
    Expired,
}

/// A token response as written (RFC 6749 §5.1).
#[derive(Deserialize)]
pub(crate) struct WrittenTokens {
    pub(crate) access_token: Secret,
    pub(crate) token_type: Option<String>,
    /// Some servers write a string.
    expires_in: Option<Value>,
    refresh_token: Option<Secret>,
    scope: Option<String>,
    /// The type of the token that an exchange issued (RFC 8693).
    pub(crate) issued_token_type: Option<String>,
}

impl WrittenTokens {
    /// The length of the longest token.
    pub(crate) fn longest(&self) -> usize {
        let refresh = self.refresh_token.as_ref().map_or(0, |token| token.expose().len());
        self.access_token.expose().len().max(refresh)
    }

    pub(crate) fn tokens(self, asked: &[String]) -> Tokens {
        let lifetime = self.expires_in.as_ref().and_then(seconds);
        let given = self.expires_in.filter(|_| lifetime.is_none());
        Tokens {
            access: self.access_token,
            refresh: self.refresh_token.filter(|token| !token.expose().is_empty()),
            scopes: self.scope.map_or_else(|| asked.to_vec(), |text| split(&text)),
            issued_at: now(),
            lifetime,
            odd_lifetime: given.map(|value| said(&value.to_string())),
        }
    }
}

impl Tokens {
    /// The end of the token's lifetime, in seconds since 1970.
    pub fn expires_at(&self) -> Option<u64> {
        self.lifetime.map(|lifetime| self.issued_at.saturating_add(lifetime))
    }

    /// Without a lifetime, only a refusal tells that a token is no longer valid.
    pub(crate) fn freshness(&self) -> Freshness {
        let Some(lifetime) = self.lifetime else { return Freshness::Valid };
        let now = now();
        // The clock was set back behind the time of issue: the age is unknown, so ask the server.
        let age = now.saturating_sub(self.issued_at);
        if age >= lifetime {
            Freshness::Expired
        } else if lifetime - age < MARGIN.min(lifetime / 5) {
            Freshness::Ending
        } else {
            Freshness::Valid
        }
    }

    /// Keeps the refresh token and scopes of the tokens that were renewed, where the answer has
    /// none of its own.
    pub(crate) fn renewed_from(mut self, before: &Self, has_scope: bool) -> Self {
        self.refresh = self.refresh.or_else(|| before.refresh.clone());
        if !has_scope {
            self.scopes.clone_from(&before.scopes);
        }
        self
    }
}

/// A positive number of seconds, as a number or as text; nothing else is usable.
fn seconds(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().map(whole)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|seconds| *seconds > 0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn whole(number: f64) -> u64 {
    number as u64
}

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tokens(lifetime: Option<u64>, age: u64) -> Tokens {
        Tokens {
            access: Secret::new("a"),
            refresh: None,
            scopes: Vec::new(),
            issued_at: now() - age,
            lifetime,
            odd_lifetime: None,
        }
    }

    #[test]
    fn o09_odd_lifetimes_are_unknown_lifetimes() {
        for odd in [json!(0), json!(-1), json!("soon"), json!(null), json!([]), json!(-0.5)] {
            let written: WrittenTokens =
                serde_json::from_value(json!({"access_token": "a", "expires_in": odd})).unwrap();
            assert_eq!(written.tokens(&[]).lifetime, None, "{odd}");
        }
        assert_eq!(seconds(&json!("3600")), Some(3600));
        assert_eq!(seconds(&json!(1.5)), Some(1));
        assert_eq!(seconds(&json!(1e300)), Some(u64::MAX));
        assert_eq!(tokens(None, 1_000_000).freshness(), Freshness::Valid);
    }

    #[test]
    fn o09_a_clock_that_jumps_does_not_end_in_a_loop() {
        // A day forward: expired, which leads to one refresh. A day back: still valid.
        assert_eq!(tokens(Some(3600), 86_400).freshness(), Freshness::Expired);
        let mut future = tokens(Some(3600), 0);
        future.issued_at += 86_400;
        assert_eq!(future.freshness(), Freshness::Valid);
        // Right after a refresh no token is due again, however short its life is.
        for lifetime in [1, 2, 5, 30, 3600] {
            assert_eq!(tokens(Some(lifetime), 0).freshness(), Freshness::Valid, "{lifetime}");
        }
        assert_eq!(tokens(Some(3600), 3570).freshness(), Freshness::Ending);
    }

    #[test]
    fn o13_tokens_do_not_show_in_debug_output() {
        let mut shown = tokens(None, 0);
        (shown.access, shown.refresh) = (Secret::new("canary"), Some(Secret::new("canary")));
        assert!(!format!("{shown:?}").contains("canary"));
    }
}
