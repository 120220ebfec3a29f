//! `policy replay`: compares the decisions of the policy with those of an audit trail.

use super::{
    recorded::{Decided, RecordedTool, Trail},
    word,
};
use crate::{
    commands::{Context, Ending},
    failure::Failure,
    render::safe,
    runtime,
    wire::gateway::{ByConfiguration, explain::Wanted},
};
use serde::Serialize;
use std::{fmt::Write as _, path::Path};
use trunkline_auth::Principal;
use trunkline_config::Loaded;
use trunkline_gateway::{Gateway, audit::tail, gateway::PossibleAccess, policy::RecordedCall};
use trunkline_secrets::counted;

/// The result of a replay.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Replay {
    /// Calls whose decision is known.
    compared: usize,
    different: Vec<Difference>,
    /// Calls whose decision depends on something that the trail does not have.
    undecided: Vec<Difference>,
    /// Calls that something else than the policy ended.
    not_by_policy: usize,
    /// Prompts and resources.
    other_methods: usize,
    unfinished: usize,
}

#[derive(Debug, Serialize)]
struct Difference {
    time: String,
    caller: String,
    tool: String,
    recorded: &'static str,
    /// The decision now, or all possible ones.
    now: Vec<String>,
    by: Vec<String>,
}

pub(super) fn run(
    context: &Context,
    (dir, last): (&Path, usize),
    loaded: &Loaded,
) -> Result<Ending, Failure> {
    let lines = tail(dir, last)
        .map_err(|error| Failure::usage(format!("the trail in {} cannot be read: {error}", dir.display())))?;
    let trail = Trail::read(lines.iter().map(String::as_str));
    if trail.calls.is_empty() {
        return Err(Failure::usage(format!("the trail in {} has no tool calls", dir.display()))
            .hint("`serve` says where it keeps its trail; each run has a directory of its own"));
    }
    let replay = runtime::start()?.block_on(async {
        let deciding = ByConfiguration::start(loaded, &context.environment).await?;
        let replay = replayed(deciding.gateway(), loaded, trail);
        deciding.stop().await;
        Ok::<_, Failure>(replay)
    })?;
    if context.output.json {
        context.print_json(&replay)?;
    } else {
        context.print(&text(&replay))?;
    }
    Ok(if replay.different.is_empty() { Ending::Fine } else { Ending::Findings })
}

fn replayed(gateway: &Gateway, loaded: &Loaded, trail: Trail) -> Replay {
    let mut replay =
        Replay { other_methods: trail.others, unfinished: trail.unfinished, ..Replay::default() };
    for tool in trail.calls {
        if tool.decided == Decided::Otherwise {
            replay.not_by_policy += 1;
            continue;
        }
        let possible = possible(gateway, loaded, &tool);
        let fits = |it: &PossibleAccess| class(word(Some(&it.access))) == tool.decided;
        // A tool that is not offered any more is refused.
        let (all, any) = match possible.as_slice() {
            [] => (tool.decided == Decided::Deny, tool.decided == Decided::Deny),
            possible => (possible.iter().all(fits), possible.iter().any(fits)),
        };
        if all || !any {
            replay.compared += 1;
        }
        if all {
            continue;
        }
        let list = if any { &mut replay.undecided } else { &mut replay.different };
        list.push(difference(&tool, &possible));
    }
    replay
}

/// The decisions about a recorded call. The trail does not tell its view, so the first view that
/// offers the tool counts.
fn possible(gateway: &Gateway, loaded: &Loaded, tool: &RecordedTool) -> Vec<PossibleAccess> {
    let settings = &loaded.settings;
    let alone = settings.servers.keys().map(|server| format!("server/{server}"));
    let views = settings.views.keys().cloned().chain(alone).map(Some);
    for view in std::iter::once(None).chain(views) {
        let wanted =
            Wanted { tool: tool.tool.clone(), view, caller: Some(tool.caller.clone()), ..Wanted::default() };
        let recorded = RecordedCall {
            call: wanted.call(wanted.assumed_caller(settings)),
            at: tool.at,
            is_caller_whole: wanted.is_known(settings)
                || !matches!(
                    Principal::from_rule(&tool.caller),
                    Principal::Token { .. } | Principal::Key { .. }
                ),
            arguments: tool.arguments.clone(),
        };
        let found = gateway.possible_accesses(&recorded);
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

fn class(decision: &str) -> Decided {
    match decision {
        "allow" => Decided::Allow,
        "ask" => Decided::Ask,
        _ => Decided::Deny,
    }
}

fn difference(tool: &RecordedTool, possible: &[PossibleAccess]) -> Difference {
    let mut now: Vec<String> = possible.iter().map(|it| word(Some(&it.access)).to_owned()).collect();
    let mut by: Vec<String> = possible.iter().map(|it| it.rule.clone()).collect();
    if possible.is_empty() {
        now.push("hidden".to_owned());
        by.push("no such tool is offered".to_owned());
    }
    now.dedup();
    by.dedup();
    Difference {
        time: tool.time.clone(),
        caller: tool.caller.clone(),
        tool: tool.tool.clone(),
        recorded: match tool.decided {
            Decided::Allow => "allow",
            Decided::Ask => "ask",
            Decided::Deny | Decided::Otherwise => "deny",
        },
        now,
        by,
    }
}

fn text(replay: &Replay) -> String {
    let mut text = String::new();
    let mut line = |words: &str| writeln!(text, "{}", safe::line(words)).expect("a String takes any text");
    for one in &replay.different {
        let (now, by) = (one.now.join(" or "), one.by.join(", "));
        line(&format!("{} {} by {}: {} → {now}, {by}", one.time, one.tool, one.caller, one.recorded));
    }
    for one in &replay.undecided {
        let now = one.now.join(" or ");
        line(&format!("{} {} by {}: {} → {now}?", one.time, one.tool, one.caller, one.recorded));
    }
    let compared = counted(replay.compared, "call");
    line(&format!("{compared} compared, {} decided otherwise", replay.different.len()));
    if !replay.undecided.is_empty() {
        let count = counted(replay.undecided.len(), "call");
        line(&format!("{count} undecided: the trail has no values of arguments, claims or client names"));
    }
    let rest = [
        (replay.not_by_policy, "refused or cancelled without the policy"),
        (replay.other_methods, "of prompts and resources"),
        (replay.unfinished, "without an end"),
    ];
    for (count, what) in rest.into_iter().filter(|(count, _)| *count > 0) {
        line(&format!("{} {what}: not replayed", counted(count, "call")));
    }
    text
}
