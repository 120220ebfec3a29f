//! `error-code-range`: no error uses a reserved or withdrawn code.

use crate::{
    probes::{LISTS, UNKNOWN_METHOD, UNKNOWN_TOOL},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "error-code-range",
    group: Group::JsonRpc,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Modern,
    summary: "no error uses a reserved or withdrawn code",
    clause: Clause::of("2026-07-28", "basic", "Error Codes"),
    why: "Clients give reserved codes a meaning of their own: -32002 or -32042 from a modern server is read as something else than was meant.",
    fix: "Use the codes of JSON-RPC and of the specification, or own ones outside -32768 to -32000.",
    needs: &[&UNKNOWN_METHOD, &UNKNOWN_TOOL, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::<Finding>::new(), false);
    for message in case.responses() {
        let Some(code) = message.value.pointer("/error/code").and_then(serde_json::Value::as_i64) else {
            continue;
        };
        seen = true;
        let reserved = (-32099..=-32020).contains(&code) && !(-32022..=-32020).contains(&code);
        if reserved || matches!(code, -32002) {
            let text = format!("the error code {code} is reserved and not defined");
            if findings.iter().all(|known| known.message != text) {
                findings.push(
                    Finding::new(text)
                        .at(message.frame, message.pointer("/error/code"))
                        .about(code.to_string()),
                );
            }
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("the server sent no error")) }
}
