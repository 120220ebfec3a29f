//! The file: all servers, and the version of the format.

use crate::pinned::Pinned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The usual name of the file.
pub const FILE_NAME: &str = "trunkline.lock";

/// The version of the file format.
const VERSION: u32 = 1;

/// The member that identifies a lock file.
const MARK: &str = "lockfileVersion";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Lock {
    pub lockfile_version: u32,
    /// Keyed by the name in the configuration, or else by URL or command.
    pub servers: BTreeMap<String, Pinned>,
}

#[derive(Debug, thiserror::Error)]
pub enum BadLock {
    #[error("{0}")]
    Syntax(#[from] serde_json::Error),
    #[error("unsupported version {0}; expected {VERSION}")]
    Version(u32),
    #[error("it is no lock file: it has no `{MARK}`")]
    NoLock,
    #[error("the {what} of server `{server}` does not match its hash: the file was edited by hand")]
    Edited { server: String, what: String },
}

impl Default for Lock {
    fn default() -> Self {
        Self { lockfile_version: VERSION, servers: BTreeMap::new() }
    }
}

impl Lock {
    pub fn read(text: &str) -> Result<Self, BadLock> {
        let value: Value = serde_json::from_str(text)?;
        if !Self::is_one(&value) {
            return Err(BadLock::NoLock);
        }
        // The version comes first: a later one may have other members.
        match value.get(MARK).and_then(Value::as_u64) {
            Some(version) if version != u64::from(VERSION) => {
                return Err(BadLock::Version(u32::try_from(version).unwrap_or(u32::MAX)));
            }
            _ => {}
        }
        let mut lock: Self = serde_json::from_str(text)?;
        for (server, pinned) in &mut lock.servers {
            let computed = pinned.computed();
            // Files written before there were hashes have none.
            if !pinned.hashes.is_empty() && pinned.hashes != computed {
                let differs = |key: &&String| pinned.hashes.get(*key) != computed.get(*key);
                let what = pinned.hashes.keys().chain(computed.keys()).find(differs).cloned();
                return Err(BadLock::Edited { server: server.clone(), what: what.unwrap_or_default() });
            }
            pinned.hashes = computed;
        }
        Ok(lock)
    }

    /// True if a JSON document is a lock file.
    pub fn is_one(value: &Value) -> bool {
        value.get(MARK).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use serde_json::json;

    #[test]
    fn a_file_of_another_version_is_refused() {
        let lock = r#"{"lockfileVersion": 1, "servers": {"a": {"tools": {"t": {"name": "t"}}}}}"#;
        assert_eq!(Lock::read(lock).unwrap().servers["a"].hashes.len(), 1);
        let newer = lock.replace('1', "2");
        assert_eq!(Lock::read(&newer).unwrap_err().to_string(), "unsupported version 2; expected 1");
        assert!(Lock::read(&lock.replace("tools", "tolls")).is_err());
        assert_eq!(
            Lock::read(r#"{"servers": {}}"#).unwrap_err().to_string(),
            "it is no lock file: it has no `lockfileVersion`"
        );
    }

    #[test]
    fn a_definition_that_was_edited_by_hand_is_noticed() {
        let mut lock = Lock::default();
        let pinned = lock.servers.entry("a".to_owned()).or_default();
        pinned.pin(Kind::Tool, "t", &json!({"name": "t", "description": "good"}));
        pinned.pin(Kind::Instructions, "", &json!("be kind"));
        let text = serde_json::to_string(&lock).unwrap();
        assert_eq!(Lock::read(&text).unwrap(), lock);
        let edited = Lock::read(&text.replace("good", "evil")).unwrap_err().to_string();
        assert_eq!(edited, "the tool t of server `a` does not match its hash: the file was edited by hand");
    }
}
