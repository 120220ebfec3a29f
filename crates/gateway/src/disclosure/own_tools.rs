//! The tools that a view lists in place of others, or beside them.

use super::Disclosure;
use crate::{catalog::Route, rewrite};
use serde_json::json;
use std::fmt::Write as _;
use trunkline_protocol::Raw;

/// A tool of the view itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnTool {
    Search,
    Describe,
    Call,
}

const ALL: [OwnTool; 3] = [OwnTool::Search, OwnTool::Describe, OwnTool::Call];

/// Most bytes of the summary of the tools that can be searched.
const SUMMARY_BYTES: usize = 2000;
/// Most tools that one server shows in the summary.
const SUMMARY_TOOLS: usize = 6;
/// Most characters of a description that is cut to one line.
const LINE: usize = 160;

impl OwnTool {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Search => "search_tools",
            Self::Describe => "describe_tool",
            Self::Call => "call_tool",
        }
    }

    /// The tool of the view itself that has this name, if the view has this disclosure.
    pub(crate) fn named(disclosure: Disclosure, name: &str) -> Option<Self> {
        of(disclosure).iter().copied().find(|tool| tool.name() == name)
    }
}

/// True if no server's tool may have this name in a view with this disclosure.
pub(crate) fn is_reserved(disclosure: Disclosure, name: &str) -> bool {
    // `auto` may become a search with the next tool, so it keeps the names free.
    let disclosure = if disclosure == Disclosure::Auto { Disclosure::Search } else { disclosure };
    OwnTool::named(disclosure, name).is_some()
}

/// The tools that are listed, each with a mark that is true if its server's list is stale.
pub(crate) fn listed(disclosure: Disclosure, visible: &[&Route]) -> Vec<(Raw, bool)> {
    let stale = |route: &Route| route.server().is_stale();
    match disclosure {
        Disclosure::All | Disclosure::Auto => {
            visible.iter().map(|route| (route.listing().clone(), stale(route))).collect()
        }
        Disclosure::Names => {
            let short = visible.iter().map(|route| (shortened(route), stale(route)));
            short.chain([(describe_tool(), false)]).collect()
        }
        Disclosure::Search => {
            vec![(search_tool(visible), false), (describe_tool(), false), (call_tool(), false)]
        }
    }
}

/// The first line of a text, without further white space, cut if it is long.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.trim().split_inclusive(['\n', '。']).next().unwrap_or_default();
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    let words: Vec<&str> = line[..end].split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LINE) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    }
}

fn of(disclosure: Disclosure) -> &'static [OwnTool] {
    match disclosure {
        Disclosure::All | Disclosure::Auto => &[],
        Disclosure::Names => &[OwnTool::Describe],
        Disclosure::Search => &ALL,
    }
}

/// A tool with its name, one line of its description and a schema that allows anything.
fn shortened(route: &Route) -> Raw {
    let description = route.listing().member("description");
    let line = description.as_ref().and_then(Raw::text).map(|text| one_line(&text)).unwrap_or_default();
    let annotations = route.listing().member("annotations");
    rewrite::outline(route.name(), &line, annotations.as_ref())
}

fn search_tool(visible: &[&Route]) -> Raw {
    let description = format!(
        "Search the tools that can be used here, by what they do. Ask in a few words or a sentence, in any \
         language; the answer has names, arguments and short descriptions, the best first. Then use \
         call_tool.\n\n{}",
        summary(visible)
    );
    json!({
        "name": OwnTool::Search.name(),
        "title": "Search tools",
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What the tool should do"},
                "server": {"type": "string", "description": "Only tools of this server"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "Default 10"},
            },
            "required": ["query"],
        },
        "annotations": {"readOnlyHint": true, "openWorldHint": false},
    })
    .into()
}

fn describe_tool() -> Raw {
    json!({
        "name": OwnTool::Describe.name(),
        "title": "Describe tools",
        "description": "The whole definitions of tools, with the schemas of their arguments.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "names": {
                    "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 20,
                    "description": "Names of tools",
                },
            },
            "required": ["names"],
        },
        "annotations": {"readOnlyHint": true, "openWorldHint": false},
    })
    .into()
}

fn call_tool() -> Raw {
    json!({
        "name": OwnTool::Call.name(),
        "title": "Call a tool",
        "description": "Call a tool that search_tools found. The answer is that of the tool.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Name of the tool"},
                "arguments": {"type": "object", "description": "The tool's arguments, by its own schema"},
            },
            "required": ["name"],
        },
    })
    .into()
}

/// The servers with their numbers of tools and some of the tools, within a budget.
fn summary(visible: &[&Route]) -> String {
    let mut servers: Vec<(&str, Vec<&str>)> = Vec::new();
    for route in visible {
        let name = route.server().name().as_ref();
        match servers.last_mut().filter(|(last, _)| *last == name) {
            Some((_, tools)) => tools.push(route.inner()),
            None => servers.push((name, vec![route.inner()])),
        }
    }
    let mut text = format!("{} tools of {} servers:", visible.len(), servers.len());
    let share = SUMMARY_BYTES / servers.len().max(1);
    for (place, (server, tools)) in servers.iter().enumerate() {
        let line = server_line(server, tools, share);
        if text.len() + line.len() > SUMMARY_BYTES {
            write!(text, "\n… and {} more servers", servers.len() - place).expect("a String takes any text");
            break;
        }
        text.push('\n');
        text.push_str(&line);
    }
    text
}

fn server_line(server: &str, tools: &[&str], share: usize) -> String {
    let mut line = format!("- {server} ({})", tools.len());
    let mut shown = 0;
    for tool in tools.iter().take(SUMMARY_TOOLS).map(|tool| one_line(tool)) {
        if line.len() + tool.len() + 4 > share {
            break;
        }
        line.push_str(if shown == 0 { ": " } else { ", " });
        line.push_str(&tool);
        shown += 1;
    }
    if shown > 0 && shown < tools.len() {
        line.push_str(", …");
    }
    line
}
