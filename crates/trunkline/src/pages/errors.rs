//! Generates `errors.md`, the catalogue of failures.

use std::fmt::Write as _;
use trunkline_protocol::{
    Era,
    fault::{CATALOGUE, Entry},
};

const INTRODUCTION: &str = "\
# Errors

Every failure has a stable code, which the command line prints (`error[E216]: …`), `--json` gives as `error.code`, and which travels
as `appCode` in the `data` of a JSON-RPC error. This page is generated from the catalogue in `crates/protocol/src/fault/catalogue.rs`.

*Retry* says whether the same call may succeed later, unchanged. *JSON-RPC* is the number that goes over the wire where we are the
server; two numbers are those of legacy and modern revisions. *HTTP* is the status of the REST interface, *REST* its code.
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
        for (_, entry) in CATALOGUE.iter().filter(|(_, entry)| entry.code.starts_with(family)) {
            page.push_str(&section(entry));
        }
    }
    page
}

fn section(entry: &Entry) -> String {
    let retry = if entry.retryable { "yes" } else { "no" };
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

    #[test]
    fn every_row_of_the_catalogue_has_its_section() {
        let page = errors();
        for (_, entry) in CATALOGUE {
            assert!(page.contains(&format!("\n### {} {}\n", entry.code, entry.name)), "{}", entry.code);
        }
    }
}
