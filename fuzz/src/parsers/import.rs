//! Import of other clients' files: any content becomes valid entries of our file, and nothing else
//! in our file changes.
//!
//! The first character of an input selects the client; the rest is its file, and optionally a NUL
//! and our file.

use std::path::{Path, PathBuf};
use trunkline_config::{
    import::{Client, ClientFile, Outcome, Plan, Scope, insert, plan, read},
    jsonc::{self, Node},
};
use trunkline_protocol::ServerName;

pub fn holds(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some(first) = text.chars().next() else { return };
    let rest = &text[first.len_utf8()..];
    let (theirs, ours) = rest.split_once('\0').map_or((rest, None), |(theirs, ours)| (theirs, Some(ours)));
    let client = Client::ALL[first as usize % Client::ALL.len()];
    for scope in [Scope::User, Scope::Project] {
        let path = match scope {
            Scope::User => PathBuf::from("/home/ada/.config/client.json"),
            Scope::Project => PathBuf::from("/home/ada/project/.client/mcp.json"),
        };
        Client::guess(&path, theirs);
        let file = ClientFile { client, scope, path };
        let Ok(found) = read(&file, theirs, Path::new("/home/ada/project")) else { continue };
        let tree = ours.map(|ours| jsonc::parse(ours, 0));
        let existing = tree.as_ref().and_then(|tree| tree.as_ref().ok());
        let mut plan = plan(found, existing);
        goes_in(ours, existing, &plan);
        let secrets = plan.secrets_to_files();
        assert!(
            secrets.iter().all(|secret| secret.path.starts_with("secrets/") && !secret.path.contains(".."))
        );
        goes_in(ours, existing, &plan);
    }
}

/// Checks that added servers are present afterwards and that existing content is kept.
fn goes_in(ours: Option<&str>, existing: Option<&Node>, plan: &Plan) {
    for planned in &plan.servers {
        if planned.outcome != Outcome::Refused {
            assert!(planned.name.parse::<ServerName>().is_ok(), "{}", planned.name);
        }
    }
    let written = match insert(ours, plan) {
        Ok(written) => written,
        Err(errors) => {
            let broken = ours.is_some_and(|ours| !ours.trim().is_empty()) && existing.is_none();
            assert!(broken || errors[0].reason.contains("larger than"), "a valid file is accepted");
            return;
        }
    };
    let tree = jsonc::parse(&written, 0).expect("what is written can be read");
    if let Some(before) = existing {
        keeps(before, &tree);
    }
    let added = plan.servers.iter().filter(|planned| planned.outcome == Outcome::Added);
    for planned in added {
        if let Some(servers) = servers_of(&tree) {
            let server = servers.get(&planned.name).expect("it was added");
            assert_eq!(server.to_json().as_object(), Some(&planned.entry));
        }
    }
}

/// Returns the table of servers, if it is an object.
fn servers_of(tree: &Node) -> Option<&Node> {
    tree.at(&["mcp", "servers"]).filter(|servers| servers.kind() == "an object")
}

/// Checks that every existing member keeps its value; only `mcp.servers` may get new members.
fn keeps(before: &Node, after: &Node) {
    if before.kind() != "an object" {
        assert_eq!(before.to_json(), after.to_json());
    }
    for entry in before.entries() {
        let now = after.get(&entry.key).expect("it was there");
        if entry.key == "mcp" {
            keeps_below(&entry.node, now);
        } else {
            assert_eq!(entry.node.to_json(), now.to_json());
        }
    }
}

fn keeps_below(before: &Node, after: &Node) {
    for entry in before.entries() {
        let now = after.get(&entry.key).expect("it was there");
        if entry.key == "servers" {
            entry.node.entries().iter().for_each(|server| {
                assert_eq!(Some(server.node.to_json()), now.get(&server.key).map(Node::to_json));
            });
        } else {
            assert_eq!(entry.node.to_json(), now.to_json());
        }
    }
}
