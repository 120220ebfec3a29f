//! `toxic-flow`: no configuration combines untrusted content, private data and a way to send data
//! out.

use crate::{engine::Fleet, probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "toxic-flow",
    group: Group::Security,
    level: Level::Warning,
    summary: "no configuration brings together strangers' texts, private data and a way out",
    clause: Clause::practice("OWASP MCP Top 10", "MCP06 intent flow subversion"),
    why: "A text that one server fetches can order the model to read private data with another, and to send it away with a third.",
    fix: "Use such servers in separate configurations, or let a person approve every call of the one that sends.",
    needs: &[&LISTS],
    check: Check::Fleet(check),
    ..Rule::USUAL
};

/// Words in names of tools that read untrusted content.
const STRANGERS: &[&str] = &[
    "fetch_url",
    "fetch_page",
    "browse",
    "web_search",
    "read_email",
    "read_mail",
    "list_issues",
    "get_issue",
    "read_comments",
    "scrape",
    "download_url",
    "navigate",
];

/// Words in names of tools that read private data.
const PRIVATE: &[&str] = &[
    "read_file",
    "read_text_file",
    "read_multiple_files",
    "query_database",
    "execute_sql",
    "search_files",
    "read_note",
    "get_secret",
    "read_document",
    "list_contacts",
    "directory_tree",
];

/// Words in names of tools that send data out.
const OUT: &[&str] = &[
    "send_email",
    "send_mail",
    "send_message",
    "post_message",
    "http_request",
    "create_issue",
    "create_pull_request",
    "post_tweet",
    "upload_file",
    "webhook",
    "create_gist",
];

fn check(fleet: &Fleet<'_>) -> Verdict {
    let tools = super::fleet_tools(fleet);
    if tools.is_empty() {
        return Err(Skip::not_verified("no server listed tools"));
    }
    let of = |names: &[&str]| {
        tools.iter().find(|(_, tool)| {
            let lower = tool.to_ascii_lowercase().replace('-', "_");
            names.iter().any(|name| {
                lower == *name
                    || lower.ends_with(&format!("_{name}"))
                    || lower.starts_with(&format!("{name}_"))
            })
        })
    };
    let (Some(source), Some(private), Some(out)) = (of(STRANGERS), of(PRIVATE), of(OUT)) else {
        return Ok(Vec::new());
    };
    let message = format!(
        "`{}` of {} brings in strangers' texts, `{}` of {} reads private data, `{}` of {} sends it away",
        source.1, source.0, private.1, private.0, out.1, out.0
    );
    Ok(vec![Finding::new(message)])
}
