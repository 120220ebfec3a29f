//! The servers that a configuration file names, in the forms that clients use.

use crate::{
    engine::ConfigSubject,
    evidence::FrameRef,
    outcome::{Finding, Skip},
    pointer,
};
use serde_json::Value;

/// Pointers to the servers in the files of known clients.
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
            let escaped = pointer::escape(name);
            servers.push(Server { name, value, pointer: format!("{place}/{escaped}") });
        }
    }
    for (project, value) in config.value["projects"].as_object().into_iter().flatten() {
        let place = format!("/projects/{}/mcpServers", pointer::escape(project));
        for (name, value) in value["mcpServers"].as_object().into_iter().flatten() {
            let escaped = pointer::escape(name);
            servers.push(Server { name, value, pointer: format!("{place}/{escaped}") });
        }
    }
    if servers.is_empty() { Err(Skip::not_applicable("the file names no servers")) } else { Ok(servers) }
}

/// The programs that the servers of a file are started with.
pub(crate) fn programs(config: &ConfigSubject) -> Vec<&str> {
    let servers = of(config).unwrap_or_default();
    servers.iter().filter_map(Server::command).collect()
}

impl<'a> Server<'a> {
    pub(super) fn finding(&self, message: String, below: &str) -> Finding {
        // A file has no frames; its content counts as frame 0.
        let file = FrameRef { line: 0, frame: 0 };
        Finding::new(message)
            .about(format!("server {}", self.name))
            .at(file, format!("{}{below}", self.pointer))
    }

    /// The command and its arguments as one list. Clients write the command as a string or as a
    /// list.
    pub(super) fn words(&self) -> Vec<&'a str> {
        let value = self.value;
        let part = |name: &str| match value.get(name) {
            Some(Value::String(text)) => vec![text.as_str()],
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut words = part("command");
        words.extend(part("args"));
        words
    }
}

/// Accessors for rules.
impl<'a> Server<'a> {
    /// A finding about the whole entry.
    pub(super) fn wrong(&self, message: impl Into<String>) -> Finding {
        self.finding(message.into(), "")
    }

    /// The program as written in the file.
    pub(super) fn command(&self) -> Option<&'a str> {
        let command = &self.value["command"];
        command.as_str().or_else(|| command.get(0)?.as_str()).filter(|command| !command.is_empty())
    }

    /// The program without its directory.
    pub(super) fn program(&self) -> Option<&'a str> {
        self.words().first()?.rsplit(['/', '\\']).next()
    }

    pub(super) fn args(&self) -> Vec<&'a str> {
        self.words().into_iter().skip(1).collect()
    }

    pub(super) fn env(&self) -> Vec<(&'a str, &'a str)> {
        let members =
            ["env", "environment"].into_iter().filter_map(|name| self.value[name].as_object()).flatten();
        members.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect()
    }

    pub(super) fn url(&self) -> Option<url::Url> {
        let text =
            ["url", "serverUrl", "httpUrl"].into_iter().find_map(|member| self.value[member].as_str())?;
        url::Url::parse(text).ok()
    }

    /// The package that a runner downloads, without its version.
    pub(super) fn package(&self) -> Option<&'a str> {
        let args = self.args();
        let first = || args.iter().copied().find(|arg| !arg.starts_with('-') && *arg != "run");
        let text = match self.program()?.trim_end_matches(".cmd") {
            "npx" | "bunx" | "pnpx" | "pipx" => first()?,
            "uvx" => {
                let from = args.iter().position(|arg| *arg == "--from").and_then(|at| args.get(at + 1));
                from.copied().or_else(first)?
            }
            _ => return None,
        };
        if text.starts_with(['.', '/']) || text.contains("://") {
            return None;
        }
        let version = text.char_indices().skip(1).find(|(_, c)| matches!(c, '@' | '='));
        Some(version.map_or(text, |(at, _)| &text[..at]))
    }
}
