//! `Offer`: what a server listed, or the error instead.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Members of `server` that each hop has of its own: we serve every revision over every transport.
const PER_HOP: [&str; 2] = ["/server/transport", "/server/revision"];

/// The output of `trunkline list --json`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Offer(Value);

impl Offer {
    /// Reads the two outputs of `trunkline list --json`.
    pub(super) fn read(out: &Path, err: &Path) -> Result<Self> {
        let out = fs::read_to_string(out)?;
        if !out.trim().is_empty() {
            return Self::listed(&out);
        }
        let err = fs::read_to_string(err)?;
        let last = err.lines().rev().find(|line| line.starts_with('{'));
        let line = last.with_context(|| format!("neither a list nor an error was printed, but {err:?}"))?;
        Self::failed(line)
    }

    fn listed(text: &str) -> Result<Self> {
        serde_json::from_str(text).map(Self).context("the list is not JSON")
    }

    /// Of an error only its code counts: the text names the hop that noticed it.
    fn failed(line: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(line).context("the error is not JSON")?;
        let (error, exit) = (&value["error"], &value["exit_code"]);
        Ok(Self(json!({ "error": { "code": error["code"], "name": error["name"], "exit": exit } })))
    }

    /// The error, if the server could not be listed.
    pub(super) fn error(&self) -> Option<String> {
        let error = self.0.get("error")?;
        let text = |member: &str| error[member].as_str().unwrap_or("?").to_owned();
        Some(format!("{} {}", text("code"), text("name")))
    }

    /// The lists that fail while others do not, with their errors.
    pub(super) fn failing_lists(&self) -> Vec<String> {
        let errors = self.0["errors"].as_object();
        let text = |(list, error): (&String, &Value)| {
            format!("{list} fail: {}", error["code"].as_str().unwrap_or("?"))
        };
        errors.into_iter().flatten().map(text).collect()
    }

    pub(super) fn revision(&self) -> &str {
        self.0["server"]["revision"].as_str().unwrap_or("–")
    }

    /// The era to ask in again, so that no list is translated on the way.
    pub(super) fn era(&self) -> &str {
        self.0["server"]["era"].as_str().unwrap_or("legacy")
    }

    pub(super) fn tools(&self) -> Option<usize> {
        self.0["tools"].as_array().map(Vec::len)
    }

    /// Returns the JSON pointers of the members that differ.
    pub(super) fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        differ(&self.0, &other.0, "", &mut found);
        found.retain(|pointer| !PER_HOP.contains(&pointer.as_str()));
        found
    }
}

fn differ(one: &Value, other: &Value, pointer: &str, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            for (name, value) in one {
                let pointer = format!("{pointer}/{name}");
                match other.get(name) {
                    Some(other) => differ(value, other, &pointer, found),
                    None => found.push(pointer),
                }
            }
            let added = other.keys().filter(|name| !one.contains_key(*name));
            found.extend(added.map(|name| format!("{pointer}/{name}")));
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                differ(one, other, &format!("{pointer}/{index}"), found);
            }
        }
        _ if one == other => {}
        _ => found.push(pointer.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transport_and_revision_alone_are_no_difference() {
        let offer = |transport: &str, version: &str| {
            let server = json!({ "transport": transport, "revision": transport, "version": version });
            Offer::listed(&json!({ "server": server, "tools": [] }).to_string()).unwrap()
        };
        assert_eq!(offer("stdio", "1").differences(&offer("Streamable HTTP", "1")), [""; 0]);
        assert_eq!(offer("stdio", "1").differences(&offer("stdio", "2")), ["/server/version"]);
    }

    #[test]
    fn every_changed_added_missing_and_shortened_member_is_named() {
        let offer = |value: Value| Offer(value);
        let one = offer(json!({ "same": 1, "gone": 1, "list": [{ "a": 1 }, { "a": 2 }], "short": [1, 2] }));
        let other = offer(json!({ "same": 1, "new": 1, "list": [{ "a": 1 }, { "a": 3 }], "short": [1] }));
        let mut found = one.differences(&other);
        found.sort();
        assert_eq!(found, ["/gone", "/list/1/a", "/new", "/short"]);
    }

    #[test]
    fn errors_are_compared_by_code_and_exit_status() {
        let failed = |code: &str, message: &str, exit: u8| {
            let error = json!({ "code": code, "name": "server-exited", "message": message });
            Offer::failed(&json!({ "error": error, "exit_code": exit }).to_string()).unwrap()
        };
        let direct = failed("E220", "the process ended", 3);
        assert_eq!(direct.error().as_deref(), Some("E220 server-exited"));
        assert_eq!(direct.differences(&failed("E220", "`x` is not available", 3)), [""; 0]);
        assert_eq!(direct.differences(&failed("E216", "the process ended", 3)), ["/error/code"]);
        assert_eq!(direct.differences(&failed("E220", "the process ended", 1)), ["/error/exit"]);
    }
}
