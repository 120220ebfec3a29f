//! Random values: `state`, PKCE verifiers, assertion ids.

use crate::OAuthError;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom, SystemRandom},
};

/// A random text of 256 bits, safe in URLs.
pub fn token() -> Result<String, OAuthError> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| OAuthError::Random)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// The S256 challenge of a PKCE verifier (RFC 7636 §4.2).
pub(crate) fn challenge(verifier: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_rfc() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        assert_ne!(token().unwrap(), token().unwrap());
        assert!(token().unwrap().len() >= 43, "RFC 7636 wants at least 43 characters");
    }
}
