//! The front: an authenticator, what happens to those who show nothing, and a bound on wrong guesses.

use crate::{AttemptLimit, AuthError, Authenticator, Identity, attempts::Attempts};
use std::net::IpAddr;

/// What becomes of a request without credentials. Wrong credentials are refused either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unidentified {
    #[default]
    Refuse,
    Anonymous,
}

/// Lets requests in.
#[derive(Debug)]
pub struct Gate {
    authenticator: Authenticator,
    unidentified: Unidentified,
    attempts: Attempts,
}

impl Gate {
    pub fn new(authenticator: Authenticator, unidentified: Unidentified, limit: AttemptLimit) -> Self {
        Self { authenticator, unidentified, attempts: Attempts::new(limit) }
    }

    /// Judges one request by all of its `Authorization` headers.
    pub async fn admit<H: AsRef<[u8]>>(
        &self,
        authorization: &[H],
        source: IpAddr,
    ) -> Result<Identity, AuthError> {
        if authorization.is_empty() && self.unidentified == Unidentified::Anonymous {
            return Ok(Identity::anonymous());
        }
        if !authorization.is_empty() && !self.authenticator.is_open() {
            self.attempts.check(source)?;
        }
        let verdict = self.authenticator.authenticate(authorization).await;
        if let Err(error) = &verdict
            && error.is_guess()
        {
            self.attempts.failed(source);
            if let AuthError::Invalid(reason) = error {
                tracing::info!(%source, %reason, "credentials refused");
            }
        }
        verdict
    }

    pub fn authenticator(&self) -> &Authenticator {
        &self.authenticator
    }
}
