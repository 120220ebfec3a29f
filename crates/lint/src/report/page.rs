//! A rule's page, for `--explain` and for the reference.

use super::{CLIENT_LIMITS, ClientLimit};
use crate::{
    outcome::Level,
    rule::{Carriers, Eras, Group, Mode, Rule},
    rules,
};
use std::fmt::Write as _;

/// Limits other than the number of tools, with their sources.
const OTHER_LIMITS: &str = "
Other limits that rules rest on:

- Claude Code cuts descriptions and instructions after 2,048 characters (`description-length`): <https://code.claude.com/docs/en/mcp>.
- Claude Code takes 25,000 tokens of one result unless `MAX_MCP_OUTPUT_TOKENS` says otherwise (`result-size`): <https://code.claude.com/docs/en/mcp>, <https://developers.figma.com/docs/figma-mcp-server/mcp-clients-issues>.
- Cursor took the first 40 tools only until 2025 (`tool-list-size` warns from there on): <https://github.com/getsentry/sentry-mcp-stdio/issues/3>.
- Providers take names of 64 characters, with the prefix of the client in them (`host-limits`): <https://github.com/microsoft/mcp/issues/842>, <https://github.com/microsoft/vscode/issues/243602>.
- Copilot CLI refuses names with a dot (`host-limits`): <https://github.com/github/copilot-cli/issues/1879>.
";

/// The page of one rule, as Markdown.
pub fn page(rule: &Rule) -> String {
    let eras = match rule.eras {
        Eras::Legacy => "legacy (up to 2025-11-25)",
        Eras::Modern => "modern (2026-07-28)",
        Eras::Both => "both",
    };
    let carriers = match rule.carriers {
        Carriers::Any => "any",
        Carriers::Stdio => "stdio",
        Carriers::Http => "Streamable HTTP, HTTP+SSE",
        Carriers::StreamableHttp => "Streamable HTTP",
    };
    let mode = match rule.mode {
        Mode::Passive => "passive: asks what every client asks",
        Mode::Negative => "negative: sends malformed or unknown messages, calls no tool",
        Mode::Active => "active: calls tools (`--active`)",
        Mode::Fuzz => "fuzz: sends many generated messages (`--fuzz`; tools only with `--active`)",
    };
    let clause = match rule.clause.url() {
        Some(url) => format!("[{}]({url})", rule.clause),
        None => rule.clause.to_string(),
    };
    let mut summary = rule.summary.to_owned();
    if let Some(first) = summary.get(..1) {
        let first = first.to_uppercase();
        summary.replace_range(..1, &first);
    }
    let mut out = format!("# {}\n\n{summary}.\n\n", rule.name);
    for (name, value) in [
        ("Level", rule.level.as_str()),
        ("Group", rule.group.as_str()),
        ("Era", eras),
        ("Transport", carriers),
        ("Mode", mode),
        ("Rests on", &clause),
    ] {
        writeln!(out, "- {name}: {value}").expect("a string takes everything");
    }
    write!(out, "\n## Why it matters\n\n{}\n\n## How to fix it\n\n{}\n", rule.why, rule.fix)
        .expect("a string takes everything");
    out
}

/// The list of all rules, as Markdown.
pub fn index() -> String {
    let mut out = String::from(
        "# Lint rules\n\nGenerated from the rules themselves; `trunkline lint --explain RULE` prints the same pages.\n",
    );
    let count = |level: Level| rules::all().filter(|rule| rule.level == level).count();
    write!(
        out,
        "\n{} rules: {} critical, {} errors, {} warnings, {} infos.\n",
        rules::all().count(),
        count(Level::Critical),
        count(Level::Error),
        count(Level::Warning),
        count(Level::Info)
    )
    .expect("a string takes everything");
    for group in Group::ALL {
        let mut rules: Vec<&Rule> = rules::all().filter(|rule| rule.group == group).collect();
        if rules.is_empty() {
            continue;
        }
        rules.sort_by_key(|rule| rule.name);
        write!(out, "\n## {group}\n\n| rule | level | mode | how it should be |\n|---|---|---|---|\n")
            .expect("a string takes everything");
        for rule in rules {
            let (name, level, mode) = (rule.name, rule.level, rule.mode.as_str());
            writeln!(
                out,
                "| [{name}]({name}.md) | {level} | {mode} | {} |",
                rule.summary.replace('|', "\\|")
            )
            .expect("a string takes everything");
        }
    }
    out.push_str(
        "\n## What clients allow\n\nThe picture of the context cost measures the tool list against these. They hold for all servers together.\n\n\
         | client | tools | source |\n|---|---|---|\n",
    );
    for ClientLimit { client, tools, source } in CLIENT_LIMITS {
        writeln!(out, "| {client} | {tools} | <{source}> |").expect("a string takes everything");
    }
    out.push_str(OTHER_LIMITS);
    out
}
