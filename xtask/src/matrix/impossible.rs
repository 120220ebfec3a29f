//! Scenarios that cannot pass between two eras, each with the clause that explains it.

/// A scenario that cannot pass: the suite's revision, the server's era, its name, and the reason.
type Row = (&'static str, &'static str, &'static str, &'static str);

const ROWS: &[Row] = &[
    (
        super::MODERN,
        "legacy",
        "server-stateless",
        "its check of an undeclared capability expects error −32021, which 2025-11-25 does not have: a legacy server may answer with any error unless it sends the request anyway (2026-07-28, basic/lifecycle: capability negotiation)",
    ),
    (
        super::MODERN,
        "legacy",
        "input-required-result-basic-elicitation",
        "it expects the request under the key `user_name`; a request of 2025-11-25 has an id but no name, as keys of `inputRequests` were added in 2026-07-28",
    ),
    (
        super::MODERN,
        "legacy",
        "input-required-result-ignore-extra-params",
        "it sends the answer under the key `user_name` before the request; a request of 2025-11-25 has no name to match that answer",
    ),
];

/// Returns the reason why a scenario of a revision cannot pass with a server of this era.
pub(super) fn reason(client: &str, server: &str, scenario: &str) -> Option<&'static str> {
    let row = ROWS.iter().find(|row| (row.0, row.1, row.2) == (client, server, scenario))?;
    Some(row.3)
}
