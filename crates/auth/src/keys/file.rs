//! The key file. Unknown members are refused: with a misspelt `expires`, a key would never expire.

use super::{Key, MAX_KEYS, date, token};
use crate::{Identity, Principal};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The reason for refusing a key file. None of its keys are used.
#[derive(Debug, thiserror::Error)]
pub enum BadKeys {
    #[error("the key file is not {{\"keys\": [{{\"id\", \"sha256\", …}}]}}")]
    Shape(#[from] serde_json::Error),
    #[error("the key file has no keys")]
    Empty,
    #[error("the key file has {0} keys; at most {MAX_KEYS} are allowed")]
    TooMany(usize),
    #[error("a key has no id")]
    NoId,
    #[error("two keys have the id `{0}`")]
    SameId(String),
    #[error("the keys `{0}` and `{1}` are the same token")]
    SameToken(String, String),
    #[error("`sha256` of key `{0}` is not 64 hexadecimal digits")]
    NotHash(String),
    #[error("key `{0}` is an empty or well-known secret")]
    KnownSecret(String),
    #[error("`expires` of key `{0}` is neither a date (2027-01-31) nor a UTC time (2027-01-31T12:00:00Z)")]
    NotDate(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    keys: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    sha256: String,
    #[serde(default)]
    roles: Vec<String>,
    #[serde(default)]
    scopes: Vec<String>,
    expires: Option<String>,
}

pub(super) fn read(text: &str) -> Result<Vec<Key>, BadKeys> {
    let file: File = serde_json::from_str(text)?;
    match file.keys.len() {
        0 => return Err(BadKeys::Empty),
        n if n > MAX_KEYS => return Err(BadKeys::TooMany(n)),
        _ => {}
    }
    let keys = file.keys.into_iter().map(key).collect::<Result<Vec<_>, _>>()?;
    refuse_twins(&keys)?;
    Ok(keys)
}

fn key(entry: Entry) -> Result<Key, BadKeys> {
    if entry.id.trim().is_empty() {
        return Err(BadKeys::NoId);
    }
    let Some(hash) = token::from_hex(&entry.sha256) else { return Err(BadKeys::NotHash(entry.id)) };
    if token::is_known(&hash) {
        return Err(BadKeys::KnownSecret(entry.id));
    }
    let expires = match entry.expires {
        Some(text) => Some(date::seconds(&text).ok_or_else(|| BadKeys::NotDate(entry.id.clone()))?),
        None => None,
    };
    let principal = Principal::key(entry.id.clone());
    let identity = Identity { principal, roles: entry.roles, scopes: entry.scopes, claims: BTreeMap::new() };
    Ok(Key { id: entry.id, identity: identity.into(), hash, expires })
}

fn refuse_twins(keys: &[Key]) -> Result<(), BadKeys> {
    let mut by_id: Vec<&Key> = keys.iter().collect();
    by_id.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    if let Some(pair) = by_id.windows(2).find(|pair| pair[0].id == pair[1].id) {
        return Err(BadKeys::SameId(pair[0].id.clone()));
    }
    by_id.sort_by_key(|key| key.hash);
    match by_id.windows(2).find(|pair| pair[0].hash == pair[1].hash) {
        Some(pair) => Err(BadKeys::SameToken(pair[0].id.clone(), pair[1].id.clone())),
        None => Ok(()),
    }
}
