//! The paths of REST, below the main endpoint and below every view.

use std::str;

/// First parts of a path that are REST's and therefore no names of views.
pub const RESERVED_PATHS: [&str; 2] = ["tools", "executions"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RestRoute {
    OpenApi,
    Tools,
    Tool(String),
    Execute(String),
    Executions,
    Execution(String),
    ExecutionEvents(String),
    Answer(String),
}

impl RestRoute {
    /// The route of a path, and the view that the path names; empty for the main endpoint.
    pub(crate) fn of(path: &str) -> Option<(Self, &str)> {
        if path == "/openapi.json" {
            return Some((Self::OpenApi, ""));
        }
        let (view, rest) = split(path.strip_prefix("/mcp/")?);
        let mut parts = rest.split('/');
        let route = match (parts.next()?, parts.next(), parts.next(), parts.next()) {
            ("openapi.json", None, None, None) => Self::OpenApi,
            ("tools", None, None, None) => Self::Tools,
            ("tools", Some(name), None, None) => Self::Tool(decoded(name)?),
            ("tools", Some(name), Some("execute"), None) => Self::Execute(decoded(name)?),
            ("executions", None, None, None) => Self::Executions,
            ("executions", Some(id), None, None) => Self::Execution(decoded(id)?),
            ("executions", Some(id), Some("events"), None) => Self::ExecutionEvents(decoded(id)?),
            ("executions", Some(id), Some("answer"), None) => Self::Answer(decoded(id)?),
            _ => return None,
        };
        Some((route, view))
    }

    pub(super) fn methods(&self) -> &'static str {
        match self {
            Self::OpenApi | Self::Tools | Self::Tool(_) | Self::Executions => "GET, HEAD",
            Self::Execution(_) => "GET, HEAD, DELETE",
            Self::ExecutionEvents(_) => "GET",
            Self::Execute(_) | Self::Answer(_) => "POST",
        }
    }
}

/// The view, and the path below it. `server/<name>` is the view of one server.
fn split(path: &str) -> (&str, &str) {
    let first = path.split('/').next().unwrap_or_default();
    if RESERVED_PATHS.contains(&first) {
        return ("", path);
    }
    // A second slash is no other spelling of a path: a proxy may have a rule for the first one.
    if first.is_empty() {
        return ("", "");
    }
    let names = if first == "server" { 2 } else { 1 };
    match path.match_indices('/').nth(names - 1) {
        Some((at, _)) => (&path[..at], &path[at + 1..]),
        None => (path, ""),
    }
}

/// A part of a path without percent encoding; `None` if it is empty or no UTF-8.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_the_main_endpoint_and_below_views() {
        let tool = |name: &str| RestRoute::Tool(name.to_owned());
        for (path, expected) in [
            ("/openapi.json", Some((RestRoute::OpenApi, ""))),
            ("/mcp/team/openapi.json", Some((RestRoute::OpenApi, "team"))),
            ("/mcp/tools", Some((RestRoute::Tools, ""))),
            ("/mcp/tools/git_log", Some((tool("git_log"), ""))),
            ("/mcp/tools/a%2Fb/execute", Some((RestRoute::Execute("a/b".to_owned()), ""))),
            ("/mcp/team/tools", Some((RestRoute::Tools, "team"))),
            ("/mcp/server/tools/tools/x", Some((tool("x"), "server/tools"))),
            ("/mcp/executions", Some((RestRoute::Executions, ""))),
            ("/mcp/team/executions/1/events", Some((RestRoute::ExecutionEvents("1".to_owned()), "team"))),
            ("/mcp/executions/1/answer", Some((RestRoute::Answer("1".to_owned()), ""))),
            ("/mcp/executions/1/other", None),
            ("/mcp/server/tools", None),
            ("/mcp/server/git", None),
            ("/mcp/team", None),
            ("/mcp", None),
            ("/mcp/tools/", None),
            ("/mcp//tools", None),
            ("/mcp//openapi.json", None),
            ("/mcp/tools/%zz", None),
            ("/mcp/tools/x/execute/y", None),
            ("/mcptools", None),
        ] {
            assert_eq!(RestRoute::of(path), expected, "{path}");
        }
    }
}
