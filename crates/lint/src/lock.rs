//! The lock file: the accepted tool definitions of each server.

use crate::{engine::LockSubject, report::Report};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of the file format.
const VERSION: u32 = 1;

/// The member that identifies a lock file.
const MARK: &str = "lockfileVersion";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Lock {
    pub lockfile_version: u32,
    /// Keyed by the name in the configuration, or else by URL or command.
    pub servers: BTreeMap<String, Pinned>,
}

/// The pinned definitions of one server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// The definitions by name, as the server listed them.
    pub tools: BTreeMap<String, Value>,
}

#[derive(Debug, thiserror::Error)]
pub enum BadLock {
    #[error("{0}")]
    Syntax(#[from] serde_json::Error),
    #[error("unsupported version {0}; expected {VERSION}")]
    Version(u32),
}

impl Lock {
    /// Pins the current tools of all servers in a report, except unreachable ones.
    pub fn of(report: &Report) -> Self {
        let reached = report.targets.iter().filter(|target| target.transport.is_some());
        let servers = reached.map(|target| (target.target.clone(), Pinned { tools: target.tools.clone() }));
        Self { lockfile_version: VERSION, servers: servers.collect() }
    }

    pub fn read(text: &str) -> Result<Self, BadLock> {
        let lock: Self = serde_json::from_str(text)?;
        if lock.lockfile_version == VERSION { Ok(lock) } else { Err(BadLock::Version(lock.lockfile_version)) }
    }

    /// True if a JSON document is a lock file.
    pub fn is_one(value: &Value) -> bool {
        value.get(MARK).is_some()
    }

    /// The pinned definitions of a server, as input for the rules.
    pub fn subject(&self, server: &str, path: &str) -> Option<LockSubject> {
        let pinned = self.servers.get(server)?;
        Some(LockSubject {
            path: path.to_owned(),
            tools: pinned.tools.iter().map(|(name, tool)| (name.clone(), tool.clone())).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_version_is_refused() {
        let lock = r#"{"lockfileVersion": 1, "servers": {"a": {"tools": {"t": {"name": "t"}}}}}"#;
        let read = Lock::read(lock).unwrap();
        assert_eq!(read.subject("a", "f").unwrap().tools[0].0, "t");
        assert!(read.subject("b", "f").is_none());
        let newer = lock.replace('1', "2");
        assert_eq!(Lock::read(&newer).unwrap_err().to_string(), "unsupported version 2; expected 1");
        assert!(Lock::read(&lock.replace("tools", "tolls")).is_err());
    }
}
