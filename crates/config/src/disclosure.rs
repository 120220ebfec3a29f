//! Disclosure: the summary of a project's file that a user sees before approving it. All values
//! are shown as written: references are not resolved, and nothing is masked, because a command
//! could hide behind an option such as `--token`.

use crate::{
    approval::FoundFile,
    expand::{Piece, has_reference, pieces},
    jsonc::{Node, Value},
    keys::{
        check::join,
        project::{self, ProjectMay},
    },
    source::Sources,
};
use serde::Serialize;

/// The security-relevant content of a found file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disclosure {
    #[serde(flatten)]
    pub file: FoundFile,
    /// The servers that it defines or adjusts.
    pub servers: Vec<DisclosedServer>,
    /// All variables, files and secrets that it refers to, and the keys that use them.
    pub references: Vec<Reference>,
    /// Its other security-relevant settings.
    pub security: Vec<Said>,
}

/// All settings of one server in the file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DisclosedServer {
    pub name: String,
    pub says: Vec<Said>,
}

/// A value as written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Said {
    pub key: String,
    pub value: serde_json::Value,
}

/// A reference to a variable, a file or a secret of the keychain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// As written, such as `{env:TOKEN}`; never the resolved value.
    pub written: String,
    /// The key whose value it becomes part of.
    pub key: String,
    /// Its line.
    pub line: u32,
}

/// Builds the disclosure from the file's own tree, before anything was refused.
pub(crate) fn disclosed(file: FoundFile, tree: &Node, sources: &Sources) -> Disclosure {
    let servers = tree.at(&["mcp", "servers"]).map(Node::entries).unwrap_or_default();
    let server = |entry: &crate::jsonc::Entry| {
        let says = entry.node.entries().iter().flat_map(|entry| said(&entry.node, &entry.key));
        DisclosedServer { name: entry.key.clone(), says: says.collect() }
    };
    let mut references = Vec::new();
    refer(tree, "", sources, &mut references);
    let mut security = Vec::new();
    secure(tree, ("", ""), &mut security);
    Disclosure { file, servers: servers.iter().map(server).collect(), references, security }
}

/// The leaf values of a tree below `key`.
fn said(node: &Node, key: &str) -> Vec<Said> {
    let entries = node.entries();
    if entries.is_empty() {
        return vec![Said { key: key.to_owned(), value: node.to_json() }];
    }
    entries.iter().flat_map(|entry| said(&entry.node, &join(key, &entry.key))).collect()
}

fn refer(node: &Node, key: &str, sources: &Sources, found: &mut Vec<Reference>) {
    match &node.value {
        Value::Text(text) if has_reference(text) => {
            let line = sources.origin(node.place).position.map_or(0, |at| at.line);
            let outside = pieces(text).into_iter().filter(|piece| !matches!(piece, Piece::Literal(_)));
            found.extend(outside.map(|piece| Reference {
                written: piece.written(),
                key: key.to_owned(),
                line,
            }));
        }
        Value::List(items) => items.iter().for_each(|item| refer(item, key, sources, found)),
        Value::Table(entries) => {
            for entry in entries {
                refer(&entry.node, &join(key, &entry.key), sources, found);
            }
        }
        _ => {}
    }
}

/// Collects keys outside of servers that a project may not set freely.
fn secure(node: &Node, (key, pattern): (&str, &str), found: &mut Vec<Said>) {
    match project::may(pattern) {
        _ if pattern == "mcp.servers" => {}
        Some(ProjectMay::Set) => {}
        Some(_) => found.extend(said(node, key)),
        None => {
            for entry in node.entries() {
                let part = if project::has_chosen_names(pattern) { "*" } else { &entry.key };
                secure(&entry.node, (&join(key, &entry.key), &join(pattern, part)), found);
            }
        }
    }
}
