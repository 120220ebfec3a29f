//! `config-plain-http`: remote servers are reached by https.

use super::servers;
use crate::{engine::ConfigSubject, rules::prelude::*};
use serde_json::Value;
use trunkline_client::is_this_machine;

pub(super) static RULE: Rule = Rule {
    name: "config-plain-http",
    group: Group::Config,
    level: Level::Error,
    summary: "no server of another machine is reached by plain http",
    clause: Clause::practice("configuration", "servers"),
    why: "Tokens and results are read by everybody on the way.",
    fix: "Use https, or a loopback address.",
    needs: &[],
    check: Check::Config(check),
    ..Rule::USUAL
};

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers::of(config)? {
        let Some(Value::String(address)) = server.value.get("url") else { continue };
        let Ok(url) = url::Url::parse(address) else {
            findings.push(server.finding(format!("`{address}` is not an address"), "/url"));
            continue;
        };
        if url.scheme() == "http" && !is_this_machine(&url) {
            findings.push(
                server.finding(
                    format!("{} is reached by plain http", url.host_str().unwrap_or_default()),
                    "/url",
                ),
            );
        }
    }
    Ok(findings)
}
