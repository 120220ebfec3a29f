//! `header-mismatch`: headers that contradict the body, or lack, are refused with 400 and -32020.

use crate::{
    evidence::Case,
    outcome::{Level, Verdict},
    probes::{HEADER_MISMATCH_STEP, HTTP_HEADERS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use trunkline_protocol::Era;

pub(super) static RULE: Rule = Rule {
    name: "header-mismatch",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    carriers: Carriers::StreamableHttp,
    summary: "headers that contradict the body, or lack, are refused with 400 and -32020",
    clause: Clause::of("2026-07-28", "basic/transports/streamable-http", "Server validation"),
    why: "Proxies decide by the headers; if the server goes by the body alone, a request that they would have stopped comes through.",
    fix: "Compare `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name` with the body, and answer HTTP 400 with the error -32020.",
    needs: &[&HTTP_HEADERS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let legacy = case.evidence().served.contains(&Era::Legacy);
    let mut findings = Vec::new();
    for asked in case.all(&HTTP_HEADERS, HEADER_MISMATCH_STEP)? {
        let Some(http) = asked.http() else { continue };
        let (variant, code) = (asked.variant(), asked.error_code());
        let version = variant.contains("MCP-Protocol-Version");
        // Servers of both eras take a request without the version for one of an early client.
        if legacy && variant == "no `MCP-Protocol-Version`" {
            continue;
        }
        let named = code == Some(-32020) || version && code == Some(-32022);
        let finding = if asked.result().is_some() {
            asked.finding("the request was served", "")
        } else if http.status == 400 && named {
            continue;
        } else if http.status == 400 || named {
            let message = format!("the request is refused with HTTP {} and {}, not with 400 and -32020", http.status, shown(code));
            asked.finding(message, "/error/code").level(Level::Info)
        } else {
            let message = format!("the request is not refused for its headers: HTTP {}, {}", http.status, shown(code));
            asked.finding(message, "/error/code")
        };
        findings.push(finding.about(variant));
    }
    Ok(findings)
}

fn shown(code: Option<i64>) -> String {
    code.map_or("no error".to_owned(), |code| format!("the error {code}"))
}
