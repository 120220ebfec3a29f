//! Tokens: creation, hashing, and detection of weak ones.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    digest,
    rand::{SecureRandom, SystemRandom},
};
use std::fmt;

/// Shortest accepted token.
pub const MIN_TOKEN_BYTES: usize = 32;

/// A random token of the minimum length has more distinct characters than this.
const MIN_DISTINCT: usize = 10;

/// Prefix of our tokens, so that scanners for leaked secrets can recognise them.
const PREFIX: &str = "tl_";

/// Words of examples and defaults, which do not occur in a random token.
const PLACEHOLDERS: &[&str] = &[
    "changeme",
    "change-me",
    "change_me",
    "password",
    "placeholder",
    "example",
    "default",
    "insert",
    "replace",
    "yourtoken",
    "your-",
    "your_",
    "mysecret",
    "my-secret",
    "my_secret",
    "supersecret",
    "super-secret",
    "test-token",
    "abcdefgh",
    "01234567",
    "12345678",
    "qwertyui",
];

/// Common secrets, such as those in [`PLACEHOLDERS`], whose hashes are refused.
const KNOWN: &[&str] = &[
    "",
    " ",
    "\n",
    "admin",
    "changeme",
    "changeme\n",
    "default",
    "dev",
    "letmein",
    "mcp",
    "password",
    "root",
    "secret",
    "secret\n",
    "test",
    "token",
    "trunkline",
];

pub(crate) type Hash = [u8; digest::SHA256_OUTPUT_LEN];

/// A new token and what to store of it.
#[derive(Clone, PartialEq, Eq)]
pub struct GeneratedKey {
    /// Shown once to the caller, and never stored.
    pub token: String,
    /// In hex, for the key file.
    pub sha256: String,
}

/// The reason for refusing a token given in plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WeakToken {
    #[error("the token is empty")]
    Empty,
    #[error("the token has {0} bytes; at least {MIN_TOKEN_BYTES} are needed")]
    Short(usize),
    #[error("the token looks like a default or an example")]
    Placeholder,
    #[error("the token has too few different characters; use a random one")]
    Monotonous,
    #[error("the token has characters that an Authorization header cannot carry")]
    Characters,
}

/// Makes a token with 256 random bits.
pub fn generate() -> GeneratedKey {
    let mut secret = [0_u8; 32];
    SystemRandom::new().fill(&mut secret).expect("the system's random source works once it has been seeded");
    let token = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(secret));
    let sha256 = hex(&hash(&token));
    GeneratedKey { token, sha256 }
}

pub(crate) fn hash(token: &str) -> Hash {
    let digest = digest::digest(&digest::SHA256, token.as_bytes());
    digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// True for the hash of an empty or very common text.
pub(crate) fn is_known(given: &Hash) -> bool {
    *given == [0; 32] || KNOWN.iter().any(|text| hash(text) == *given)
}

pub(crate) fn check_strength(token: &str) -> Result<(), WeakToken> {
    if token.trim().is_empty() {
        return Err(WeakToken::Empty);
    }
    if token.len() < MIN_TOKEN_BYTES {
        return Err(WeakToken::Short(token.len()));
    }
    if !token.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b)) {
        return Err(WeakToken::Characters);
    }
    let lower = token.to_ascii_lowercase();
    if PLACEHOLDERS.iter().any(|word| lower.contains(word)) {
        return Err(WeakToken::Placeholder);
    }
    let mut bytes: Vec<u8> = token.bytes().collect();
    bytes.sort_unstable();
    bytes.dedup();
    if bytes.len() < MIN_DISTINCT {
        return Err(WeakToken::Monotonous);
    }
    Ok(())
}

impl fmt::Debug for GeneratedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GeneratedKey").field("sha256", &self.sha256).finish_non_exhaustive()
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|b| [b >> 4, b & 15]).map(|n| char::from(b"0123456789abcdef"[n as usize])).collect()
}

pub(crate) fn from_hex(text: &str) -> Option<Hash> {
    if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let mut hash = [0; 32];
    for (i, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).ok()?;
    }
    Some(hash)
}
