//! `config-look-alike-package`: no package name imitates that of a well-known server.

use super::servers;
use crate::{engine::ConfigSubject, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "config-look-alike-package",
    group: Group::Config,
    level: Level::Error,
    summary: "package names are those of the well-known servers, not almost",
    clause: Clause::practice("OWASP MCP Top 10", "MCP04 supply chain"),
    why: "A name that differs in one letter is how a hostile package gets started by people who believe to know it.",
    fix: "Compare the name with the one in the server's own documentation.",
    needs: &[],
    check: Check::Config(check),
    ..Rule::USUAL
};

/// Packages of well-known servers.
const KNOWN: &[&str] = &[
    "@modelcontextprotocol/server-everything",
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/server-memory",
    "@modelcontextprotocol/server-sequential-thinking",
    "@modelcontextprotocol/server-github",
    "@modelcontextprotocol/server-postgres",
    "@modelcontextprotocol/server-puppeteer",
    "@modelcontextprotocol/server-slack",
    "@modelcontextprotocol/server-brave-search",
    "@modelcontextprotocol/inspector",
    "@playwright/mcp",
    "@upstash/context7-mcp",
    "firecrawl-mcp",
    "mcp-server-fetch",
    "mcp-server-git",
    "mcp-server-time",
    "mcp-server-sqlite",
    "mcp-remote",
    "figma-developer-mcp",
    "@notionhq/notion-mcp-server",
    "@sentry/mcp-server",
    "@supabase/mcp-server-supabase",
    "@stripe/mcp",
    "chrome-devtools-mcp",
    "mcp-atlassian",
    "fastmcp",
];

/// Maximum edit distance of a look-alike name.
const NEAR: usize = 2;

fn check(config: &ConfigSubject) -> Verdict {
    let mut findings = Vec::new();
    for server in servers::of(config)? {
        let Some(package) = server.package() else { continue };
        let near = KNOWN.iter().find(|known| {
            let distance = strsim::damerau_levenshtein(known, package);
            // For short names, a distance of two matches too many legitimate names.
            distance > 0 && distance <= if known.len() > 20 { NEAR } else { 1 }
        });
        if let (Some(known), false) = (near, KNOWN.contains(&package)) {
            findings.push(server.wrong(format!("`{package}` looks like `{known}`")));
        }
    }
    Ok(findings)
}
