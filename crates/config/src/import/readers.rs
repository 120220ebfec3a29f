//! Converts the keys of each client, with one function per client.

use super::{
    client::{Client, ClientFile},
    draft::{Draft, oauth},
};
use serde_json::{Map, Value};

/// The servers of a client's file, by the client's own names.
pub(super) fn servers(
    file: &ClientFile,
    document: &Value,
    directory: &std::path::Path,
) -> Vec<(String, Draft)> {
    match file.client {
        Client::ClaudeCode => claude_code(document, directory),
        Client::ClaudeDesktop => each(document.get("mcpServers"), claude_desktop),
        Client::Cline => each(document.get("mcpServers"), cline),
        Client::Codex => each(document.get("mcp_servers"), codex),
        Client::Copilot => each(document.get("mcpServers"), copilot),
        Client::Cursor => each(document.get("mcpServers"), cursor),
        Client::Gemini => gemini(document),
        Client::OpenCode => opencode(document),
        Client::VsCode => each(document.get("servers"), vscode),
        Client::Windsurf => each(document.get("mcpServers"), windsurf),
        Client::Zed => each(document.get("context_servers"), zed),
    }
}

fn each(servers: Option<&Value>, read: fn(&mut Draft)) -> Vec<(String, Draft)> {
    let one = |(name, theirs): (&String, &Value)| {
        let mut draft = Draft::of(theirs);
        read(&mut draft);
        (name.clone(), draft.finish())
    };
    servers.and_then(Value::as_object).into_iter().flatten().map(one).collect()
}

fn claude_desktop(draft: &mut Draft) {
    if draft.theirs.contains_key("url") {
        draft.note("Claude Desktop itself ignores addresses in its file");
    }
    draft.transport("type");
    draft.environment("env");
    draft.headers("headers");
    draft.same_text("cwd");
    draft.enabled();
    draft.url("url");
    draft.command();
}

/// The user's servers, and the user's private servers for the current project.
fn claude_code(document: &Value, directory: &std::path::Path) -> Vec<(String, Draft)> {
    let mut found = each(document.get("mcpServers"), claude_code_server);
    let projects = document.get("projects").and_then(Value::as_object);
    for at in directory.ancestors() {
        let project = projects.and_then(|projects| projects.get(at.to_string_lossy().as_ref()));
        if let Some(project) = project {
            for (name, mut draft) in each(project.get("mcpServers"), claude_code_server) {
                if draft.ours.contains_key("command") && !draft.ours.contains_key("cwd") {
                    draft.set("cwd", at.to_string_lossy().into_owned());
                }
                found.push((name, draft));
            }
        }
    }
    found
}

fn claude_code_server(draft: &mut Draft) {
    draft.transport("type");
    draft.environment("env");
    draft.headers("headers");
    draft.same_text("cwd");
    let timeout = draft.take_number("timeout");
    draft.timeout(None, timeout);
    if draft.take("headersHelper").is_some() {
        draft.note("`headersHelper` runs a program for its headers; write them as `headers` with `{env:…}` or `{file:…}`");
    }
    if let Some(mut theirs) = draft.take("oauth") {
        let scopes = words(theirs.get("scopes"));
        let mut take = |key: &str| theirs.get_mut(key).map(Value::take);
        let parts = vec![
            ("clientId", take("clientId")),
            ("callbackPort", take("callbackPort")),
            ("metadataUrl", take("authServerMetadataUrl")),
            ("scopes", scopes),
        ];
        draft.set("oauth", oauth(parts));
    }
    draft.ignore(&["alwaysLoad"]);
    draft.enabled();
    draft.url("url");
    draft.command();
}

fn vscode(draft: &mut Draft) {
    draft.transport("type");
    draft.environment("env");
    draft.headers("headers");
    env_file(draft);
    draft.same_text("cwd");
    if let Some(theirs) = draft.take("oauth") {
        draft.set("oauth", oauth(vec![("clientId", theirs.get("clientId").cloned())]));
    }
    draft.ignore(&["dev", "gallery", "version"]);
    draft.url("url");
    draft.command();
}

fn cursor(draft: &mut Draft) {
    draft.transport("type");
    draft.environment("env");
    draft.headers("headers");
    env_file(draft);
    draft.same_text("cwd");
    if let Some(theirs) = draft.take("auth") {
        let parts = vec![
            ("clientId", theirs.get("CLIENT_ID").cloned()),
            ("clientSecret", theirs.get("CLIENT_SECRET").cloned()),
            ("scopes", theirs.get("scopes").cloned()),
        ];
        draft.set("oauth", oauth(parts));
    }
    draft.enabled();
    draft.url("url");
    draft.command();
}

/// v2 nests its servers one level deeper, and renames some keys.
fn opencode(document: &Value) -> Vec<(String, Draft)> {
    let Some(mcp) = document.get("mcp") else { return Vec::new() };
    let is_server = |value: &Value| {
        value.get("type").is_some() || value.get("command").is_some() || value.get("url").is_some()
    };
    let deeper = mcp.get("servers").filter(|servers| {
        !is_server(servers)
            && servers.as_object().is_some_and(|servers| servers.values().all(Value::is_object))
    });
    let Some(servers) = deeper else { return each(Some(mcp), opencode_server) };
    let mut found = each(Some(servers), opencode_server);
    let global = mcp.get("timeout");
    for (_, draft) in &mut found {
        if !draft.ours.contains_key("timeout") {
            let time = |key: &str| global.and_then(|times| times.get(key)).and_then(Value::as_f64);
            draft.timeout(time("startup"), time("request"));
        }
    }
    found
}

fn opencode_server(draft: &mut Draft) {
    draft.ignore(&["type"]);
    draft.environment("environment");
    draft.headers("headers");
    draft.same_text("cwd");
    match draft.take("timeout") {
        Some(Value::Object(times)) => {
            let time = |key: &str| times.get(key).and_then(Value::as_f64);
            draft.timeout(time("startup"), time("request"));
        }
        // In v1, this is the timeout for starting and listing.
        Some(millis) => draft.timeout(millis.as_f64(), None),
        None => {}
    }
    match draft.take("oauth") {
        Some(Value::Object(theirs)) => {
            let either = |one: &str, other: &str| theirs.get(one).or_else(|| theirs.get(other)).cloned();
            let parts = vec![
                ("clientId", either("clientId", "client_id")),
                ("clientSecret", either("clientSecret", "client_secret")),
                ("scopes", words(theirs.get("scope"))),
                ("callbackPort", either("callbackPort", "callback_port")),
                ("redirectUri", either("redirectUri", "redirect_uri")),
            ];
            draft.set("oauth", oauth(parts));
        }
        Some(Value::Bool(switch)) => draft.set("oauth", switch),
        _ => {}
    }
    draft.enabled();
    draft.url("url");
    draft.command();
}

fn codex(draft: &mut Draft) {
    draft.environment("env");
    codex_inherit(draft);
    codex_headers(draft);
    draft.same_text("cwd");
    let startup = draft.take_number("startup_timeout_sec").map(|seconds| seconds * 1000.0);
    let startup = startup.or_else(|| draft.take_number("startup_timeout_ms"));
    let request = draft.take_number("tool_timeout_sec").map(|seconds| seconds * 1000.0);
    draft.timeout(startup, request);
    draft.filter("enabled_tools", "disabled_tools");
    let theirs = draft.take("oauth").unwrap_or_default();
    let parts = vec![
        ("clientId", theirs.get("client_id").cloned()),
        ("callbackPort", theirs.get("callback_port").cloned()),
        ("scopes", draft.take("scopes")),
        ("resource", draft.take("oauth_resource")),
    ];
    let known = oauth(parts);
    if known.is_object() {
        draft.set("oauth", known);
    }
    if draft.take_text("auth").is_some_and(|auth| auth == "chatgpt") {
        draft.note("`auth = \"chatgpt\"` uses Codex's own sign-in, which works nowhere else");
    }
    if draft.take("headers").is_some() {
        draft.note("Codex ignores `headers`; what it sends stands in `http_headers`");
    }
    draft.enabled();
    draft.url("url");
    draft.command();
}

fn codex_inherit(draft: &mut Draft) {
    let Some(Value::Array(names)) = draft.take("env_vars") else { return };
    let mut inherit = Vec::new();
    for given in names {
        let Some(name) = given.as_str().or_else(|| given.get("name")?.as_str()) else {
            draft.note("a variable in `env_vars` has no name");
            continue;
        };
        if given.get("source").and_then(Value::as_str) == Some("remote") {
            draft.note(format!("the variable `{name}` is that of a remote environment"));
        } else {
            inherit.push(name.to_owned());
        }
    }
    draft.set("inherit", inherit);
}

/// Literal headers, and those whose values are in variables.
fn codex_headers(draft: &mut Draft) {
    draft.headers("http_headers");
    let mut headers = match draft.ours.shift_remove("headers") {
        Some(Value::Object(headers)) => headers,
        _ => Map::new(),
    };
    if let Some(Value::Object(variables)) = draft.take("env_http_headers") {
        let named = variables
            .into_iter()
            .filter_map(|(name, variable)| Some((name, format!("{{env:{}}}", variable.as_str()?).into())));
        headers.extend(named);
    }
    if let Some(variable) = draft.take_text("bearer_token_env_var") {
        headers.insert("Authorization".to_owned(), format!("Bearer {{env:{variable}}}").into());
    }
    if draft.take("http_headers_helper").is_some() {
        draft.note("`http_headers_helper` runs a program for its headers; write them as `headers` with `{env:…}` or `{file:…}`");
    }
    if !headers.is_empty() {
        draft.set("headers", headers);
    }
}

fn gemini(document: &Value) -> Vec<(String, Draft)> {
    let names = |key: &str| -> Option<Vec<&str>> {
        Some(document.get("mcp")?.get(key)?.as_array()?.iter().filter_map(Value::as_str).collect())
    };
    let (allowed, excluded) = (names("allowed"), names("excluded").unwrap_or_default());
    let mut found = each(document.get("mcpServers"), gemini_server);
    for (name, draft) in &mut found {
        let is_off = excluded.contains(&name.as_str())
            || allowed.as_ref().is_some_and(|allowed| !allowed.contains(&name.as_str()));
        if is_off {
            draft.set("enabled", false);
            draft.note("the client's own `mcp` section switches it off");
        }
    }
    found
}

fn gemini_server(draft: &mut Draft) {
    draft.environment("env");
    draft.headers("headers");
    draft.same_text("cwd");
    let timeout = draft.take_number("timeout");
    draft.timeout(None, timeout);
    draft.filter("includeTools", "excludeTools");
    if draft.take_flag("trust") == Some(true) {
        draft.note("`trust` spares its user questions; who may use what is said in `roles` here");
    }
    draft.ignore(&["description"]);
    draft.enabled();
    // `url` alone means HTTP+SSE to this client, `httpUrl` Streamable HTTP.
    if draft.theirs.contains_key("url") {
        draft.set("transport", "sse");
        draft.url("url");
    }
    if draft.theirs.contains_key("httpUrl") {
        draft.set("transport", "http");
        draft.url("httpUrl");
    }
    draft.transport("type");
    draft.command();
}

fn windsurf(draft: &mut Draft) {
    draft.transport("type");
    draft.environment("env");
    draft.headers("headers");
    draft.filter("enabledTools", "disabledTools");
    draft.ignore(&["alwaysAllow"]);
    draft.enabled();
    draft.url("url");
    draft.url("serverUrl");
    draft.command();
}

fn zed(draft: &mut Draft) {
    if let Some(Value::Object(parts)) = draft.theirs.get("command").cloned() {
        draft.theirs.shift_remove("command");
        for (from, to) in [("path", "command"), ("args", "args"), ("env", "env")] {
            if let Some(value) = parts.get(from) {
                draft.theirs.insert(to.to_owned(), value.clone());
            }
        }
    }
    if draft.theirs.get("source").and_then(Value::as_str) == Some("extension")
        || (draft.theirs.contains_key("settings") && !draft.theirs.contains_key("command"))
    {
        draft.refuse("it belongs to an extension of Zed, which alone knows how to start it");
        draft.ignore(&["settings"]);
    }
    draft.ignore(&["source"]);
    if draft.theirs.get("settings").is_some_and(|settings| *settings == serde_json::json!({})) {
        draft.ignore(&["settings"]);
    }
    draft.environment("env");
    draft.headers("headers");
    let timeout = draft.take_number("timeout");
    draft.timeout(None, timeout);
    draft.enabled();
    draft.url("url");
    draft.command();
}

fn cline(draft: &mut Draft) {
    draft.transport("type");
    draft.transport("transportType");
    draft.environment("env");
    draft.headers("headers");
    // Seconds, unlike everywhere else.
    let timeout = draft.take_number("timeout").map(|seconds| seconds * 1000.0);
    draft.timeout(None, timeout);
    draft.filter("enabledTools", "disabledTools");
    draft.ignore(&["autoApprove", "alwaysAllow"]);
    draft.same_text("cwd");
    draft.enabled();
    draft.url("url");
    draft.command();
}

fn copilot(draft: &mut Draft) {
    draft.transport("type");
    draft.environment("env");
    draft.headers("headers");
    draft.filter("tools", "excludedTools");
    let timeout = draft.take_number("timeout");
    draft.timeout(None, timeout);
    draft.enabled();
    draft.url("url");
    draft.command();
}

fn env_file(draft: &mut Draft) {
    if let Some(file) = draft.take_text("envFile") {
        draft.note(format!("its variables stand in {file}; name those it needs in `environment`"));
    }
}

/// Splits a string into words.
fn words(value: Option<&Value>) -> Option<Value> {
    match value? {
        Value::String(text) => Some(text.split_whitespace().map(Value::from).collect()),
        Value::Array(_) => value.cloned(),
        _ => None,
    }
}
