//! `elicits-secrets`: no form asks the user for a password or key.

use crate::{
    evidence::Case,
    outcome::{Finding, Level, Verdict},
    probes::{LISTS, TOOL_CALLS, TOOL_CALL_STEP},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "elicits-secrets",
    group: Group::Security,
    level: Level::Error,
    mode: Mode::Active,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no form asks the user for a password or key",
    clause: Clause::of("2025-11-25", "client/elicitation", "Security Considerations"),
    why: "What the user types into a form passes through the client and its logs; secrets belong on a page of the server.",
    fix: "Use elicitation of the mode `url` for credentials.",
    needs: &[&LISTS, &TOOL_CALLS],
    check: Check::Server(check),
};

/// Parts of names, in lower case.
const NAMES: &[&str] = &["password", "passwd", "passphrase", "api_key", "apikey", "secret", "private_key", "credit_card", "cvv", "pin_code"];

fn check(case: &Case<'_>) -> Verdict {
    case.all(&TOOL_CALLS, TOOL_CALL_STEP)?;
    let mut findings: Vec<Finding> = Vec::new();
    for message in case.messages() {
        let direct = (message.method() == Some("elicitation/create")).then_some((&message.value["params"], "/params".to_owned()));
        let inside = message.value["result"]["inputRequests"].as_object().into_iter().flatten();
        let inside = inside.map(|(key, request)| (&request["params"], format!("/result/inputRequests/{key}/params")));
        for (params, pointer) in direct.into_iter().chain(inside) {
            let fields = params.pointer("/requestedSchema/properties").and_then(Value::as_object);
            let secret = fields.into_iter().flat_map(|fields| fields.keys()).find(|name| {
                let lower = name.to_ascii_lowercase();
                NAMES.iter().any(|part| lower.contains(part))
            });
            if let Some(name) = secret {
                let finding = Finding::new(format!("a form asks for `{name}`"));
                findings.push(finding.at(message.frame, message.pointer(&format!("{pointer}/requestedSchema/properties/{name}"))));
            }
        }
    }
    Ok(findings)
}
