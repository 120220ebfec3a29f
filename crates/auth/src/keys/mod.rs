//! API keys: long random tokens, of which only the SHA-256 is kept.
//!
//! A fast hash is enough because the tokens are long and random. Tokens given in plain text are
//! checked for that ([`WeakToken`]). Do not use passwords as tokens.

mod date;
mod file;
mod token;

use crate::{AuthError, Identity, error::Reason};
use parking_lot::RwLock;
use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

pub use file::BadKeys;
pub use token::{GeneratedKey, MIN_TOKEN_BYTES, WeakToken, generate};

/// Most keys in one file: every token is compared with every key.
pub const MAX_KEYS: usize = 4096;

/// Maximum size of a key file.
pub const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Longer tokens are refused unread.
const MAX_TOKEN_BYTES: usize = 1024;

/// The current keys. Replacing them revokes all others immediately.
#[derive(Debug, Default)]
pub struct ApiKeys {
    keys: RwLock<Vec<Key>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Key {
    id: String,
    identity: Arc<Identity>,
    hash: token::Hash,
    /// Seconds since 1970.
    expires: Option<u64>,
}

impl ApiKeys {
    /// Reads a key file: `{"keys": [{"id", "sha256", "roles", "scopes", "expires"}]}`. `sha256` is
    /// the token's hash in hex, as returned by [`generate`]; `expires` is a date or a UTC time.
    pub fn from_json(text: &str) -> Result<Self, BadKeys> {
        Ok(Self { keys: RwLock::new(file::read(text)?) })
    }

    /// One token given in plain text, for example on a command line or by a secret store.
    pub fn from_token(identity: Identity, token: &str) -> Result<Self, WeakToken> {
        token::check_strength(token)?;
        let id = identity.principal.to_string();
        let key = Key { id, identity: identity.into(), hash: token::hash(token), expires: None };
        Ok(Self { keys: RwLock::new(vec![key]) })
    }

    /// Replaces the keys by those of a changed file; an invalid file changes nothing. A file
    /// without keys revokes all.
    pub fn reload(&self, text: &str) -> Result<(), BadKeys> {
        let keys = match file::read(text) {
            Err(BadKeys::Empty) => Vec::new(),
            read => read?,
        };
        *self.keys.write() = keys;
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.keys.read().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if there are keys and all of them have expired.
    pub fn all_expired(&self) -> bool {
        let (keys, now) = (self.keys.read(), now());
        !keys.is_empty() && keys.iter().all(|key| key.has_expired(now))
    }

    /// The caller of the key with this id; `None` if there is no such key.
    pub fn find(&self, id: &str) -> Option<Result<Arc<Identity>, AuthError>> {
        let keys = self.keys.read();
        let key = keys.iter().find(|key| key.id == id)?;
        Some(if key.has_expired(now()) { Err(AuthError::Expired) } else { Ok(key.identity.clone()) })
    }

    /// Finds the caller of a token, in time that does not depend on the token.
    pub fn check(&self, token: &str) -> Result<Arc<Identity>, AuthError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(AuthError::Invalid(Reason::UnknownKey));
        }
        let given = token::hash(token);
        let keys = self.keys.read();
        let mut found = Choice::from(0);
        let mut at = 0_u32;
        for (i, key) in (0_u32..).zip(keys.iter()) {
            let same = same(&key.hash, &given);
            at.conditional_assign(&i, same);
            found |= same;
        }
        if !bool::from(found) {
            return Err(AuthError::Invalid(Reason::UnknownKey));
        }
        let key = &keys[at as usize];
        // Most keys never expire; then the clock is not read.
        if key.expires.is_some() && key.has_expired(now()) {
            return Err(AuthError::Expired);
        }
        Ok(key.identity.clone())
    }
}

impl Key {
    fn has_expired(&self, now: u64) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }
}

/// Compares word by word, in constant time; faster than byte by byte with many keys.
fn same(one: &token::Hash, other: &token::Hash) -> Choice {
    let (one, other) = (one.as_chunks::<8>().0, other.as_chunks::<8>().0);
    one.iter().zip(other).fold(Choice::from(1), |same, (one, other)| {
        same & u64::from_ne_bytes(*one).ct_eq(&u64::from_ne_bytes(*other))
    })
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
