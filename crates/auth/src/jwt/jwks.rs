//! The issuer's signing keys: static, or fetched and cached.

use super::KeySet;
use crate::{AuthError, error::Reason};
use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, Header,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse},
};
use parking_lot::RwLock;
use serde::Deserialize;
use std::{fmt, pin::Pin, sync::Arc, time::Duration};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};

/// Largest key set that is read.
pub const MAX_JWKS_BYTES: usize = 512 * 1024;

/// Most keys in one set.
pub const MAX_JWKS_KEYS: usize = 64;

/// Fetches the text of the key set. The function must not read more than [`MAX_JWKS_BYTES`].
pub type Fetch = Box<dyn Fn() -> FetchFuture + Send + Sync>;

type FetchFuture = Pin<Box<dyn Future<Output = Result<Vec<u8>, FetchError>> + Send>>;

/// The reason of a failed fetch, for the log.
pub type FetchError = Box<dyn std::error::Error + Send + Sync>;

/// The refresh policy of fetched keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefreshOptions {
    /// Keys older than this are fetched again at the next use.
    pub max_age: Duration,
    /// Keys older than this are unusable, even if they cannot be fetched again.
    pub max_stale: Duration,
    /// Shortest time between two fetches, whatever tokens ask for.
    pub min_interval: Duration,
    /// Longest time one fetch may take.
    pub timeout: Duration,
}

/// The reason for refusing a key set.
#[derive(Debug, thiserror::Error)]
pub enum BadJwks {
    #[error("the key set is larger than {MAX_JWKS_BYTES} bytes")]
    TooLarge,
    #[error("the key set has more than {MAX_JWKS_KEYS} keys")]
    TooMany,
    #[error("the key set is not a JWKS document")]
    Shape(#[from] serde_json::Error),
    #[error("the key set has no public key that can verify a signature")]
    NoKey,
}

/// One public key.
#[derive(Debug)]
pub(crate) struct SigningKey {
    kid: Option<String>,
    algorithms: Vec<Algorithm>,
    decoding: DecodingKey,
}

/// The source of keys.
#[derive(Debug)]
pub(super) enum Keys {
    Fixed(KeySet),
    Fetched(Arc<Fetched>),
}

pub(super) struct Fetched {
    fetch: Fetch,
    options: RefreshOptions,
    held: RwLock<Option<Held>>,
    /// Start of the last fetch. The lock is held during a fetch, so there is only one at a time.
    last: Mutex<Option<Instant>>,
}

#[derive(Clone)]
struct Held {
    keys: KeySet,
    since: Instant,
}

impl Default for RefreshOptions {
    fn default() -> Self {
        Self {
            max_age: Duration::from_mins(10),
            max_stale: Duration::from_hours(1),
            min_interval: Duration::from_secs(30),
            timeout: Duration::from_secs(10),
        }
    }
}

impl Keys {
    pub(super) fn fixed(jwks: &[u8]) -> Result<Self, BadJwks> {
        Ok(Self::Fixed(Arc::new(read(jwks)?)))
    }

    pub(super) fn fetched(fetch: Fetch, options: RefreshOptions) -> Self {
        let fetched = Fetched { fetch, options, held: RwLock::default(), last: Mutex::default() };
        Self::Fetched(Arc::new(fetched))
    }

    /// A key set with a key that matches `header`; fetches again if necessary.
    pub(super) async fn fitting(&self, header: &Header) -> Result<KeySet, AuthError> {
        let fetched = match self {
            Self::Fixed(keys) => return Ok(Arc::clone(keys)),
            Self::Fetched(fetched) => fetched,
        };
        if let Some(held) = fetched.held()
            && held.since.elapsed() < fetched.options.max_age
            && held.keys.iter().any(|key| key.fits(header))
        {
            return Ok(held.keys);
        }
        // The fetch is its own task, so that a disconnecting caller does not cancel it.
        let refresh = tokio::spawn(Arc::clone(fetched).refresh(header.clone()));
        if refresh.await.is_err() {
            tracing::error!("fetching the signing keys panicked");
        }
        let held = fetched.held().filter(|held| held.since.elapsed() < fetched.options.max_stale);
        let keys = held.ok_or(AuthError::Unavailable)?.keys;
        if keys.iter().any(|key| key.fits(header)) {
            Ok(keys)
        } else {
            Err(AuthError::Invalid(Reason::NoSigningKey))
        }
    }
}

impl Fetched {
    fn held(&self) -> Option<Held> {
        self.held.read().clone()
    }

    async fn refresh(self: Arc<Self>, header: Header) {
        let mut last = self.last.lock().await;
        let fresh = self.held().filter(|held| held.since.elapsed() < self.options.max_age);
        if fresh.is_some_and(|held| held.keys.iter().any(|key| key.fits(&header))) {
            return;
        }
        if last.is_some_and(|last| last.elapsed() < self.options.min_interval) {
            return;
        }
        *last = Some(Instant::now());
        let fetched = match timeout(self.options.timeout, (self.fetch)()).await {
            Ok(fetched) => fetched,
            Err(elapsed) => Err(elapsed.into()),
        };
        match fetched.and_then(|text| Ok(read(&text)?)) {
            Ok(keys) => {
                let held = Held { keys: Arc::new(keys), since: Instant::now() };
                *self.held.write() = Some(held);
            }
            Err(error) => tracing::warn!(%error, "the signing keys could not be fetched"),
        }
    }
}

impl SigningKey {
    pub(super) fn fits(&self, header: &Header) -> bool {
        self.algorithms.contains(&header.alg) && (header.kid.is_none() || header.kid == self.kid)
    }

    pub(super) fn decoding(&self) -> &DecodingKey {
        &self.decoding
    }

    /// `None` for a key that is not the public key of an asymmetric signature algorithm.
    fn from_jwk(jwk: &Jwk) -> Option<Self> {
        let for_signing = matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature));
        let operations = jwk.common.key_operations.as_ref();
        if !for_signing || operations.is_some_and(|all| !all.contains(&KeyOperations::Verify)) {
            return None;
        }
        let mut algorithms: Vec<Algorithm> = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => AlgorithmFamily::Rsa.algorithms().to_vec(),
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
                vec![Algorithm::ES256]
            }
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P384 => {
                vec![Algorithm::ES384]
            }
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
                vec![Algorithm::EdDSA]
            }
            _ => return None,
        };
        if let Some(declared) = jwk.common.key_algorithm {
            algorithms.retain(|algorithm| format!("{algorithm:?}") == format!("{declared:?}"));
        }
        let decoding = DecodingKey::from_jwk(jwk).ok()?;
        Some(Self { kid: jwk.common.key_id.clone(), algorithms, decoding })
    }
}

fn read(text: &[u8]) -> Result<Vec<SigningKey>, BadJwks> {
    #[derive(Deserialize)]
    struct Document {
        keys: Vec<serde_json::Value>,
    }

    if text.len() > MAX_JWKS_BYTES {
        return Err(BadJwks::TooLarge);
    }
    let document: Document = serde_json::from_slice(text)?;
    if document.keys.len() > MAX_JWKS_KEYS {
        return Err(BadJwks::TooMany);
    }
    // Keys of unknown kinds are skipped; the others stay usable.
    let known = document.keys.into_iter().filter_map(|key| serde_json::from_value::<Jwk>(key).ok());
    let keys: Vec<_> = known.filter_map(|jwk| SigningKey::from_jwk(&jwk)).collect();
    if keys.is_empty() { Err(BadJwks::NoKey) } else { Ok(keys) }
}

impl fmt::Debug for Fetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetched").field("options", &self.options).finish_non_exhaustive()
    }
}
