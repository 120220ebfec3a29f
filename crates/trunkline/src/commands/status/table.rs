//! Formats the status page as a table.

use super::seen::{Cost, Error, Health, Seen, Upstream};
use crate::render::safe;
use anstyle::{AnsiColor, Style};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

const HEADING: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const COMING: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const PLAIN: Style = Style::new();

const COLUMNS: [&str; 10] =
    ["server", "state", "for", "tools", "calls", "failed", "now", "p50", "p99", "restarts"];

/// The columns of a page from which the figures of calls are withheld.
const PARTIAL: usize = 4;

/// A piece of text and its style.
struct Cell {
    text: String,
    style: Style,
}

pub(super) fn text(seen: &Seen) -> String {
    let mut out = String::new();
    let name = if seen.gateway.name.is_empty() { "gateway" } else { &seen.gateway.name };
    put(&mut out, HEADING, &format!("{name} {}", seen.gateway.version));
    put(&mut out, PLAIN, &format!(", up {}", time(seen.gateway.uptime_ms)));
    if seen.config.generation > 0 {
        put(&mut out, PLAIN, &format!(", settings no. {}", seen.config.generation));
    }
    out.push('\n');
    if let Some(means) = &seen.gateway.processes {
        put(&mut out, PLAIN, &format!("processes of servers and jobs: {means}"));
        out.push('\n');
    }
    if let Some(means) = &seen.gateway.landlock {
        put(&mut out, PLAIN, &format!("file restriction by the kernel (Landlock): {means}"));
        out.push('\n');
    }
    if let Some(error) = &seen.config.last_error {
        put(&mut out, BAD, "newer settings are not in force: ");
        put(&mut out, PLAIN, &error.text);
        out.push('\n');
    }
    if let Some(file) = &seen.config.waiting_for_approval {
        put(&mut out, COMING, "waits for `trunkline config approve`: ");
        put(&mut out, PLAIN, file);
        if !seen.config.waiting_servers.is_empty() {
            put(&mut out, PLAIN, &format!(" ({})", seen.config.waiting_servers.join(", ")));
        }
        out.push('\n');
    }
    out.push('\n');
    if seen.upstreams.is_empty() {
        out.push_str("no servers behind it\n");
    } else {
        rows(&mut out, seen);
    }
    remarks(&mut out, &seen.upstreams);
    if !seen.catalog.views.is_empty() {
        let views: Vec<String> = seen.catalog.views.iter().map(|name| format!("/mcp/{name}")).collect();
        put(&mut out, PLAIN, &format!("\nviews: {}\n", views.join(", ")));
    }
    costs(&mut out, &seen.catalog.costs);
    if let Some(withheld) = &seen.withheld {
        put(&mut out, PLAIN, &format!("\nnot shown: {}\n", safe::line(withheld)));
    }
    out
}

/// The tokens that the tools of each view cost a model.
fn costs(out: &mut String, costs: &[Cost]) {
    for cost in costs.iter().filter(|cost| cost.tools > 0) {
        let path = if cost.view.is_empty() { "/mcp".to_owned() } else { format!("/mcp/{}", cost.view) };
        let mut line = format!("{path}: {} tools, about {} tokens", cost.tools, cost.listed_tokens);
        if cost.listed_tokens != cost.all_tokens {
            write!(line, " as listed, {} whole", cost.all_tokens).expect("a String takes any text");
        }
        put(out, PLAIN, &safe::line(&line));
        if let Some(budget) = cost.budget.filter(|budget| cost.listed_tokens > *budget) {
            put(out, BAD, &format!(", more than its budget of {budget}"));
        }
        out.push('\n');
    }
}

fn rows(out: &mut String, seen: &Seen) {
    let columns = if seen.withheld.is_some() { PARTIAL } else { COLUMNS.len() };
    let heading = COLUMNS.map(|text| Cell { text: text.to_owned(), style: HEADING });
    let rows: Vec<[Cell; COLUMNS.len()]> =
        [heading].into_iter().chain(seen.upstreams.iter().map(|one| row(one, seen.tools(one)))).collect();
    let widths: [usize; COLUMNS.len()] = std::array::from_fn(|column| {
        rows.iter().map(|row| row[column].text.width()).max().unwrap_or_default()
    });
    for row in &rows {
        let mut line = String::new();
        let last = row.iter().rposition(|cell| !cell.text.is_empty()).unwrap_or_default();
        for (cell, width) in row[..=last].iter().zip(widths).take(columns) {
            if !line.is_empty() {
                line.push_str("  ");
            }
            put(&mut line, cell.style, &cell.text);
            line.extend(std::iter::repeat_n(' ', width - cell.text.width()));
        }
        out.push_str(line.trim_end_matches(' '));
        out.push('\n');
    }
}

fn row(upstream: &Upstream, tools: Option<u64>) -> [Cell; COLUMNS.len()] {
    let style = match upstream.health() {
        Health::Well => GOOD,
        Health::Coming => COMING,
        Health::Down => BAD,
    };
    let plain = |text: String| Cell { text: safe::line(&text), style: PLAIN };
    let state = if upstream.breaker == "open" {
        format!("{} (breaker open)", upstream.state)
    } else if upstream.by_command {
        format!("{} (by command)", upstream.state)
    } else {
        upstream.state.clone()
    };
    let stale = if upstream.stale { " (old)" } else { "" };
    let latency = |pick: fn(&super::seen::Latency) -> f64| {
        upstream.latency.as_ref().map(|latency| millis(pick(latency))).unwrap_or_default()
    };
    let failed = upstream.calls.failed;
    [
        plain(upstream.name.clone()),
        Cell { text: safe::line(&state), style },
        plain(time(upstream.for_ms)),
        plain(tools.map_or("-".to_owned(), |tools| format!("{tools}{stale}"))),
        plain(upstream.calls.total.to_string()),
        Cell { text: failed.to_string(), style: if failed > 0 { COMING } else { PLAIN } },
        plain(upstream.calls.in_flight.to_string()),
        plain(latency(|latency| latency.p50_ms)),
        plain(latency(|latency| latency.p99_ms)),
        plain(upstream.restarts.to_string()),
    ]
}

/// Lists the errors of unavailable servers, and the tools that are not served.
fn remarks(out: &mut String, upstreams: &[Upstream]) {
    let mut lines = Vec::new();
    for one in upstreams {
        if one.health() != Health::Well
            && let Some(error) = &one.last_error
        {
            let next = one.next_try_ms.map(|ms| format!("; next try in {}", time(ms))).unwrap_or_default();
            let more = format!("`trunkline doctor {}` says more", one.name);
            lines.push((&one.name, format!("{}{next}; {more}", told(error))));
        }
        let warnings = one.lists.iter().filter_map(|list| Some((&list.kind, list.warning.as_ref()?)));
        lines.extend(warnings.map(|(kind, warning)| (&one.name, format!("{kind}: {warning}"))));
        for item in &one.quarantined {
            let name = item.name.as_deref().unwrap_or("without a name");
            lines.push((&one.name, format!("not served: {} `{name}`: {}", item.kind, item.reason)));
        }
    }
    if !lines.is_empty() {
        out.push('\n');
    }
    for (name, line) in lines {
        put(out, COMING, name);
        put(out, PLAIN, &format!(": {line}"));
        out.push('\n');
    }
}

fn told(error: &Error) -> String {
    let code = error.code.as_deref().map(|code| format!("[{code}] ")).unwrap_or_default();
    format!("{code}{}", safe::line(&error.text))
}

/// Appends styled text. The writer removes styles if the output is not a terminal.
fn put(out: &mut String, style: Style, text: &str) {
    write!(out, "{style}{}{style:#}", safe::text(text)).expect("a String takes all text");
}

/// Formats a duration in its one or two largest units.
fn time(ms: u64) -> String {
    let (seconds, minutes, hours) = (ms / 1000, ms / 60_000, ms / 3_600_000);
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds} s"),
        60..3600 => format!("{minutes} min"),
        3600..86_400 => format!("{hours} h {} min", minutes % 60),
        _ => format!("{} d {} h", hours / 24, hours % 24),
    }
}

fn millis(ms: f64) -> String {
    if ms < 10.0 { format!("{ms:.1} ms") } else { format!("{ms:.0} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn page() -> Value {
        json!({
            "gateway": {"name": "trunkline", "version": "0.1.0", "startedAt": 1, "uptimeMs": 11_520_000},
            "config": {"generation": 4, "lastError": {"text": "trunkline.json:3:7: no key `urll`; did you mean `url`?", "at": 1}},
            "catalog": {"generation": 9, "servers": [], "views": ["files", "review"]},
            "upstreams": [
                {"name": "files", "state": "ready", "forMs": 11_000_000, "breaker": "closed", "restarts": 0,
                 "calls": {"inFlight": 1, "waiting": 0, "total": 1204, "failed": 3, "refused": 0},
                 "latency": {"p50Ms": 1.25, "p99Ms": 48.7, "calls": 900}, "stale": false,
                 "lists": [{"kind": "tools", "items": 14, "quarantined": 1}, {"kind": "resources", "items": 2, "quarantined": 0}],
                 "quarantined": [{"kind": "tools", "index": 3, "name": "wipe", "reason": "its schema is not an object"}]},
                {"name": "日本", "state": "lost", "forMs": 12_000, "breaker": "closed", "restarts": 7, "nextTryMs": 800,
                 "lastError": {"code": "E216", "name": "cannot-connect", "text": "connection refused\u{1b}[2J\nby force", "at": 1},
                 "calls": {"inFlight": 0, "waiting": 0, "total": 2, "failed": 0, "refused": 9}, "stale": true,
                 "lists": [{"kind": "tools", "items": 7, "quarantined": 0, "warning": "only the first 7 were read"}], "quarantined": []},
                {"name": "git", "state": "idle", "forMs": 400, "breaker": "closed", "calls": {}, "lists": [], "future": [1]},
                {"name": "web", "state": "connecting", "forMs": 1500},
            ],
            "more": true,
        })
    }

    fn seen(page: Value) -> Seen {
        Seen::read(&page.into()).unwrap()
    }

    #[test]
    fn a_page_becomes_a_table() {
        let text = text(&seen(page()));
        insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string(), @r"
        trunkline 0.1.0, up 3 h 12 min, settings no. 4
        newer settings are not in force: trunkline.json:3:7: no key `urll`; did you mean `url`?

        server  state       for        tools    calls  failed  now  p50     p99    restarts
        files   ready       3 h 3 min  14       1204   3       1    1.2 ms  49 ms  0
        日本    lost        12 s       7 (old)  2      0       0                   7
        git     idle        400 ms     -        0      0       0                   0
        web     connecting  1 s        -        0      0       0                   0

        files: not served: tools `wipe`: its schema is not an object
        日本: [E216] connection refused␛[2J by force; next try in 800 ms; `trunkline doctor 日本` says more
        日本: tools: only the first 7 were read

        views: /mcp/files, /mcp/review
        ");
        assert!(!text.contains("\u{1b}[2J"), "what servers say is made harmless");
        assert!(
            text.contains(&format!("{GOOD}ready{GOOD:#}")) && text.contains(&format!("{BAD}lost{BAD:#}"))
        );
    }

    #[test]
    fn well_is_only_what_can_be_called() {
        assert!(!seen(page()).is_well());
        let mut fine = page();
        fine["upstreams"] = json!([{"state": "ready", "breaker": "closed"}, {"state": "idle"}]);
        assert!(seen(fine.clone()).is_well());
        for worse in [
            json!({"state": "ready", "breaker": "open"}),
            json!({"state": "connecting"}),
            json!({"state": "failed"}),
            json!({}),
        ] {
            fine["upstreams"][1] = worse;
            assert!(!seen(fine.clone()).is_well());
        }
        fine["upstreams"] = json!([]);
        assert!(text(&seen(fine)).contains("no servers behind it"));
        assert_eq!(Seen::read(&json!({"you": 1}).into()).unwrap_err().exit_code(), 3);
    }
}
