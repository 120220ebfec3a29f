//! Reasons for refusing a request. The messages may be sent to the caller; details that would help
//! an attacker go to the log only.

use std::time::Duration;

/// When to try again after the keys of an issuer could not be fetched.
const UNAVAILABLE: Duration = Duration::from_secs(5);

/// One way to fail authentication. None of them makes the caller anonymous.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    #[error("no credentials were given")]
    Missing,
    #[error("more than one Authorization header was given")]
    Several,
    #[error("the Authorization header is malformed")]
    Malformed,
    #[error("the Authorization header must use the Bearer scheme")]
    Scheme,
    /// The reason is for the log only.
    #[error("the token is not valid")]
    Invalid(Reason),
    #[error("the token has expired")]
    Expired,
    /// The token is valid, but does not carry every scope that this server requires.
    #[error("the token does not carry every scope needed")]
    Scope { missing: Vec<String> },
    #[error("too many failed attempts")]
    TooManyAttempts { retry_after: Duration },
    #[error("tokens cannot be checked at the moment")]
    Unavailable,
}

/// The fault of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    #[error("no such key")]
    UnknownKey,
    #[error("it cannot be parsed as a signed token")]
    Unreadable,
    #[error("its algorithm is not allowed")]
    Algorithm,
    #[error("its header has an unsupported `typ`, `crit`, `enc` or `zip`")]
    Header,
    #[error("no signing key of the issuer matches it")]
    NoSigningKey,
    #[error("its signature is wrong")]
    Signature,
    #[error("its issuer says that it is not active")]
    Inactive,
    #[error("it is not valid yet")]
    NotYet,
    #[error("it comes from another issuer")]
    Issuer,
    #[error("it was issued for another audience")]
    Audience,
    #[error("a claim is missing or malformed")]
    Claims,
}

impl AuthError {
    /// The HTTP status of the refusal.
    pub fn status(&self) -> u16 {
        match self {
            Self::Scope { .. } => 403,
            Self::TooManyAttempts { .. } => 429,
            Self::Unavailable => 503,
            _ => 401,
        }
    }

    /// When to try again, if that may help.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::TooManyAttempts { retry_after } => Some(*retry_after),
            Self::Unavailable => Some(UNAVAILABLE),
            _ => None,
        }
    }

    /// True for a wrong guess, which counts against the caller's address.
    pub(crate) fn is_guess(&self) -> bool {
        matches!(self, Self::Several | Self::Malformed | Self::Scheme | Self::Invalid(_))
    }
}
