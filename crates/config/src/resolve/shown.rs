//! All values in a form without secrets, each with its origin.

use super::{Pair, server::shown_argument};
use crate::{
    expand::{has_reference, shown},
    jsonc::{Node, Value},
    keys::check::join,
    layered::Layered,
    looks,
    secret::{MASK, Secret},
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

/// All texts with references: the resolved value, shown as written.
pub(super) fn resolved(pair: Pair<'_>, key: &str) -> Vec<Secret> {
    match &pair.written.value {
        Value::Text(text) if has_reference(text) => {
            let shown = value(pair, key);
            vec![Secret::new(pair.read.text().unwrap_or_default(), shown.as_str().unwrap_or(MASK))]
        }
        Value::List(_) => pair.items().flat_map(|item| resolved(item, key)).collect(),
        Value::Table(_) => pair.entries().flat_map(|(name, pair)| resolved(pair, &join(key, name))).collect(),
        _ => Vec::new(),
    }
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

/// The value as written, without literal secrets. What a reference stands for is never shown.
fn value(pair: Pair<'_>, key: &str) -> Json {
    let (parent, name) = key.rsplit_once('.').unwrap_or(("", key));
    match &pair.written.value {
        Value::Text(text) => text_of(pair, parent, name, text),
        Value::List(words) if name == "command" => {
            let word = |(index, word): (usize, &Node)| {
                let before = index.checked_sub(1).and_then(|index| words[index].text());
                Json::from(shown_argument(before, word.text().unwrap_or_default()))
            };
            words.iter().enumerate().map(word).collect()
        }
        Value::List(_) => pair.items().map(|item| value(item, key)).collect(),
        _ => pair.written.to_json(),
    }
}

fn text_of(pair: Pair<'_>, parent: &str, name: &str, text: &str) -> Json {
    if has_reference(text) {
        let shown = shown(text);
        return looks::masked_address(&shown).unwrap_or(shown).into();
    }
    if parent.ends_with(".headers") || name == "clientSecret" || looks::secret(name, text) {
        return MASK.into();
    }
    looks::masked_address(text).unwrap_or_else(|| pair.read.text().unwrap_or(text).to_owned()).into()
}
