//! The server entries of a client's configuration file.

use serde_json::Value;

/// One server of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerEntry {
    pub(super) name: String,
    pub(super) launch: Launch,
    /// Variables and headers, which may hold secrets: kind, name, value.
    pub(super) values: Vec<(&'static str, String, String)>,
    pub(super) directory: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Launch {
    Command {
        program: String,
        args: Vec<String>,
    },
    Url(String),
    /// Neither a command nor an address.
    Neither,
}

/// All servers of a file: those under the given members, and those of each project.
pub(super) fn entries(document: &Value, members: &[&str]) -> Vec<ServerEntry> {
    let mut found = Vec::new();
    for member in members {
        collect(document.get(member), &mut found);
        // opencode's newer form has one more level.
        if *member == "mcp" {
            collect(document.get("mcp").and_then(|mcp| mcp.get("servers")), &mut found);
        }
    }
    let projects = document.get("projects").and_then(Value::as_object);
    for project in projects.into_iter().flat_map(serde_json::Map::values) {
        collect(project.get("mcpServers"), &mut found);
    }
    found
}

fn collect(servers: Option<&Value>, found: &mut Vec<ServerEntry>) {
    let servers = servers.and_then(Value::as_object);
    for (name, server) in servers.into_iter().flatten() {
        let off = server.get("disabled") == Some(&Value::Bool(true))
            || server.get("enabled") == Some(&Value::Bool(false));
        // These members hold settings, not servers.
        let is_level = matches!(name.as_str(), "servers" | "timeout")
            && server.get("command").is_none()
            && server.get("url").is_none();
        if server.is_object() && !off && !is_level {
            found.push(read(name, server));
        }
    }
}

fn read(name: &str, server: &Value) -> ServerEntry {
    let text = |names: &[&str]| names.iter().find_map(|name| server.get(name)?.as_str()).map(str::to_owned);
    let list = |value: Option<&Value>| -> Vec<String> {
        value
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    let command = server.get("command").or_else(|| server.get("cmd"));
    let mut words = match command {
        Some(Value::String(program)) => vec![program.clone()],
        Some(Value::Array(_)) => list(command),
        Some(Value::Object(inner)) => inner
            .get("path")
            .and_then(Value::as_str)
            .map(str::to_owned)
            .into_iter()
            .chain(list(inner.get("args")))
            .collect(),
        _ => Vec::new(),
    };
    words.extend(list(server.get("args")));
    let launch = if let Some(url) = text(&["url", "httpUrl", "serverUrl"]) {
        Launch::Url(url)
    } else if words.first().is_some_and(|program| !program.is_empty()) {
        Launch::Command { program: words.remove(0), args: words }
    } else {
        Launch::Neither
    };
    let values =
        [("env", "variable"), ("environment", "variable"), ("headers", "header"), ("http_headers", "header")];
    let values = values.iter().flat_map(|(member, kind)| {
        let members = server.get(member).and_then(Value::as_object);
        members
            .into_iter()
            .flatten()
            .filter_map(move |(name, value)| Some((*kind, name.clone(), value.as_str()?.to_owned())))
    });
    ServerEntry { name: name.to_owned(), launch, values: values.collect(), directory: text(&["cwd"]) }
}
