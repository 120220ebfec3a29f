//! Signed tokens (JWT): signature, audience and expiry.
//!
//! Only keys of our key set verify tokens. `kid` selects one of them; `jku`, `x5u`, `jwk` and
//! `x5c` in a token are never followed. A key is used only with its own kind of algorithm, so a
//! public key can never be used as a shared secret.

pub(crate) mod claims;
mod jwks;
mod ring_provider;

use crate::{AuthError, Identity, error::Reason};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Header, Validation, errors::ErrorKind};
use serde::Deserialize;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

pub use jsonwebtoken::Algorithm;
pub use jwks::{BadJwks, Fetch, FetchError, MAX_JWKS_BYTES, MAX_JWKS_KEYS, RefreshOptions};

/// Longer tokens are refused unread.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// Accepted values of `typ`. A token without `typ` is accepted, too.
const ACCESS_TOKENS: &[&str] = &["jwt", "at+jwt", "application/at+jwt"];

/// Algorithms whose verification needs no secret.
pub const ASYMMETRIC: &[Algorithm] = &[
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// The requirements that a token must meet.
#[derive(Debug, Clone)]
pub struct TokenOptions {
    pub issuer: String,
    /// Names of this server; a token must be for one of them.
    pub audience: Vec<String>,
    pub algorithms: Vec<Algorithm>,
    /// Tolerated clock difference.
    pub leeway: Duration,
    /// The claim that lists roles; dots reach into objects, as in `realm_access.roles`.
    pub roles_claim: String,
    /// Our roles by the values of that claim; other values give none. Empty: the values are our
    /// roles.
    pub roles: BTreeMap<String, String>,
    /// Scopes that every token must carry.
    pub scopes: Vec<String>,
    /// Claims that the identity keeps; dots reach into objects.
    pub claims: Vec<String>,
}

/// The reason why the options are invalid.
#[derive(Debug, thiserror::Error)]
pub enum BadTokenOptions {
    #[error("an issuer is needed")]
    NoIssuer,
    #[error("the issuer contains `#`, which ends it in the name of a caller")]
    Fragment,
    #[error("an audience is needed, so that tokens for other servers are refused")]
    NoAudience,
    #[error("no algorithm is allowed")]
    NoAlgorithm,
    #[error("{0:?} needs a shared secret; only algorithms with a public key are supported")]
    SharedSecret(Algorithm),
    #[error("the signing keys cannot be used")]
    Keys(#[from] BadJwks),
}

/// Verifies the tokens of one issuer.
#[derive(Debug)]
pub struct JwtVerifier {
    options: TokenOptions,
    keys: jwks::Keys,
}

impl TokenOptions {
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            audience: vec![audience.into()],
            algorithms: ASYMMETRIC.to_vec(),
            leeway: Duration::from_secs(30),
            roles_claim: "roles".to_owned(),
            claims: Vec::new(),
            roles: BTreeMap::new(),
            scopes: Vec::new(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), BadTokenOptions> {
        if self.issuer.is_empty() {
            return Err(BadTokenOptions::NoIssuer);
        }
        if self.issuer.contains('#') {
            return Err(BadTokenOptions::Fragment);
        }
        if self.audience.is_empty() || self.audience.iter().any(String::is_empty) {
            return Err(BadTokenOptions::NoAudience);
        }
        if self.algorithms.is_empty() {
            return Err(BadTokenOptions::NoAlgorithm);
        }
        match self.algorithms.iter().find(|algorithm| !ASYMMETRIC.contains(algorithm)) {
            Some(secret) => Err(BadTokenOptions::SharedSecret(*secret)),
            None => Ok(()),
        }
    }
}

/// True if a bearer token has the shape of a signed one.
pub(crate) fn looks_signed(token: &str) -> bool {
    token.split('.').count() == 3 && token.starts_with("ey")
}

/// The issuer that a signed token names, before its signature is checked: it only selects the
/// verifier.
pub(crate) fn claimed_issuer(token: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Claimed {
        iss: String,
    }
    let payload = token.split('.').nth(1).filter(|_| token.len() <= MAX_TOKEN_BYTES)?;
    let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
    serde_json::from_slice::<Claimed>(&payload).ok().map(|claimed| claimed.iss)
}

impl JwtVerifier {
    pub fn issuer(&self) -> &str {
        &self.options.issuer
    }

    /// With the keys of a JWKS document that does not change.
    pub fn with_keys(options: TokenOptions, jwks: &[u8]) -> Result<Self, BadTokenOptions> {
        options.check()?;
        ring_provider::install();
        Ok(Self { options, keys: jwks::Keys::fixed(jwks)? })
    }

    /// With keys from `fetch`, called at the first use, when the keys are too old, and when a
    /// token names an unknown key.
    pub fn with_fetch(
        options: TokenOptions,
        fetch: Fetch,
        refresh: RefreshOptions,
    ) -> Result<Self, BadTokenOptions> {
        options.check()?;
        ring_provider::install();
        Ok(Self { options, keys: jwks::Keys::fetched(fetch, refresh) })
    }

    /// Verifies a token and returns its bearer. Must be called within a tokio runtime.
    pub async fn verify(&self, token: &str) -> Result<Identity, AuthError> {
        let header = self.header(token)?;
        let keys = self.keys.fitting(&header).await?;
        let validation = self.validation(header.alg);
        let mut verdict = Err(AuthError::Invalid(Reason::NoSigningKey));
        for key in keys.iter().filter(|key| key.fits(&header)) {
            match jsonwebtoken::decode::<claims::Claims>(token, key.decoding(), &validation) {
                Ok(token) => return token.claims.identity(&self.options),
                Err(error) => verdict = Err(refusal(error.kind())),
            }
        }
        verdict
    }

    fn header(&self, token: &str) -> Result<Header, AuthError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(AuthError::Invalid(Reason::Unreadable));
        }
        // Unknown algorithms, including `none`, already fail here.
        let header =
            jsonwebtoken::decode_header(token).map_err(|_| AuthError::Invalid(Reason::Unreadable))?;
        if !self.options.algorithms.contains(&header.alg) {
            return Err(AuthError::Invalid(Reason::Algorithm));
        }
        let typ = header.typ.as_deref().map(str::to_ascii_lowercase);
        let other = typ.is_some_and(|typ| !ACCESS_TOKENS.contains(&typ.as_str()));
        if other || header.crit.is_some() || header.enc.is_some() || header.zip.is_some() {
            return Err(AuthError::Invalid(Reason::Header));
        }
        Ok(header)
    }

    fn validation(&self, algorithm: Algorithm) -> Validation {
        let mut validation = Validation::new(algorithm);
        validation.leeway = self.options.leeway.as_secs();
        validation.validate_nbf = true;
        validation.set_audience(&self.options.audience);
        validation.set_issuer(&[&self.options.issuer]);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation
    }
}

fn refusal(kind: &ErrorKind) -> AuthError {
    AuthError::Invalid(match kind {
        ErrorKind::ExpiredSignature => return AuthError::Expired,
        ErrorKind::InvalidSignature => Reason::Signature,
        ErrorKind::ImmatureSignature => Reason::NotYet,
        ErrorKind::InvalidIssuer => Reason::Issuer,
        ErrorKind::InvalidAudience => Reason::Audience,
        ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) | ErrorKind::Json(_) => {
            Reason::Claims
        }
        ErrorKind::InvalidAlgorithm | ErrorKind::UnsupportedAlgorithm => Reason::Algorithm,
        _ => Reason::Unreadable,
    })
}

/// A snapshot of the key set.
pub(crate) type KeySet = Arc<Vec<jwks::SigningKey>>;
