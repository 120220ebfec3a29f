//! All values in a form without secrets, each with its origin.

use super::{Pair, server::shown_argument};
use crate::{
    expand::{Piece, has_reference, pieces, shown},
    jsonc::{Node, Value},
    keys::check::join,
    layered::Layered,
    looks,
    secret::MASK,
    source::Origin,
};
use serde::Serialize;
use serde_json::Value as Json;

/// One leaf value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// Key, such as `mcp.servers.github.url`.
    pub key: String,
    /// References are kept as written; literal secrets are masked.
    pub value: Json,
    pub origin: Origin,
}

pub(super) fn all(layered: &Layered, tree: &Node) -> Vec<Shown> {
    let mut found = Vec::new();
    gather(layered, Pair { written: &layered.tree, read: tree }, "", &mut found);
    found
}

/// The leaf values of a tree below `key`: references are kept as written, and secrets are masked.
pub(crate) fn as_written(node: &Node, key: &str) -> Vec<(String, Json)> {
    let entries = node.entries();
    if entries.is_empty() {
        return vec![(key.to_owned(), value(Pair { written: node, read: node }, key))];
    }
    entries.iter().flat_map(|entry| as_written(&entry.node, &join(key, &entry.key))).collect()
}

fn gather(layered: &Layered, pair: Pair<'_>, key: &str, found: &mut Vec<Shown>) {
    if let Value::Table(entries) = &pair.written.value
        && !entries.is_empty()
    {
        return pair.entries().for_each(|(name, pair)| gather(layered, pair, &join(key, name), found));
    }
    let origin = layered.sources.origin(pair.written.place);
    found.push(Shown { key: key.to_owned(), value: value(pair, key), origin });
}

fn value(pair: Pair<'_>, key: &str) -> Json {
    let (parent, name) = key.rsplit_once('.').unwrap_or(("", key));
    match &pair.written.value {
        Value::Text(text) => text_of(pair, parent, name, text),
        Value::List(words) if name == "command" => {
            let word = |(index, word): (usize, Pair<'_>)| {
                let before = index.checked_sub(1).and_then(|index| words[index].text());
                let text = word.written.text().unwrap_or_default();
                let covered = shown_argument(before, text);
                if covered == shown(text) { text_of(word, "", "", text) } else { covered.into() }
            };
            pair.items().enumerate().map(word).collect()
        }
        Value::List(_) => pair.items().map(|item| value(item, key)).collect(),
        _ => pair.written.to_json(),
    }
}

fn text_of(pair: Pair<'_>, parent: &str, name: &str, text: &str) -> Json {
    let is_header = parent.ends_with(".headers");
    if has_reference(text) {
        let plain = |piece: &Piece<'_>| match piece {
            Piece::Literal(_) => true,
            Piece::Variable { name, .. } => !looks::secret_name(name),
            Piece::File(_) | Piece::Keychain { .. } => false,
        };
        let is_open = !is_header && !looks::secret_name(name) && pieces(text).iter().all(plain);
        let read = pair.read.text().unwrap_or_default();
        let is_open = is_open && !looks::secret(name, read) && looks::masked_address(read).is_none();
        return if is_open { read.into() } else { shown(text).into() };
    }
    if is_header || name == "clientSecret" || looks::secret(name, text) {
        return MASK.into();
    }
    looks::masked_address(text).unwrap_or_else(|| pair.read.text().unwrap_or(text).to_owned()).into()
}
