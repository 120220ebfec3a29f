//! The accepted credentials. They are read from the `Authorization` header only.

use crate::{ApiKeys, AuthError, Identity, Tokens, error::Reason, jwt};
use std::sync::Arc;

/// The credentials that a request must carry.
#[derive(Debug)]
pub enum Authenticator {
    /// None: every caller is [`Identity::anonymous`], and credentials are ignored.
    Open,
    /// None in headers: callers are identified by their client certificates.
    Certificates,
    Keys(Arc<ApiKeys>),
    Tokens(Tokens),
    /// Either. A token with the shape of a JWT is verified as one, another one if it is no key.
    Both(Arc<ApiKeys>, Tokens),
}

/// The result of judging a request.
pub(crate) enum Judged<'a> {
    Now(Result<Arc<Identity>, AuthError>),
    /// The token has to be verified, which may take a while.
    Verify(&'a Tokens, &'a str),
}

impl Authenticator {
    /// Judges all `Authorization` headers of one request.
    pub async fn authenticate<H: AsRef<[u8]>>(
        &self,
        authorization: &[H],
    ) -> Result<Arc<Identity>, AuthError> {
        match self.judge(authorization) {
            Judged::Now(verdict) => verdict,
            Judged::Verify(tokens, token) => tokens.verify(token).await.map(Arc::new),
        }
    }

    /// The verdict on one request, or the verifier that must be asked.
    pub(crate) fn judge<'a, H: AsRef<[u8]>>(&'a self, authorization: &'a [H]) -> Judged<'a> {
        match (self, bearer(authorization)) {
            (Self::Open, _) => Judged::Now(Ok(Arc::new(Identity::anonymous()))),
            (_, Err(error)) => Judged::Now(Err(error)),
            (Self::Certificates, Ok(_)) => Judged::Now(Err(AuthError::Invalid(Reason::UnknownKey))),
            (Self::Tokens(tokens), Ok(token)) => Judged::Verify(tokens, token),
            (Self::Both(_, tokens), Ok(token)) if jwt::looks_signed(token) => Judged::Verify(tokens, token),
            (Self::Keys(keys) | Self::Both(keys, _), Ok(token)) => match (self, keys.check(token)) {
                (Self::Both(_, tokens), Err(AuthError::Invalid(_))) if tokens.opaque.is_some() => {
                    Judged::Verify(tokens, token)
                }
                (_, verdict) => Judged::Now(verdict),
            },
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }
}

/// The bytes of which tokens are made.
const ALPHABET: [bool; 256] = {
    let mut alphabet = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        alphabet[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=');
        byte += 1;
    }
    alphabet
};

/// The usual spelling, which is tried first.
pub(crate) const USUAL: &[u8] = b"Bearer ";

/// The one bearer token of a request (RFC 6750 §2.1).
fn bearer<H: AsRef<[u8]>>(authorization: &[H]) -> Result<&str, AuthError> {
    let header = match authorization {
        [] => return Err(AuthError::Missing),
        [one] => one.as_ref(),
        _ => return Err(AuthError::Several),
    };
    if let Some(token) = header.strip_prefix(USUAL).filter(|token| is_token(token)) {
        return std::str::from_utf8(token).map_err(|_| AuthError::Malformed);
    }
    let header = std::str::from_utf8(header).map_err(|_| AuthError::Malformed)?.trim_matches([' ', '\t']);
    let (scheme, token) = header.split_once(' ').unwrap_or((header, ""));
    if scheme.is_empty() {
        return Err(AuthError::Malformed);
    }
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(AuthError::Scheme);
    }
    let token = token.trim_start_matches(' ');
    if is_token(token.as_bytes()) { Ok(token) } else { Err(AuthError::Malformed) }
}

/// Checks every byte without a branch per byte.
fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().fold(true, |is, byte| is & ALPHABET[usize::from(*byte)])
}
