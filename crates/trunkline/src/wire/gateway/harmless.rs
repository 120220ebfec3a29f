//! Tools behind the gateway that are known to be read-only: those of the built-in packs, and those
//! that the configuration marks.
//!
//! A server's own hints are not trusted; they count only if the operator repeats them in the
//! configuration (`"tools": {"search": {"annotations": {"readOnlyHint": true}}}`).

use globset::{Glob, GlobMatcher};
use parking_lot::RwLock;
use std::collections::{BTreeMap, HashSet};
use trunkline_config::{Naming, Server, Settings};
use trunkline_protocol::ServerName;

const HINT: &str = "readOnlyHint";
/// Path prefix of the endpoint of a single server.
const ALONE: &str = "server/";

/// The read-only tools of all servers.
#[derive(Default)]
pub(super) struct Harmless(RwLock<Known>);

#[derive(Default)]
struct Known {
    servers: BTreeMap<String, Tools>,
    /// Views with unprefixed names, from which the server cannot be derived.
    bare: HashSet<String>,
}

#[derive(Default)]
struct Tools {
    /// Read-only tools of a built-in pack.
    own: HashSet<String>,
    /// The first matching rule decides.
    rules: Vec<Rule>,
}

struct Rule {
    tool: GlobMatcher,
    rename: Option<String>,
    harmless: bool,
}

impl Harmless {
    /// Replaces the rules from the configuration; tools of built-in packs are kept.
    pub(super) fn configure(&self, settings: &Settings) {
        let mut known = self.0.write();
        known.servers.retain(|name, _| settings.servers.keys().any(|server| server.as_ref() == name));
        for (name, server) in &settings.servers {
            known.servers.entry(name.to_string()).or_default().rules = rules(server);
        }
        let bare = settings.views.iter().filter(|(_, view)| view.naming == Naming::Bare);
        known.bare = bare.map(|(name, _)| name.clone()).collect();
    }

    /// Sets the read-only tools of a built-in pack.
    pub(super) fn learn(&self, server: &ServerName, own: HashSet<String>) {
        let mut known = self.0.write();
        known.servers.entry(server.to_string()).or_default().own = own;
    }

    /// True if a tool, by its name in a view, is known to be read-only.
    pub(super) fn has(&self, view: Option<&str>, tool: &str) -> bool {
        let known = self.0.read();
        let place = match view.map(|view| (view.strip_prefix(ALONE), view)) {
            Some((Some(server), _)) => Some((server, tool)),
            Some((None, view)) if known.bare.contains(view) => None,
            _ => tool.split_once('_'),
        };
        place.is_some_and(|(server, tool)| known.servers.get(server).is_some_and(|tools| tools.has(tool)))
    }
}

impl Tools {
    fn has(&self, tool: &str) -> bool {
        let rule = self.rules.iter().find(|rule| match &rule.rename {
            Some(rename) => rename == tool,
            None => rule.tool.is_match(tool),
        });
        rule.map_or_else(|| self.own.contains(tool), |rule| rule.harmless)
    }
}

fn rules(server: &Server) -> Vec<Rule> {
    let rule = |rule: &trunkline_config::ToolRule| {
        let harmless = rule.change.annotations.get(HINT)?.as_bool()?;
        // Patterns were validated when the configuration was read.
        let tool = Glob::new(&rule.tool).ok()?.compile_matcher();
        Some(Rule { tool, rename: rule.change.rename.clone(), harmless })
    };
    server.tools.iter().filter_map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn settings(text: &str) -> Settings {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("trunkline.json");
        std::fs::write(&file, text).unwrap();
        let inputs = trunkline_config::Inputs {
            directory: folder.path().to_owned(),
            file: Some(file),
            approvals: None,
            user_directory: None,
            home: None,
            variables: BTreeMap::new(),
            flags: Vec::new(),
            secrets: &trunkline_config::NoKeychain,
        };
        trunkline_config::load(&inputs).unwrap().settings
    }

    #[test]
    fn only_what_the_configuration_or_we_ourselves_say_is_known() {
        let harmless = Harmless::default();
        harmless.configure(&settings(
            r#"{
              "mcp": {"servers": {
                "docs": {"url": "http://127.0.0.1:1/mcp", "tools": {
                  "search": {"annotations": {"readOnlyHint": true}},
                  "get_*": {"annotations": {"readOnlyHint": true}},
                  "put": {"annotations": {"destructiveHint": true}}}},
                "files": {"pack": "filesystem"},
                "other": {"url": "http://127.0.0.1:2/mcp"}}},
              "views": {"flat": {"servers": ["*"], "naming": "bare"}, "part": {"servers": ["docs"]}}
            }"#,
        ));
        harmless.learn(&"files".parse().unwrap(), HashSet::from(["read_file".to_owned()]));
        for (view, tool, known) in [
            (None, "docs_search", true),
            (None, "docs_get_page", true),
            (None, "docs_put", false),
            (None, "other_search", false),
            (None, "files_read_file", true),
            (None, "files_write_file", false),
            (Some("part"), "docs_search", true),
            (Some("server/docs"), "search", true),
            (Some("server/other"), "docs_search", false),
            // Another server may have a tool of this name.
            (Some("flat"), "docs_search", false),
            (Some("flat"), "search", false),
        ] {
            assert_eq!(harmless.has(view, tool), known, "{view:?} {tool}");
        }
    }
}
