//! `secret-parameters`: no tool wants a password or key as an argument.

use crate::{
    evidence::{Case, List},
    outcome::{Level, Verdict},
    probes::LISTS,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "secret-parameters",
    group: Group::Security,
    level: Level::Info,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no tool wants a password or key as an argument",
    clause: Clause::of("2025-11-25", "client/elicitation", "Security Considerations"),
    why: "Arguments pass through the model and its logs; a secret that goes that way is known to many.",
    fix: "Read credentials from the server's environment, or use the authorization of the protocol.",
    needs: &[&LISTS],
    check: Check::Server(check),
};

/// Names of members that hold secrets, without separators and in lower case.
const NAMES: &[&str] = &["password", "passwd", "passphrase", "apikey", "secretkey", "privatekey", "accesstoken", "clientsecret", "secretaccesskey"];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let properties = tool.value.pointer("/inputSchema/properties").and_then(Value::as_object);
        for name in properties.into_iter().flat_map(|properties| properties.keys()) {
            let plain: String = name.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
            if NAMES.contains(&plain.as_str()) {
                let message = format!("it wants `{name}` as an argument");
                findings.push(tool.finding(message, &format!("/inputSchema/properties/{name}")));
            }
        }
    }
    Ok(findings)
}
