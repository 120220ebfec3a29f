//! The tool calls of an audit trail, with the decisions about them.

use serde::Deserialize;
use std::{
    collections::{BTreeMap, HashMap},
    time::SystemTime,
};
use trunkline_gateway::policy::{RecordedArguments, timestamp};
use trunkline_protocol::method;

/// The decision that a trail records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decided {
    Allow,
    /// A person was asked.
    Ask,
    /// Denied, or answered like an unknown tool.
    Deny,
    /// Refused before or without the policy, such as by a rate limit.
    Otherwise,
}

/// One tool call.
#[derive(Debug, Clone)]
pub(super) struct RecordedTool {
    pub(super) time: String,
    pub(super) at: SystemTime,
    pub(super) caller: String,
    pub(super) tool: String,
    pub(super) arguments: RecordedArguments,
    pub(super) decided: Decided,
}

/// All of a trail that concerns tools.
#[derive(Debug, Default)]
pub(super) struct Trail {
    pub(super) calls: Vec<RecordedTool>,
    /// Calls of other methods that name something: prompts and resources.
    pub(super) others: usize,
    /// Calls without an end: they were running, or the process was killed.
    pub(super) unfinished: usize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line {
    kind: String,
    time: String,
    call: String,
    caller: String,
    method: String,
    target: Option<String>,
    arguments: BTreeMap<String, u64>,
    outcome: String,
    code: Option<String>,
    what: String,
    detail: String,
}

impl Trail {
    pub(super) fn read<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let (mut trail, mut open) = (Self::default(), HashMap::<String, RecordedTool>::new());
        for line in lines {
            let Ok(line) = serde_json::from_str::<Line>(line) else { continue };
            match line.kind.as_str() {
                "start" if line.method == method::TOOLS_CALL => {
                    if let Some(tool) = started(&line) {
                        open.insert(line.call.clone(), tool);
                    }
                }
                "start" if line.target.is_some() => trail.others += 1,
                "event" => open.values_mut().filter(|tool| is_asked(tool, &line)).for_each(|tool| {
                    tool.decided = Decided::Ask;
                }),
                "end" => {
                    if let Some(mut tool) = open.remove(&line.call) {
                        tool.decided = ended(&line, tool.decided);
                        trail.calls.push(tool);
                    }
                }
                _ => {}
            }
        }
        trail.unfinished = open.len();
        trail
    }
}

fn started(line: &Line) -> Option<RecordedTool> {
    let is_whole = !line.arguments.keys().any(|name| name.contains("...") || name.contains("***"));
    Some(RecordedTool {
        time: line.time.clone(),
        at: timestamp(&line.time)?,
        caller: line.caller.clone(),
        tool: line.target.clone()?,
        arguments: RecordedArguments { names: line.arguments.keys().cloned().collect(), is_whole },
        decided: Decided::Allow,
    })
}

/// True if the event says that a person was asked about the call, or had agreed before.
fn is_asked(tool: &RecordedTool, event: &Line) -> bool {
    let concerns = event.what.starts_with("approval-") || event.what.starts_with("consent-");
    concerns
        && event.detail.contains(&format!("`{}`", tool.tool))
        && (event.caller == tool.caller || event.detail.contains(&format!(" of {}", tool.caller)))
}

fn ended(end: &Line, so_far: Decided) -> Decided {
    match (end.code.as_deref(), end.outcome.as_str()) {
        (Some("E204" | "E225"), _) => Decided::Deny,
        (Some("E226" | "E227"), _) => Decided::Ask,
        (Some("E213" | "E401"), _) | (_, "cancelled" | "panicked" | "refused") => Decided::Otherwise,
        _ => so_far,
    }
}
