//! `config-secret-in-url`: no address holds a token or password.

use super::servers;
use crate::{engine::ConfigSubject, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "config-secret-in-url",
    group: Group::Config,
    level: Level::Error,
    summary: "no address holds a token or password",
    clause: Clause::of("2025-11-25", "basic/authorization", "Token Requirements"),
    why: "URLs end up in logs, histories and error messages of every system on the way.",
    fix: "Send the token in a header, and refer to it (`${NAME}`).",
    needs: &[],
    check: Check::Config(check),
    ..Rule::USUAL
};

/// Names of query parameters that hold secrets.
const NAMES: &[&str] = &["token", "access_token", "api_key", "apikey", "key", "secret", "password", "auth"];

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers::of(config)? {
        let Some(url) = server.url() else { continue };
        if url.password().is_some() {
            findings.push(server.wrong("the address holds a password"));
        }
        let secret = url.query_pairs().find(|(name, value)| {
            NAMES.contains(&name.to_ascii_lowercase().as_str())
                && !value.is_empty()
                && !value.contains(['$', '{'])
        });
        if let Some((name, _)) = secret {
            let finding = server.wrong(format!("the address holds a secret in `{name}`"));
            findings.push(match config.dialect().reference("NAME") {
                Some(reference) => {
                    finding.fix(format!("Send the token in a header, and refer to it: `{reference}`."))
                }
                None => finding.fix("Send the token in a header."),
            });
        }
    }
    Ok(findings)
}
