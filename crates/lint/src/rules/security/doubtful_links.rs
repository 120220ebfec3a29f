//! `doubtful-links`: links in texts name the host they lead to, and are encrypted.

use super::texts;
use crate::{
    evidence::Case,
    outcome::{Level, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "doubtful-links",
    group: Group::Security,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "links in texts name the host they lead to, and are encrypted",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "Behind a shortener or a bare address can be anything, and it can change after the tool was approved.",
    fix: "Write the full https address of a host that belongs to you.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

/// Hosts that stand for other hosts.
const SHORTENERS: &[&str] = &["bit.ly", "tinyurl.com", "t.co", "goo.gl", "is.gd", "ow.ly", "cutt.ly", "rebrand.ly", "shorturl.at", "rb.gy", "tiny.cc"];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for text in texts::all(case)? {
        for link in links(text.content) {
            let Ok(url) = url::Url::parse(link) else { continue };
            let finding = match url.host() {
                Some(url::Host::Domain(host)) if SHORTENERS.contains(&host) => {
                    text.finding(format!("a link goes to the shortener {host}"))
                }
                Some(url::Host::Ipv4(host)) if !host.is_loopback() && !host.is_private() && !host.is_unspecified() => {
                    text.finding(format!("a link goes to the bare address {host}"))
                }
                Some(url::Host::Domain(host)) if url.scheme() == "http" && !reserved(host) => {
                    text.finding(format!("a link goes to http://{host} without encryption")).level(Level::Info)
                }
                _ => continue,
            };
            findings.push(finding);
            break;
        }
    }
    Ok(findings)
}

fn links(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("http").map(|(at, _)| &text[at..]);
    starts
        .filter(|rest| rest.starts_with("http://") || rest.starts_with("https://"))
        .map(|rest| rest.split([' ', '\n', ')', '"', '\'', '`', '>', '<', ',', ']', '}']).next().unwrap_or_default())
}

/// Names for examples, this machine, and the names of schemas, which nobody opens.
fn reserved(host: &str) -> bool {
    host == "localhost" || host == "json-schema.org" || host.ends_with("w3.org")
        || ["example.com", "example.org", "example.net", ".example", ".test", ".invalid", ".local"].iter().any(|end| host.ends_with(end))
}
