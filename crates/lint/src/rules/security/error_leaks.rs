//! `error-leaks`: errors do not reveal internals of the server.

use crate::{
    probes::{ENVELOPES, INJECTIONS, MALFORMED, TOOL_CALLS, UNKNOWN_METHOD, UNKNOWN_TOOL},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "error-leaks",
    group: Group::Security,
    level: Level::Warning,
    mode: Mode::Negative,
    summary: "errors tell what was wrong, not how the server is built",
    clause: Clause::practice("OWASP MCP Top 10", "MCP10 context over-sharing"),
    why: "Stack traces and paths show an attacker which software runs where, and they cost the model tokens that help nobody.",
    fix: "Log the trace on the server, and answer one sentence that the caller can act on.",
    needs: &[&TOOL_CALLS, &UNKNOWN_TOOL, &UNKNOWN_METHOD, &MALFORMED, &ENVELOPES, &INJECTIONS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Marks of stack traces.
const TRACES: &[(&str, &str)] = &[
    ("Traceback (most recent call last)", "a Python stack trace"),
    ("\n    at ", "a stack trace"),
    ("node_modules/", "the path of a module"),
    ("site-packages/", "the path of a module"),
    (".cargo/registry", "the path of a crate"),
    ("panicked at ", "a Rust panic"),
    ("goroutine ", "a Go stack trace"),
    ("java.lang.", "a Java exception"),
    ("System.Exception", "a .NET exception"),
    ("/home/", "a path of the server's machine"),
    ("/Users/", "a path of the server's machine"),
    ("C:\\Users\\", "a path of the server's machine"),
    ("PATH=/", "the environment of the server"),
    ("Cannot read properties of undefined", "an exception of the program"),
    ("NoneType' object", "an exception of the program"),
    ("NullPointerException", "an exception of the program"),
    ("SELECT * FROM", "an SQL statement"),
    ("error in your SQL syntax", "an SQL error"),
    ("syntax error at or near", "an SQL error"),
    ("psycopg", "an SQL error"),
    ("ORA-0", "an SQL error"),
    ("SQLSTATE", "an SQL error"),
    ("sqlite3.", "an SQL error"),
];

fn check(case: &Case<'_>) -> Verdict {
    let mut errors = 0;
    let mut findings: Vec<Finding> = Vec::new();
    for message in case.responses() {
        let failed = message.value["result"]["isError"] == true;
        let Some((part, pointer)) = message
            .value
            .get("error")
            .map(|error| (error, "/error"))
            .or_else(|| failed.then(|| (&message.value["result"], "/result")))
        else {
            continue;
        };
        errors += 1;
        let mut texts = Vec::new();
        collect(part, &mut texts);
        let leak = TRACES.iter().find(|(sign, _)| texts.iter().any(|text| text.contains(sign)));
        if let Some((_, what)) = leak
            && findings.iter().all(|known| known.about.as_deref() != Some(what))
        {
            let finding = Finding::new("it is part of an error message").about(*what);
            findings.push(finding.at(message.frame, message.pointer(pointer)));
        }
    }
    if errors == 0 { Err(Skip::not_verified("no error was seen")) } else { Ok(findings) }
}

fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => members.values().for_each(|item| collect(item, texts)),
        _ => {}
    }
}
