//! An issuer for tests: one P-256 key, and tokens signed with it.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) const ISSUER: &str = "https://id.example";
pub(crate) const AUDIENCE: &str = "https://tools.example/mcp";

pub(crate) struct Signer {
    kid: String,
    pair: EcdsaKeyPair,
}

impl Signer {
    pub(crate) fn new(kid: &str) -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("ring makes keys");
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).expect("ring makes keys");
        Self { kid: kid.to_owned(), pair }
    }

    pub(crate) fn public_key(&self) -> Vec<u8> {
        self.pair.public_key().as_ref().to_vec()
    }

    pub(crate) fn jwks(&self) -> String {
        let point = self.public_key();
        let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
        let key = json!({"kty": "EC", "crv": "P-256", "kid": self.kid, "use": "sig", "x": x, "y": y});
        json!({"keys": [{"kty": "from the future"}, key]}).to_string()
    }

    pub(crate) fn header(&self) -> Value {
        json!({"alg": "ES256", "kid": self.kid, "typ": "JWT"})
    }

    pub(crate) fn sign(&self, header: &Value, claims: &Value) -> String {
        let message = message(header, claims);
        let signature = self.pair.sign(&SystemRandom::new(), message.as_bytes()).expect("ring signs");
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

pub(crate) fn claims() -> Value {
    json!({"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "exp": now() + 300})
}

pub(crate) fn hmac(secret: &[u8], header: &Value, claims: &Value) -> String {
    let message = message(header, claims);
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag))
}

pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    i64::try_from(since.as_secs()).expect("seconds fit")
}

fn message(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}
