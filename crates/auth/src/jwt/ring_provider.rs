//! `jsonwebtoken` on ring, which TLS uses already. It verifies only: nothing here signs.

use jsonwebtoken::{
    Algorithm, DecodingKey, DecodingKeyKind,
    crypto::{CryptoProvider, JwtVerifier, KeyUtils},
    errors::{ErrorKind, Result, new_error},
    signature,
};
use ring::signature::{self as verify, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey};
use std::sync::Once;

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(new_error(ErrorKind::UnsupportedAlgorithm)),
    verifier_factory: |algorithm, key| verifier(*algorithm, key),
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes ring the backend of this process, unless it already has one.
pub(super) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if PROVIDER.install_default().is_err() {
            tracing::debug!("signed tokens are verified by a backend that was installed before");
        }
    });
}

fn verifier(algorithm: Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    if key.family() != algorithm.family() {
        return Err(new_error(ErrorKind::InvalidAlgorithm));
    }
    Ok(Box::new(Ring { algorithm, key: key.clone() }))
}

struct Ring {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl JwtVerifier for Ring {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl signature::Verifier<Vec<u8>> for Ring {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), signature::Error> {
        let verdict = match (self.key.kind(), self.algorithm) {
            (DecodingKeyKind::RsaModulusExponent { n, e }, algorithm) => {
                let parameters = rsa(algorithm).ok_or_else(signature::Error::new)?;
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (DecodingKeyKind::SecretOrDer(point), Algorithm::ES256) => {
                UnparsedPublicKey::new(&verify::ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (DecodingKeyKind::SecretOrDer(point), Algorithm::ES384) => {
                UnparsedPublicKey::new(&verify::ECDSA_P384_SHA384_FIXED, point).verify(message, signature)
            }
            (DecodingKeyKind::SecretOrDer(point), Algorithm::EdDSA) => {
                UnparsedPublicKey::new(&verify::ED25519, point).verify(message, signature)
            }
            (DecodingKeyKind::SecretOrDer(_), _) => return Err(signature::Error::new()),
        };
        verdict.map_err(|_| signature::Error::new())
    }
}

fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        Algorithm::RS256 => &verify::RSA_PKCS1_2048_8192_SHA256,
        Algorithm::RS384 => &verify::RSA_PKCS1_2048_8192_SHA384,
        Algorithm::RS512 => &verify::RSA_PKCS1_2048_8192_SHA512,
        Algorithm::PS256 => &verify::RSA_PSS_2048_8192_SHA256,
        Algorithm::PS384 => &verify::RSA_PSS_2048_8192_SHA384,
        Algorithm::PS512 => &verify::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}
