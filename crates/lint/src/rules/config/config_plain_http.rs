//! `config-plain-http`: remote servers are reached by https.

use super::servers;
use crate::{
    engine::ConfigSubject,
    outcome::{Level, Verdict},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "config-plain-http",
    group: Group::Config,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no server of another machine is reached by plain http",
    clause: Clause::practice("configuration", "servers"),
    why: "Tokens and results are read by everybody on the way.",
    fix: "Use https, or a loopback address.",
    needs: &[],
    check: Check::Config(check),
};

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers::of(config)? {
        let Some(Value::String(address)) = server.value.get("url") else { continue };
        let Ok(url) = url::Url::parse(address) else {
            findings.push(server.finding(format!("`{address}` is not an address"), "/url"));
            continue;
        };
        let local = match url.host() {
            Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        if url.scheme() == "http" && !local {
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
