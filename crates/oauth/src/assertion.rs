//! JWTs that we sign, to prove a client's identity (RFC 7523).

use crate::{OAuthError, random, token::now};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
        RSA_PKCS1_SHA256, RsaKeyPair,
    },
};
use rustls_pki_types::{PrivateKeyDer, pem::PemObject};
use serde_json::{Value, json};
use std::{fmt, sync::Arc};

/// Lifetime of an assertion in seconds.
const LIFETIME: u64 = 300;

/// A private key that signs assertions; its algorithm follows from the key.
#[derive(Clone)]
pub struct SigningKey {
    pair: Arc<Pair>,
    /// The key's id in the published key set.
    id: Option<String>,
}

enum Pair {
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(Box<RsaKeyPair>),
}

/// The reason why a key cannot sign. It never holds a part of the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("the private key is not PEM (PKCS#8)")]
    NotPem,
    #[error("the private key is not one of P-256, P-384, Ed25519 and RSA with at least 2048 bits")]
    Unsupported,
    #[error("the private key is missing")]
    Missing,
    #[error("the private key cannot sign")]
    Signing,
}

impl SigningKey {
    pub fn from_pem(pem: &[u8], id: Option<String>) -> Result<Self, KeyError> {
        let der = PrivateKeyDer::from_pem_slice(pem).map_err(|_| KeyError::NotPem)?;
        let bytes = der.secret_der();
        let random = SystemRandom::new();
        let ecdsa = |algorithm| EcdsaKeyPair::from_pkcs8(algorithm, bytes, &random);
        let pair = if let Ok(pair) = ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING) {
            Pair::P256(pair)
        } else if let Ok(pair) = ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING) {
            Pair::P384(pair)
        } else if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(bytes) {
            Pair::Ed25519(pair)
        } else if let Ok(pair) = RsaKeyPair::from_pkcs8(bytes).or_else(|_| RsaKeyPair::from_der(bytes)) {
            Pair::Rsa(Box::new(pair))
        } else {
            return Err(KeyError::Unsupported);
        };
        Ok(Self { pair: Arc::new(pair), id })
    }

    /// An assertion that we are this client (RFC 7523 §3).
    pub(crate) fn client_assertion(&self, client: &str, audience: &str) -> Result<String, OAuthError> {
        let now = now();
        self.sign(&json!({
            "iss": client,
            "sub": client,
            "aud": audience,
            "jti": random::token()?,
            "iat": now,
            "exp": now + LIFETIME,
        }))
    }

    pub(crate) fn sign(&self, claims: &Value) -> Result<String, OAuthError> {
        let mut header = json!({"alg": self.algorithm(), "typ": "JWT"});
        if let Some(id) = &self.id {
            header["kid"] = id.clone().into();
        }
        let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", encode(&header), encode(claims));
        let signature = self.signature(message.as_bytes()).map_err(|_| KeyError::Signing)?;
        Ok(format!("{message}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)))
    }

    fn algorithm(&self) -> &'static str {
        match &*self.pair {
            Pair::P256(_) => "ES256",
            Pair::P384(_) => "ES384",
            Pair::Ed25519(_) => "EdDSA",
            Pair::Rsa(_) => "RS256",
        }
    }

    fn signature(&self, message: &[u8]) -> Result<Vec<u8>, ring::error::Unspecified> {
        let random = SystemRandom::new();
        match &*self.pair {
            Pair::P256(pair) | Pair::P384(pair) => Ok(pair.sign(&random, message)?.as_ref().to_vec()),
            Pair::Ed25519(pair) => Ok(pair.sign(message).as_ref().to_vec()),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)?;
                Ok(signature)
            }
        }
    }
}

/// Two keys are the same if they are the same object; the bytes are not kept.
impl PartialEq for SigningKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.pair, &other.pair)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.algorithm())
    }
}
