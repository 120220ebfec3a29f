//! The lock file: the tool definitions that somebody looked at and accepted, server by server.

use crate::{engine::LockSubject, report::Report};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of the file's form.
const VERSION: u32 = 1;

/// The member by which a lock file is known.
const MARK: &str = "lockfileVersion";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Lock {
    pub lockfile_version: u32,
    /// By the name in the configuration, or by the address or command where there is none.
    pub servers: BTreeMap<String, Pinned>,
}

/// What is pinned of one server.
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
    #[error("its version is {0}, and this program knows {VERSION} only")]
    Version(u32),
}

impl Lock {
    /// What the servers of a report offer now. A server that was not reached is not pinned.
    pub fn of(report: &Report) -> Self {
        let reached = report.targets.iter().filter(|target| target.transport.is_some());
        let servers = reached.map(|target| (target.target.clone(), Pinned { tools: target.tools.clone() }));
        Self { lockfile_version: VERSION, servers: servers.collect() }
    }

    pub fn read(text: &str) -> Result<Self, BadLock> {
        let lock: Self = serde_json::from_str(text)?;
        if lock.lockfile_version == VERSION { Ok(lock) } else { Err(BadLock::Version(lock.lockfile_version)) }
    }

    /// Whether a JSON file is meant as a lock file.
    pub fn is_one(value: &Value) -> bool {
        value.get(MARK).is_some()
    }

    /// What is pinned of a server, to be judged beside it.
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
        assert_eq!(
            Lock::read(&newer).unwrap_err().to_string(),
            "its version is 2, and this program knows 1 only"
        );
        assert!(Lock::read(&lock.replace("tools", "tolls")).is_err());
    }
}
