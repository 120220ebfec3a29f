//! `config-unverified-tls`: certificates are checked.

use super::servers;
use crate::{engine::ConfigSubject, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "config-unverified-tls",
    group: Group::Config,
    level: Level::Error,
    summary: "certificates are checked",
    clause: Clause::of("2025-11-25", "basic/authorization", "Communication Security"),
    why: "Anyone between the server and its API can answer in its place, and nothing shows it.",
    fix: "Remove the variable or flag; give the certificate of your own authority with `NODE_EXTRA_CA_CERTS` or `SSL_CERT_FILE`.",
    needs: &[],
    check: Check::Config(check),
    ..Rule::USUAL
};

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers::of(config)? {
        let off = |name: &str, value: &str| {
            matches!(
                (name, value),
                (
                    "NODE_TLS_REJECT_UNAUTHORIZED" | "PYTHONHTTPSVERIFY" | "SSL_VERIFY" | "VERIFY_SSL",
                    "0" | "false" | "False"
                )
            )
        };
        let variable = server.env().into_iter().find(|(name, value)| off(name, value));
        let flag = server.args().into_iter().find(|arg| {
            matches!(
                *arg,
                "--insecure" | "--no-check-certificate" | "--no-verify-ssl" | "--allow-insecure-tls"
            )
        });
        if let Some(what) = variable.map(|(name, _)| name).or(flag) {
            findings.push(server.wrong(format!("it is told not to check certificates: `{what}`")));
        }
    }
    Ok(findings)
}
