//! The entry point: an authenticator, the policy for requests without credentials, and a limit on
//! wrong guesses.

use crate::{
    AttemptLimit, AuthError, Authenticator, Identity,
    attempts::Attempts,
    authenticator::{Judged, USUAL},
};
use std::{net::IpAddr, sync::Arc};

/// The policy for requests without credentials. Wrong credentials are always refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unidentified {
    #[default]
    Refuse,
    Anonymous,
}

/// Authenticates requests.
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
    ) -> Result<Arc<Identity>, AuthError> {
        if let Some(verdict) = self.admit_at_once(authorization, source) {
            return verdict;
        }
        let verdict = self.authenticator.authenticate(authorization).await;
        self.noted(verdict, authorization, source)
    }

    /// Judges one request without waiting; `None` if a token must be verified asynchronously.
    pub fn admit_at_once<H: AsRef<[u8]>>(
        &self,
        authorization: &[H],
        source: IpAddr,
    ) -> Option<Result<Arc<Identity>, AuthError>> {
        if authorization.is_empty() && self.unidentified == Unidentified::Anonymous {
            return Some(Ok(Arc::new(Identity::anonymous())));
        }
        match self.authenticator.judge(authorization) {
            Judged::Now(verdict) => Some(self.noted(verdict, authorization, source)),
            Judged::Verify(..) => None,
        }
    }

    /// Counts a wrong guess and passes the verdict on, or refuses to give one.
    fn noted<H: AsRef<[u8]>>(
        &self,
        verdict: Result<Arc<Identity>, AuthError>,
        authorization: &[H],
        source: IpAddr,
    ) -> Result<Arc<Identity>, AuthError> {
        if let Err(error) = &verdict
            && error.is_guess()
        {
            let header = authorization.first().map(AsRef::as_ref).unwrap_or_default();
            self.attempts.failed(source, header.strip_prefix(USUAL).unwrap_or(header))?;
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
