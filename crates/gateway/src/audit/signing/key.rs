//! The keys that sign and verify heads.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::{
    rand::SystemRandom,
    signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey},
};
use std::fmt;

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

/// The beginning of a public key as text.
const SCHEME: &str = "ed25519:";

const PUBLIC_BYTES: usize = 32;

/// The text is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    #[error("it is not an Ed25519 private key in PKCS#8 PEM form")]
    Private,
    #[error("expected a public key such as `ed25519:` and 44 characters of Base64")]
    Public,
    #[error("the system has no random numbers")]
    Random,
}

/// The private key of a trail's operator.
pub struct SigningKey(Ed25519KeyPair);

/// The key that verifies what a [`SigningKey`] signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; PUBLIC_BYTES]);

impl SigningKey {
    /// Makes a key and returns it as PKCS#8 in PEM form, for [`SigningKey::read`].
    pub fn generate() -> Result<String, BadKey> {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| BadKey::Random)?;
        let body = STANDARD.encode(key);
        let lines: Vec<&str> =
            body.as_bytes().chunks(64).filter_map(|line| str::from_utf8(line).ok()).collect();
        Ok(format!("{BEGIN}\n{}\n{END}\n", lines.join("\n")))
    }

    /// Reads a key in PEM form, of ours or of `openssl genpkey -algorithm ed25519`.
    pub fn read(pem: &str) -> Result<Self, BadKey> {
        let body = pem.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END));
        let (body, _) = body.ok_or(BadKey::Private)?;
        let body: String = body.split_whitespace().collect();
        let der = STANDARD.decode(body).map_err(|_| BadKey::Private)?;
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).map(Self).map_err(|_| BadKey::Private)
    }

    pub fn public(&self) -> PublicKey {
        let mut bytes = [0; PUBLIC_BYTES];
        bytes.copy_from_slice(self.0.public_key().as_ref());
        PublicKey(bytes)
    }

    /// The signature as Base64.
    pub(super) fn sign(&self, text: &str) -> String {
        STANDARD.encode(self.0.sign(text.as_bytes()))
    }
}

impl PublicKey {
    pub fn read(text: &str) -> Result<Self, BadKey> {
        let text = text.trim();
        let bytes = STANDARD.decode(text.strip_prefix(SCHEME).unwrap_or(text)).map_err(|_| BadKey::Public)?;
        bytes.try_into().map(Self).map_err(|_| BadKey::Public)
    }

    /// True if `signature`, as Base64, was made with the private key.
    pub(super) fn has_signed(&self, text: &str, signature: &str) -> bool {
        let Ok(signature) = STANDARD.decode(signature) else { return false };
        UnparsedPublicKey::new(&ED25519, self.0).verify(text.as_bytes(), &signature).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", STANDARD.encode(self.0))
    }
}

/// Shows the public half only.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public())
    }
}
