//! Warnings about literal secrets in files, and about such files that others can read.

use crate::{
    jsonc::{Node, Place},
    keys::check::join,
    layered::Layered,
    looks,
    problem::{Code, Problem},
};
use std::collections::BTreeSet;

/// A warning for each literal secret, and one for each file with such a secret that others can
/// read.
pub(super) fn inline_secrets(layered: &Layered) -> Vec<Problem> {
    let mut warn = Warnings { layered, problems: Vec::new(), places: Vec::new() };
    for entry in layered.tree.at(&["mcp", "servers"]).map(Node::entries).unwrap_or_default() {
        warn.server(&entry.node, &join("mcp.servers", &entry.key));
    }
    warn.named(layered.tree.at(&["telemetry", "headers"]), "telemetry.headers");
    warn.address(layered.tree.at(&["store", "url"]), "store.url");
    warn.open_files();
    warn.problems
}

struct Warnings<'a> {
    layered: &'a Layered,
    problems: Vec<Problem>,
    places: Vec<Place>,
}

impl Warnings<'_> {
    fn server(&mut self, server: &Node, key: &str) {
        self.named(server.get("environment"), &join(key, "environment"));
        self.named(server.get("headers"), &join(key, "headers"));
        for name in ["clientSecret", "privateKey"] {
            if let Some(secret) = server.at(&["oauth", name]) {
                self.text(secret, &join(key, &format!("oauth.{name}")), name);
            }
        }
        let words = server.get("command").map(Node::items).unwrap_or_default();
        for (index, word) in words.iter().enumerate().skip(1) {
            let before = words[index - 1].text();
            if word.text().is_some_and(|text| looks::secret_argument(before, text).is_some()) {
                self.warn(word, &format!("{key}.command[{index}]"));
            }
        }
        self.address(server.get("url"), &join(key, "url"));
    }

    fn address(&mut self, url: Option<&Node>, key: &str) {
        if let Some(url) =
            url.filter(|url| url.text().is_some_and(|text| looks::masked_address(text).is_some()))
        {
            self.warn(url, key);
        }
    }

    fn named(&mut self, table: Option<&Node>, key: &str) {
        for entry in table.map(Node::entries).unwrap_or_default() {
            self.text(&entry.node, &join(key, &entry.key), &entry.key);
        }
    }

    fn text(&mut self, node: &Node, key: &str, name: &str) {
        if node.text().is_some_and(|text| looks::secret(name, text)) {
            self.warn(node, key);
        }
    }

    fn warn(&mut self, node: &Node, key: &str) {
        let hint = "write `{env:NAME}`, `{file:path}` or `{keychain:NAME}` instead";
        let message = "this looks like a literal secret";
        self.problems
            .push(self.layered.sources.problem(Code::InlineSecret, node.place, key, message).suggest(hint));
        self.places.push(node.place);
    }

    fn open_files(&mut self) {
        let mut seen = BTreeSet::new();
        for place in self.places.clone() {
            let Some(path) = self.layered.sources.get(place.source).path.clone() else { continue };
            if seen.insert(place.source) && crate::files::others_can_read(&path) {
                let message = "others can read this file, and it holds a secret";
                let problem = self.layered.sources.problem(Code::OpenFile, place, "", message);
                self.problems.push(problem.suggest(format!("chmod 600 {}", path.display())));
            }
        }
    }
}
