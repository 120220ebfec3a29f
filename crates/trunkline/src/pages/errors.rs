//! Generates `errors.md`, the catalogue of failures.

use std::fmt::Write as _;
use trunkline_protocol::{
    Era, FaultKind,
    fault::{CATALOGUE, Entry},
};

const INTRODUCTION: &str = "\
# Errors

Every failure has a stable code: the command line prints it (`error[E216]: …`), and `--json`
gives it as `error.code`. This page is generated from the catalogue in
`crates/protocol/src/fault/catalogue.rs`.

*Retry* is `yes` if the same call may succeed later, unchanged. `if idempotent` means that the
failed call may have run: it may be repeated only if that does no harm (lists, reads, and tools
that are read-only or idempotent). *JSON-RPC* is the number that goes over the wire where we are
the server; two numbers are those of legacy and modern revisions. *HTTP* is the status of the
REST interface, *REST* its code.

## On the wire

A JSON-RPC error of ours has these members in `data`. An error of a server behind the gateway is
passed on unchanged.

| member | content |
|---|---|
| `code` | the name, such as `timeout` |
| `appCode` | the code, such as `E202` |
| `userMessage` | one sentence about this kind of failure |
| `suggestedAction` | what to do |
| `retryable` | `true` if this call may be repeated |
| `originalMcpCode` | the number of the server's error that led to it, if there was one |

A failed tool is a result with `isError`. If we made that result, `_meta[\"trunkline/code\"]`
tells failures apart: `E301` the tool failed, `E203` bad arguments, `E202` timeout. Results of
servers behind the gateway are not changed. A timeout of such a server is a JSON-RPC error
(E202).

## Classic errors

With `\"errors\": \"classic\"` in the configuration, or `serve --errors classic`, every failed
`tools/call` is a JSON-RPC error, also if a server answered with `isError`. The whole result is
then in `data.result`.

| failure | JSON-RPC |
|---|---|
| unknown tool | -32601 |
| bad arguments | -32602 |
| the tool failed, or its server broke off | -32603 |
| timeout | -32000 |

Other failures keep the numbers below.
";

const FAMILIES: [(&str, &str); 5] = [
    ("E0", "Files"),
    ("E1", "Addresses"),
    ("E2", "Servers and the protocol"),
    ("E3", "Processing"),
    ("E4", "Storage"),
];

pub(crate) fn errors() -> String {
    let mut page = INTRODUCTION.to_owned();
    for (family, title) in FAMILIES {
        write!(page, "\n## {title}\n").expect("a String takes any text");
        for (kind, entry) in CATALOGUE.iter().filter(|(_, entry)| entry.code.starts_with(family)) {
            page.push_str(&section(*kind, entry));
        }
    }
    page
}

fn section(kind: FaultKind, entry: &Entry) -> String {
    let retry = match (entry.retryable, kind.may_have_run()) {
        (true, true) => "if idempotent",
        (true, false) => "yes",
        (false, _) => "no",
    };
    let (legacy, modern) = (entry.rpc_code(Era::Legacy), entry.rpc_code(Era::Modern));
    let rpc = if legacy == modern { legacy.to_string() } else { format!("{legacy} / {modern}") };
    let Entry { code, name, user_message, suggested_action, http_status, rest_code, .. } = entry;
    format!(
        "\n### {code} {name}\n\n{user_message}.\n\n- What to do: {suggested_action}.\n- Retry: {retry} · JSON-RPC: {rpc} · HTTP: {http_status} · REST: `{rest_code}`\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_protocol::Fault;

    #[test]
    fn every_row_of_the_catalogue_has_its_section() {
        let page = errors();
        for (_, entry) in CATALOGUE {
            assert!(page.contains(&format!("\n### {} {}\n", entry.code, entry.name)), "{}", entry.code);
        }
    }

    #[test]
    fn the_page_says_of_every_failure_if_it_may_be_repeated() {
        let page = errors();
        for (kind, entry) in CATALOGUE {
            let (_, section) = page.split_once(&format!("### {} ", entry.code)).unwrap();
            let retry = section.split_once("- Retry: ").unwrap().1.split(" · ").next().unwrap();
            let plain = Fault::new(*kind, "").retryable();
            let harmless = Fault::new(*kind, "").harmless_to_repeat().retryable();
            let expected = match (plain, harmless) {
                (true, _) => "yes",
                (false, true) => "if idempotent",
                (false, false) => "no",
            };
            assert_eq!(retry, expected, "{}", entry.code);
        }
    }
}
