//! `config-secrets`: configuration files contain no secrets.

use super::servers;
use crate::{
    engine::{ConfigSubject, Dialect},
    pointer,
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "config-secrets",
    group: Group::Config,
    level: Level::Error,
    summary: "no variable or header of the file holds a secret in plain text",
    clause: Clause::practice("configuration", "servers"),
    why: "The file is copied, synchronised and checked in; the secret goes with it.",
    fix: "Refer to the environment or the keychain: `{env:NAME}` instead of the value.",
    needs: &[],
    check: Check::Config(check),
    ..Rule::USUAL
};

/// The fix in the syntax of the file.
fn fix(dialect: Dialect, name: &str) -> String {
    let variable: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    match (dialect.reference(&variable), dialect) {
        (Some(reference), Dialect::Ours) => {
            format!("Refer to the environment, a file or the keychain: `{reference}` instead of the value.")
        }
        (Some(reference), _) => format!("Refer to the environment: `{reference}` instead of the value."),
        (None, _) => {
            "This client replaces no variables: set it in a script that starts the server.".to_owned()
        }
    }
}

const TELLING: [&str; 6] = ["token", "key", "secret", "password", "authorization", "credential"];

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers::of(config)? {
        for holder in ["env", "environment", "headers"] {
            for (name, value) in server.value.get(holder).and_then(Value::as_object).into_iter().flatten() {
                let text = value.as_str().unwrap_or_default();
                let telling = TELLING.iter().any(|word| name.to_lowercase().contains(word));
                let referred = text.contains("{env:") || text.contains("${") || text.starts_with('$');
                if telling && text.len() >= 8 && !referred {
                    let message = format!("`{name}` holds a secret in plain text");
                    let place = format!("/{holder}/{}", pointer::escape(name));
                    findings.push(server.finding(message, &place).fix(fix(config.dialect(), name)));
                }
            }
        }
    }
    Ok(findings)
}
