//! Disclosure: what a user is shown of a project's file before agreeing to it. Everything is told
//! as it is written: nothing that it refers to is looked up for it.

use crate::{
    approval::FoundFile,
    expand::{Piece, has_reference, pieces},
    jsonc::{Node, Value},
    keys::{
        check::join,
        project::{self, ProjectMay},
    },
    resolve::as_written,
    source::Sources,
};
use serde::Serialize;

/// What a file that was found asks for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disclosure {
    #[serde(flatten)]
    pub file: FoundFile,
    /// The servers that it describes or adjusts.
    pub servers: Vec<DisclosedServer>,
    /// Everything from outside the file that it wants to have, and where it goes.
    pub references: Vec<Reference>,
    /// What else it says that is a matter of security.
    pub security: Vec<Said>,
}

/// All that the file says about one server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DisclosedServer {
    pub name: String,
    pub says: Vec<Said>,
}

/// A value as it is written, with secrets covered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Said {
    pub key: String,
    pub value: serde_json::Value,
}

/// A reference to a variable, a file or a secret of the keychain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// As it is written, such as `{env:TOKEN}`; never what it stands for.
    pub written: String,
    /// The key whose value it becomes part of.
    pub key: String,
    /// The line in which it stands.
    pub line: u32,
}

/// What the file's own tree says, before anything of it was refused.
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

fn said(node: &Node, key: &str) -> Vec<Said> {
    as_written(node, key).into_iter().map(|(key, value)| Said { key, value }).collect()
}

fn refer(node: &Node, key: &str, sources: &Sources, found: &mut Vec<Reference>) {
    match &node.value {
        Value::Text(text) if has_reference(text) => {
            let line = sources.origin(node.place).position.map_or(0, |at| at.line);
            let outside = pieces(text).into_iter().filter(|piece| !matches!(piece, Piece::Literal(_)));
            found.extend(outside.map(|piece| Reference {
                written: piece.shown(),
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

/// Keys outside of servers that a project may not simply set.
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
