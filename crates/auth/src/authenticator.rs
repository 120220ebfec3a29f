//! Which credentials are taken, and the one way they may be given.

use crate::{ApiKeys, AuthError, Identity, JwtVerifier, jwt};

/// What a request must show.
#[derive(Debug)]
pub enum Authenticator {
    /// Nothing: everybody is [`Identity::anonymous`], and credentials are not looked at.
    Open,
    Keys(ApiKeys),
    Jwt(JwtVerifier),
    /// Either; what has the shape of a signed token is taken for one.
    Both(ApiKeys, JwtVerifier),
}

impl Authenticator {
    /// Judges all `Authorization` headers of one request.
    pub async fn authenticate<H: AsRef<[u8]>>(&self, authorization: &[H]) -> Result<Identity, AuthError> {
        if matches!(self, Self::Open) {
            return Ok(Identity::anonymous());
        }
        let token = bearer(authorization)?;
        match self {
            Self::Open => Ok(Identity::anonymous()),
            Self::Jwt(verifier) => verifier.verify(token).await,
            Self::Both(_, verifier) if jwt::looks_signed(token) => verifier.verify(token).await,
            Self::Keys(keys) | Self::Both(keys, _) => keys.check(token),
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }
}

/// The one bearer token of a request (RFC 6750 §2.1).
fn bearer<H: AsRef<[u8]>>(authorization: &[H]) -> Result<&str, AuthError> {
    let header = match authorization {
        [] => return Err(AuthError::Missing),
        [one] => one.as_ref(),
        _ => return Err(AuthError::Several),
    };
    let header = std::str::from_utf8(header).map_err(|_| AuthError::Malformed)?.trim_matches([' ', '\t']);
    let (scheme, token) = header.split_once(' ').unwrap_or((header, ""));
    if scheme.is_empty() {
        return Err(AuthError::Malformed);
    }
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(AuthError::Scheme);
    }
    let token = token.trim_start_matches(' ');
    let in_alphabet = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b);
    if token.is_empty() || !token.bytes().all(in_alphabet) {
        return Err(AuthError::Malformed);
    }
    Ok(token)
}
