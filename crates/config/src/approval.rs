//! Approvals: which launches of a project's file its user has agreed to.
//!
//! A project's file comes with the project, so it may name any program. A server from a file that was merely found is
//! used once somebody agreed to exactly this launch: program, arguments, variables, directory, address, headers, as they are
//! written. A file that is changed later asks again. The user's own file, and one that was named, need no approval.

use crate::{
    jsonc::Node,
    layered::{Layered, REACH},
    source::Layer,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs, io,
    path::Path,
};
use trunkline_protocol::ServerName;

/// What a launch comes to: equal when nothing about it differs, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(String);

/// The launches that were agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Approvals {
    approved: BTreeSet<Fingerprint>,
}

/// The most bytes that are read of the file of approvals.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The fingerprints of the servers that need approval.
pub(crate) fn fingerprints(layered: &Layered) -> BTreeMap<ServerName, Fingerprint> {
    let servers = layered.tree.at(&["mcp", "servers"]).map(Node::entries).unwrap_or_default();
    let one = |entry: &crate::jsonc::Entry| {
        let name = entry.key.parse::<ServerName>().ok()?;
        let reach = entry.node.entries().iter().filter(|entry| REACH.contains(&entry.key.as_str()));
        // A server that is only adjusted by the project is launched as the user's own file says.
        let from_project =
            reach.clone().any(|entry| layered.sources.get(entry.node.place.source).layer == Layer::Project);
        let launch: BTreeMap<&str, serde_json::Value> =
            reach.map(|entry| (entry.key.as_str(), entry.node.to_json())).collect();
        let directory = layered.sources.directory(entry.node.place).display().to_string();
        from_project.then(|| (name, Fingerprint::of(&(directory, &entry.key, launch))))
    };
    servers.iter().filter_map(one).collect()
}

impl Fingerprint {
    fn of(launch: &impl Serialize) -> Self {
        let text = serde_json::to_vec(launch).expect("texts and values can be written");
        let hash = Sha256::digest(text);
        Self(hash.iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("a String takes any text");
            hex
        }))
    }
}

impl Approvals {
    /// Those that a file holds; none where there is no file.
    pub fn read(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error),
            Ok(about) if about.len() > MAX_BYTES => return Err(io::Error::other("it is too large")),
            Ok(_) => {}
        }
        serde_json::from_str(&fs::read_to_string(path)?).map_err(io::Error::other)
    }

    pub fn write(&self, path: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        crate::write::overwrite(path, &text)
    }

    pub fn has(&self, fingerprint: &Fingerprint) -> bool {
        self.approved.contains(fingerprint)
    }

    pub fn approve(&mut self, fingerprint: Fingerprint) {
        self.approved.insert(fingerprint);
    }
}
