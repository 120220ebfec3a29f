//! `config-reachable-server`: every server has a program to start or an address to reach, and not
//! both.

use super::servers;
use crate::{
    engine::{ConfigSubject, Dialect},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "config-reachable-server",
    group: Group::Config,
    level: Level::Error,
    summary: "every server has a program to start or an address to reach, and not both",
    clause: Clause::practice("practice", "configuration"),
    why: "The entry is ignored or fails at the start, and the client tells no more than that the server is not there.",
    fix: "Write either `command` with `args` as a list, or `url`.",
    needs: &[],
    check: Check::Config(check),
    ..Rule::USUAL
};

/// The fix for `trunkline.json`.
const OUR_FIX: &str = "Write either `\"command\": [\"program\", \"argument\"]`, or `url`, or `pack`.";

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    let ours = config.dialect() == Dialect::Ours;
    for server in servers::of(config)? {
        if ours && server.value.get("pack").is_some() {
            continue;
        }
        // Some clients, and we, write the program and its arguments as one list.
        let command = match &server.value["command"] {
            Value::Array(_) => Some(server.command().unwrap_or_default()),
            other => other.as_str().map(str::trim),
        };
        let url = server
            .value
            .get("url")
            .or_else(|| server.value.get("serverUrl"))
            .or_else(|| server.value.get("httpUrl"));
        let message = match (command, url) {
            (Some(_), Some(_)) => "it has both a command and an address",
            (None, None) => "it has neither a command nor an address",
            (Some(""), None) => "the command is empty",
            (None, Some(_)) if server.url().is_none() => "the address is no URL",
            (Some(command), None)
                if server.value["command"].is_string()
                    && command.contains(' ')
                    && server.value.get("args").is_none()
                    && !command.contains(['/', '\\']) =>
            {
                "the command is a whole line; its arguments must be separate strings"
            }
            _ if server.value.get("args").is_some_and(|args| !args.is_array()) => "`args` is no list",
            _ => continue,
        };
        let finding = server.wrong(message);
        findings.push(if ours { finding.fix(OUR_FIX) } else { finding });
    }
    Ok(findings)
}
