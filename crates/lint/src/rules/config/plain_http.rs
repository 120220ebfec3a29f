//! `plain-http`: servers elsewhere are reached over https.

use super::servers;
use crate::{
    engine::ConfigSubject,
    outcome::{Level, Verdict},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "plain-http",
    group: Group::Config,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "servers elsewhere are reached over https",
    clause: Clause::of("2025-11-25", "basic/authorization", "Communication Security"),
    why: "Everyone on the way reads and changes what tools get and return; tokens that are sent along are lost.",
    fix: "Use the https address of the server.",
    needs: &[],
    check: Check::Config(check),
};

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers(config)? {
        let Some(url) = server.url() else { continue };
        let local = match url.host() {
            Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        if url.scheme() == "http" && !local {
            let credentials = server.value["headers"].as_object().is_some_and(|headers| {
                headers.keys().any(|name| {
                    let name = name.to_ascii_lowercase();
                    name == "authorization" || name.contains("token") || name.contains("key") || name == "cookie"
                })
            });
            let host = url.host_str().unwrap_or_default();
            findings.push(if credentials {
                server.finding(format!("credentials go to http://{host} without encryption")).level(Level::Error)
            } else {
                server.finding(format!("it is reached at http://{host} without encryption"))
            });
        }
    }
    Ok(findings)
}
