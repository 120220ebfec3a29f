//! `suspicious-links`: texts contain no suspicious links.

use super::texts::{self, Text};
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    name: "suspicious-links",
    group: Group::Security,
    level: Level::Warning,
    summary: "no text has encoded blobs, shortened links or links to bare addresses",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "Nobody can see where such a link leads or what such a blob says; models follow and decode them.",
    fix: "Write out the address with its name, and the text in plain language.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let texts = texts::of(case)?;
    Ok(texts.iter().filter_map(judge).collect())
}

const SHORTENERS: [&str; 8] =
    ["bit.ly/", "tinyurl.com/", "t.co/", "goo.gl/", "is.gd/", "ow.ly/", "rb.gy/", "cutt.ly/"];

/// Shorter runs are identifiers and hashes.
const BLOB: usize = 120;

/// Minimum number of different characters in encoded data.
const VARIED: usize = 3;

fn judge(text: &Text<'_>) -> Option<Finding> {
    let lower = text.words.to_lowercase();
    if let Some(host) = SHORTENERS.iter().find(|host| lower.contains(&format!("//{host}"))) {
        return Some(text.finding(format!("the text links to the shortener {}", host.trim_end_matches('/'))));
    }
    if let Some(address) = lower.split("http://").skip(1).find(|rest| is_address(rest)) {
        let shown: String = address.chars().take_while(|c| !c.is_whitespace()).take(40).collect();
        return Some(text.finding(format!("the text links to the bare address {shown}")));
    }
    let plain = |word: &&str| {
        word.len() > BLOB && word.chars().all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c))
    };
    let varied = |word: &&str| word.chars().collect::<BTreeSet<_>>().len() > VARIED;
    let blob = text.words.split_whitespace().filter(plain).find(varied)?;
    Some(text.finding(format!("the text has an encoded blob of {} characters", blob.len())))
}

/// True if a host is an IPv4 address of another machine.
fn is_address(rest: &str) -> bool {
    let host: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    host.parse::<std::net::Ipv4Addr>()
        .is_ok_and(|address| !address.is_loopback() && !address.is_unspecified())
}
