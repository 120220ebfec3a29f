//! Opaque tokens, which their issuer is asked about (RFC 7662).

use crate::{
    AuthError, Identity, TokenOptions,
    error::Reason,
    jwt::{BadTokenOptions, FetchError, claims::Claims},
};
use parking_lot::Mutex;
use ring::digest;
use serde_json::{Map, Value};
use std::{
    collections::HashMap,
    fmt,
    pin::Pin,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::time::{Instant, timeout};

/// Longer tokens are refused unread.
const MAX_TOKEN_BYTES: usize = 16 * 1024;
/// Largest answer of an issuer.
pub const MAX_INTROSPECTION_BYTES: usize = 64 * 1024;
/// Number of tokens whose answers are kept; when there are more, all are dropped.
const MAX_KNOWN: usize = 4096;
/// Longest time one question may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Asks the issuer about a token, and returns the body of its answer. The function must not read
/// more than [`MAX_INTROSPECTION_BYTES`].
pub type Introspect = Box<dyn Fn(&str) -> IntrospectFuture + Send + Sync>;

type IntrospectFuture = Pin<Box<dyn Future<Output = Result<Vec<u8>, FetchError>> + Send>>;

/// Verifies the opaque tokens of one issuer.
pub struct Introspector {
    options: TokenOptions,
    ask: Introspect,
    /// Time for which an answer is used again, unless the token expires before.
    keep: Duration,
    /// By the hash of the token: the tokens themselves are not kept.
    known: Mutex<HashMap<Vec<u8>, Known>>,
}

struct Known {
    identity: Identity,
    until: Instant,
}

impl Introspector {
    /// `keep` is also the longest time that a revoked token is still accepted.
    pub fn new(options: TokenOptions, ask: Introspect, keep: Duration) -> Result<Self, BadTokenOptions> {
        options.check()?;
        Ok(Self { options, ask, keep, known: Mutex::default() })
    }

    /// Returns the bearer of a token that its issuer calls active and issued for this server.
    pub async fn verify(&self, token: &str) -> Result<Identity, AuthError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(AuthError::Invalid(Reason::Unreadable));
        }
        let hash = digest::digest(&digest::SHA256, token.as_bytes()).as_ref().to_vec();
        if let Some(known) = self.known.lock().get(&hash).filter(|known| known.until > Instant::now()) {
            return Ok(known.identity.clone());
        }
        let body = match timeout(TIMEOUT, (self.ask)(token)).await {
            Ok(Ok(body)) => body,
            Ok(Err(error)) => {
                tracing::warn!(%error, issuer = self.options.issuer, "a token could not be introspected");
                return Err(AuthError::Unavailable);
            }
            Err(_) => {
                tracing::warn!(issuer = self.options.issuer, "introspection of a token took too long");
                return Err(AuthError::Unavailable);
            }
        };
        let (identity, lifetime) = self.judge(&body, now())?;
        let known = Known { identity: identity.clone(), until: Instant::now() + lifetime.min(self.keep) };
        let mut all = self.known.lock();
        if all.len() >= MAX_KNOWN {
            all.clear();
        }
        all.insert(hash, known);
        Ok(identity)
    }

    /// The bearer and the remaining lifetime, according to the issuer's answer.
    fn judge(&self, body: &[u8], now: u64) -> Result<(Identity, Duration), AuthError> {
        let refused = |reason| Err(AuthError::Invalid(reason));
        let mut answer: Map<String, Value> = serde_json::from_slice(body).map_err(|error| {
            tracing::warn!(%error, issuer = self.options.issuer, "the answer to an introspection is malformed");
            AuthError::Unavailable
        })?;
        if answer.get("active") != Some(&Value::Bool(true)) {
            return refused(Reason::Inactive);
        }
        let leeway = self.options.leeway.as_secs();
        let time = |name: &str| match answer.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or(AuthError::Invalid(Reason::Claims)),
        };
        let lifetime = match time("exp")? {
            Some(end) if end + leeway <= now => return Err(AuthError::Expired),
            Some(end) => Duration::from_secs(end.saturating_sub(now)),
            None => self.keep,
        };
        if time("nbf")?.is_some_and(|begin| begin > now + leeway) {
            return refused(Reason::NotYet);
        }
        if !self.is_for_us(answer.get("aud")) {
            return refused(Reason::Audience);
        }
        // The answer comes from this issuer, even if it does not name itself.
        let issuer = Value::from(self.options.issuer.clone());
        answer.entry("iss").or_insert(issuer);
        let claims: Claims =
            serde_json::from_value(Value::Object(answer)).map_err(|_| AuthError::Invalid(Reason::Claims))?;
        Ok((claims.identity(&self.options)?, lifetime))
    }

    /// A token without an audience could be one for another server of the same issuer.
    fn is_for_us(&self, audience: Option<&Value>) -> bool {
        let ours = |value: &Value| {
            value.as_str().is_some_and(|name| self.options.audience.iter().any(|own| own == name))
        };
        match audience {
            Some(Value::Array(several)) => several.iter().any(ours),
            Some(one) => ours(one),
            None => false,
        }
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl fmt::Debug for Introspector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Introspector").field("options", &self.options).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    const AUDIENCE: &str = "https://tools.example/mcp";

    fn options() -> TokenOptions {
        TokenOptions::new("https://id.example", AUDIENCE)
    }

    /// An issuer that gives this answer, and counts how often it was asked.
    fn issuer(answer: &Value) -> (Introspector, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let (body, count) = (answer.to_string().into_bytes(), asked.clone());
        let ask: Introspect = Box::new(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            let body = body.clone();
            Box::pin(async move { Ok(body) })
        });
        (Introspector::new(options(), ask, Duration::from_mins(1)).unwrap(), asked)
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_used_again_until_it_is_too_old() {
        let answer = json!({"active": true, "sub": "ada", "aud": AUDIENCE, "scope": "read write"});
        let (introspector, asked) = issuer(&answer);
        for _ in 0..3 {
            let identity = introspector.verify("opaque").await.unwrap();
            assert_eq!(identity.principal.to_string(), "jwt:https://id.example#ada");
            assert_eq!(identity.scopes, ["read", "write"]);
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        introspector.verify("another").await.unwrap();
        tokio::time::advance(Duration::from_secs(61)).await;
        introspector.verify("opaque").await.unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn a03_tokens_that_are_not_active_not_ours_or_malformed_are_refused() {
        let invalid = |reason| AuthError::Invalid(reason);
        for (answer, error) in [
            (json!({"active": false}), invalid(Reason::Inactive)),
            (json!({"active": "true", "sub": "ada", "aud": AUDIENCE}), invalid(Reason::Inactive)),
            (json!({"active": true, "sub": "ada"}), invalid(Reason::Audience)),
            (
                json!({"active": true, "sub": "ada", "aud": ["https://other.example"]}),
                invalid(Reason::Audience),
            ),
            (json!({"active": true, "aud": AUDIENCE}), invalid(Reason::Claims)),
            (json!({"active": true, "sub": "ada", "aud": AUDIENCE, "exp": 1}), AuthError::Expired),
            (json!({"active": true, "sub": "ada", "aud": AUDIENCE, "exp": "soon"}), invalid(Reason::Claims)),
            (
                json!({"active": true, "sub": "ada", "aud": AUDIENCE, "nbf": u32::MAX}),
                invalid(Reason::NotYet),
            ),
            (
                json!({"active": true, "sub": "ada", "aud": AUDIENCE, "iss": "https://x"}),
                invalid(Reason::Issuer),
            ),
            (json!([]), AuthError::Unavailable),
        ] {
            let (introspector, _) = issuer(&answer);
            assert_eq!(introspector.verify("opaque").await, Err(error), "{answer}");
        }
    }
}
