//! The outcome of one call, comparable over all ways in.

use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The server answered.
    Runs,
    /// The tool is unknown.
    Hidden,
    /// The policy denies this call (E225).
    Denied,
    /// A person would have to agree (E226), and nobody does (E227).
    Refused,
}

impl Outcome {
    /// Reads a JSON-RPC response.
    pub(crate) fn of(answer: &Value) -> Self {
        if answer["result"].is_object() {
            return Self::Runs;
        }
        let error = &answer["error"];
        match (error["code"].as_i64(), error["data"]["code"].as_str()) {
            (_, Some(code)) => Self::of_code(code),
            _ => panic!("{answer:#}"),
        }
    }

    /// Reads a code of the catalogue.
    pub(crate) fn of_code(code: &str) -> Self {
        match code {
            "E204" | "not-available" => Self::Hidden,
            "E225" | "denied-by-policy" => Self::Denied,
            "E226" | "approval-refused" | "E227" | "approval-expired" => Self::Refused,
            other => panic!("unexpected {other}"),
        }
    }
}
