//! The accepted bearer tokens: signed ones of several issuers, and opaque ones of one issuer.

use crate::{AuthError, Identity, Introspector, JwtVerifier, error::Reason, jwt};

/// The verifiers of bearer tokens.
///
/// An opaque token does not say who issued it, and asking a foreign issuer would reveal the token
/// to it. So there is at most one issuer of opaque tokens.
#[derive(Debug, Default)]
pub struct Tokens {
    pub signed: Vec<JwtVerifier>,
    pub opaque: Option<Introspector>,
}

impl Tokens {
    /// Verifies a token and returns its bearer. Must be called within a tokio runtime.
    pub async fn verify(&self, token: &str) -> Result<Identity, AuthError> {
        if jwt::looks_signed(token) && !self.signed.is_empty() {
            return self.verifier(token)?.verify(token).await;
        }
        match &self.opaque {
            Some(introspector) => introspector.verify(token).await,
            None => Err(AuthError::Invalid(Reason::Unreadable)),
        }
    }

    /// The verifier of the issuer that the token claims; its signature is checked by that.
    fn verifier(&self, token: &str) -> Result<&JwtVerifier, AuthError> {
        if let [only] = self.signed.as_slice() {
            return Ok(only);
        }
        let claimed = jwt::claimed_issuer(token).ok_or(AuthError::Invalid(Reason::Unreadable))?;
        let known = self.signed.iter().find(|verifier| verifier.issuer() == claimed);
        known.ok_or(AuthError::Invalid(Reason::Issuer))
    }
}

impl From<JwtVerifier> for Tokens {
    fn from(verifier: JwtVerifier) -> Self {
        Self { signed: vec![verifier], opaque: None }
    }
}
