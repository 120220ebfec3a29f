//! The servers that a configuration file names, in the forms that clients use.

use crate::{
    engine::ConfigSubject,
    evidence::FrameRef,
    outcome::{Finding, Skip},
};
use serde_json::Value;

/// Where clients keep their servers.
const PLACES: [&str; 4] = ["/mcp/servers", "/mcpServers", "/servers", "/context_servers"];

/// One server of the file.
pub(super) struct Server<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a Value,
    pointer: String,
}

pub(super) fn of(config: &ConfigSubject) -> Result<Vec<Server<'_>>, Skip> {
    let mut servers = Vec::new();
    for place in PLACES {
        for (name, value) in config.value.pointer(place).and_then(Value::as_object).into_iter().flatten() {
            let escaped = name.replace('~', "~0").replace('/', "~1");
            servers.push(Server { name, value, pointer: format!("{place}/{escaped}") });
        }
    }
    if servers.is_empty() { Err(Skip::not_applicable("the file names no servers")) } else { Ok(servers) }
}

impl Server<'_> {
    pub(super) fn finding(&self, message: String, below: &str) -> Finding {
        // A file has no frames; its one value counts as the first.
        let file = FrameRef { line: 0, frame: 0 };
        Finding::new(message).about(format!("server {}", self.name)).at(file, format!("{}{below}", self.pointer))
    }

    /// The command and its arguments, as one list of words. Clients write the command as a text or as a list.
    pub(super) fn words(&self) -> Vec<&str> {
        let part = |name: &str| match self.value.get(name) {
            Some(Value::String(text)) => vec![text.as_str()],
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut words = part("command");
        words.extend(part("args"));
        words
    }
}
