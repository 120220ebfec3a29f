//! Layered: all layers merged; every value keeps its origin.

use crate::{
    jsonc::{Entry, Node, Value},
    source::{Origin, Sources},
};
use std::{collections::HashMap, fmt};

/// The merged tree of all layers, before references are resolved.
#[derive(Clone)]
pub struct Layered {
    pub tree: Node,
    pub sources: Sources,
}

/// Keys that say how a server is reached. A layer that sets one of them replaces all of them:
/// otherwise a project's file could redirect the headers of a server in the user's own file to
/// another address.
pub(crate) const REACH: &[&str] = &[
    "type",
    "command",
    "environment",
    "inherit",
    "cwd",
    "adapter",
    "url",
    "headers",
    "callerHeaders",
    "oauth",
    "transport",
    "insecure",
    "pack",
    "root",
    "write",
    "run",
    "network",
    "compatibility",
    "github",
    "gitlab",
];

impl Layered {
    /// Merges the trees, the lowest layer first.
    pub(crate) fn of(trees: Vec<Node>, sources: Sources) -> Self {
        Self { tree: laid(trees), sources }
    }

    /// The origin of the value at a path such as `["mcp", "servers", "github"]`.
    pub fn origin(&self, path: &[&str]) -> Option<Origin> {
        self.tree.at(path).map(|node| self.sources.origin(node.place))
    }
}

/// The tree may hold secrets.
impl fmt::Debug for Layered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layered").field("sources", &self.sources).finish_non_exhaustive()
    }
}

/// Merges the trees, the lowest layer first.
pub(crate) fn laid(trees: Vec<Node>) -> Node {
    let mut trees = trees.into_iter().map(shorthand_timeouts);
    let lowest = trees.next().expect("the built-in layer is always there");
    trees.fold(lowest, |below, above| merge(below, above, &mut Vec::new()))
}

/// Merges one server over `defaults`. The result has the server's position, even if it is empty.
pub(crate) fn over_defaults(defaults: &Node, server: &Node) -> Node {
    Node { place: server.place, ..merge(defaults.clone(), server.clone(), &mut Vec::new()) }
}

fn merge(below: Node, above: Node, path: &mut Vec<String>) -> Node {
    let (Value::Table(mut entries), Value::Table(over)) = (below.value, &above.value) else { return above };
    let place = if over.is_empty() { below.place } else { above.place };
    let Value::Table(over) = above.value else { unreachable!("it was one above") };
    let places: HashMap<String, usize> =
        entries.iter().enumerate().map(|(at, known)| (known.key.clone(), at)).collect();
    for entry in over {
        path.push(entry.key.clone());
        match places.get(&entry.key).map(|at| &mut entries[*at]) {
            Some(known) if !replaces(path, &entry.node) => {
                known.node = merge(known.node.clone(), entry.node, path);
                known.key_place = entry.key_place;
            }
            Some(known) => *known = entry,
            None => entries.push(entry),
        }
        path.pop();
    }
    Node { value: Value::Table(entries), place }
}

/// True if the node redefines a server instead of adjusting it.
fn replaces(path: &[String], node: &Node) -> bool {
    let is_server = matches!(path, [mcp, servers, _] if mcp == "mcp" && servers == "servers");
    is_server && node.entries().iter().any(|entry| REACH.contains(&entry.key.as_str()))
}

/// Expands a `timeout` that is a single duration to the timeout of one request.
pub(crate) fn shorthand_timeouts(mut tree: Node) -> Node {
    let Value::Table(entries) = &mut tree.value else { return tree };
    for entry in entries {
        match entry.key.as_str() {
            "defaults" => expand_timeout(&mut entry.node),
            "mcp" => {
                let servers = member(&mut entry.node, "servers").map(|servers| &mut servers.value);
                if let Some(Value::Table(servers)) = servers {
                    for server in servers {
                        expand_timeout(&mut server.node);
                    }
                }
            }
            _ => {}
        }
    }
    tree
}

fn expand_timeout(options: &mut Node) {
    let Some(timeout) = member(options, "timeout") else { return };
    if matches!(timeout.value, Value::Number(_) | Value::Text(_)) {
        let place = timeout.place;
        let request = Entry { key: "request".to_owned(), key_place: place, node: timeout.clone() };
        *timeout = Node { value: Value::Table(vec![request]), place };
    }
}

fn member<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    let Value::Table(entries) = &mut node.value else { return None };
    entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
}
