//! What cannot pass between two eras, and the clause that makes it so.

/// A scenario that cannot pass: the revision that the suite speaks, the era of the server, its name, and why.
type Row = (&'static str, &'static str, &'static str, &'static str);

const ROWS: &[Row] = &[
    (
        super::MODERN,
        "legacy",
        "server-stateless",
        "its check of an undeclared capability wants error −32021, which 2025-11-25 does not have: a legacy server answers as it likes unless it asks all the same (2026-07-28, basic/lifecycle: capability negotiation)",
    ),
    (
        super::MODERN,
        "legacy",
        "input-required-result-basic-elicitation",
        "it wants the question under the key `user_name`; a request of 2025-11-25 has an id and no name, keys of `inputRequests` came with 2026-07-28",
    ),
    (
        super::MODERN,
        "legacy",
        "input-required-result-ignore-extra-params",
        "it answers under the key `user_name` before anything was asked; a request of 2025-11-25 has no name by which it would find that answer",
    ),
];

/// Why a scenario of a revision cannot pass in front of a server of this era.
pub(super) fn reason(client: &str, server: &str, scenario: &str) -> Option<&'static str> {
    let row = ROWS.iter().find(|row| (row.0, row.1, row.2) == (client, server, scenario))?;
    Some(row.3)
}
