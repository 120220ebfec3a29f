//! Inserts servers into our file without changing anything else: comments, order and layout stay.

use super::plan::{Outcome, Plan};
use crate::jsonc::{self, Node, SyntaxError, Value};
use serde_json::Map;

/// Returns our file with the servers that the plan adds; `text` is its current content, if it
/// exists. The result is parsed again before it is returned.
pub fn insert(text: Option<&str>, plan: &Plan) -> Result<String, Vec<SyntaxError>> {
    let added = plan.servers.iter().filter(|planned| planned.outcome == Outcome::Added);
    let entries: Vec<(&str, &Map<String, serde_json::Value>)> =
        added.map(|planned| (planned.name.as_str(), &planned.entry)).collect();
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n");
    let tree = jsonc::parse(text, 0)?;
    if entries.is_empty() {
        return Ok(text.to_owned());
    }
    let servers: Vec<String> = entries
        .iter()
        .map(|(name, entry)| member(name, &serde_json::Value::Object((*entry).clone())))
        .collect();
    // Missing parent objects are written around the servers.
    let (table, lines, depth) = match (tree.get("mcp"), tree.at(&["mcp", "servers"])) {
        (_, Some(table)) => (table, servers, 3),
        (Some(mcp), None) => (mcp, vec![around("servers", &servers)], 2),
        (None, None) => (&tree, vec![around("mcp", &[around("servers", &servers)])], 1),
    };
    let written = add(text, table, &lines, depth);
    jsonc::parse(&written, 0).map(|_| written)
}

/// Formats `"name": value`, without indentation.
fn member(name: &str, value: &serde_json::Value) -> String {
    let value = serde_json::to_string_pretty(value).expect("a JSON value can be written");
    format!("{}: {}", serde_json::Value::from(name), short_lists(&value))
}

fn around(name: &str, members: &[String]) -> String {
    let inner: Vec<String> = members.iter().map(|member| indented(member, "  ")).collect();
    format!("\"{name}\": {{\n{}\n}}", inner.join(",\n"))
}

fn indented(text: &str, by: &str) -> String {
    text.lines().map(|line| format!("{by}{line}")).collect::<Vec<_>>().join("\n")
}

/// Puts arrays of strings on one line, as commands are usually written.
fn short_lists(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        if line.ends_with('[') {
            let mut items = Vec::new();
            while let Some(item) = lines.next_if(|item| !item.trim_start().starts_with(']')) {
                items.push(item.trim().to_owned());
            }
            out.push_str(&items.join(" "));
            out.push_str(lines.next().unwrap_or_default().trim_start());
        }
        out.push('\n');
    }
    out.trim_end().to_owned()
}

/// Adds members to an object, before its closing brace.
fn add(text: &str, table: &Node, members: &[String], depth: usize) -> String {
    let Value::Table(entries) = &table.value else { return text.to_owned() };
    let close = table.place.range().end - 1;
    let mut out = String::with_capacity(text.len() + 256);
    let last = entries.last().map(|entry| entry.node.place.range().end);
    // Between the last member and the brace: a comma, comments, whitespace.
    let (head, between) = (&text[..last.unwrap_or(close)], &text[last.unwrap_or(close)..close]);
    out.push_str(head);
    if last.is_some() && !has_comma(between) {
        out.push(',');
    }
    let open_end = between.trim_end_matches([' ', '\t', '\n', '\r']);
    out.push_str(open_end);
    let indent = own_indent(text, entries.first().map(|entry| entry.key_place.range().start))
        .unwrap_or_else(|| "  ".repeat(depth));
    let closing = own_indent(text, Some(close))
        .filter(|_| between.contains('\n') || last.is_none())
        .unwrap_or_else(|| "  ".repeat(depth - 1));
    for (index, member) in members.iter().enumerate() {
        out.push('\n');
        out.push_str(&indented(member, &indent));
        if index + 1 < members.len() {
            out.push(',');
        }
    }
    out.push('\n');
    out.push_str(&closing);
    out.push_str(&text[close..]);
    tidy_open(&out)
}

/// Removes the whitespace that an empty object leaves behind its opening brace.
fn tidy_open(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
        + if text.ends_with('\n') { "\n" } else { "" }
}

/// True if there is a comma outside of comments.
fn has_comma(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        } else if rest.starts_with("/*") {
            rest = rest.split_once("*/").map_or("", |(_, rest)| rest);
        } else {
            return rest.starts_with(',');
        }
    }
}

/// The indentation of an item that is the first on its line.
fn own_indent(text: &str, at: Option<usize>) -> Option<String> {
    let before = &text[..at?];
    let line = &before[before.rfind('\n')? + 1..];
    line.chars().all(|c| c == ' ' || c == '\t').then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Client, Planned, Scope};

    fn inserted(text: &str) -> String {
        let entry = serde_json::json!({"type": "local", "command": ["npx", "-y", "x"]});
        let planned = |name: &str, outcome| Planned {
            client: Client::Cursor,
            scope: Scope::User,
            file: "x".into(),
            theirs: name.to_owned(),
            name: name.to_owned(),
            outcome,
            entry: entry.as_object().unwrap().clone(),
            notes: Vec::new(),
            secrets: Vec::new(),
        };
        let servers = vec![planned("new", Outcome::Added), planned("old", Outcome::Kept)];
        let made = insert(Some(text), &Plan { servers }).unwrap();
        let tree = jsonc::parse(&made, 0).unwrap();
        assert!(tree.at(&["mcp", "servers", "new", "command"]).is_some(), "{made}");
        assert!(tree.at(&["mcp", "servers", "old"]).is_none(), "{made}");
        made
    }

    #[test]
    fn a_new_file_gets_all_that_is_needed() {
        insta::assert_snapshot!(inserted(""), @r#"
        {
          "mcp": {
            "servers": {
              "new": {
                "type": "local",
                "command": ["npx", "-y", "x"]
              }
            }
          }
        }
        "#);
    }

    #[test]
    fn comments_and_layout_of_an_old_file_stay() {
        insta::assert_snapshot!(inserted("// mine\n{\n  // here they are\n  \"mcp\": {\n    \"servers\": {\n      \"a\": { \"command\": [\"a\"] } // the first\n      // the end\n    }\n  },\n  \"listen\": null, // where\n}\n"), @r#"
        // mine
        {
          // here they are
          "mcp": {
            "servers": {
              "a": { "command": ["a"] }, // the first
              // the end
              "new": {
                "type": "local",
                "command": ["npx", "-y", "x"]
              }
            }
          },
          "listen": null, // where
        }
        "#);
    }

    #[test]
    fn every_shape_of_file_takes_members() {
        for text in [
            "{}",
            "{\"listen\": null}",
            "{\"listen\": null,}",
            "{\"mcp\": {}}",
            "{\"mcp\": {\"servers\": {}}}",
            "{\"mcp\": {\"servers\": {\"a\": {\"command\": [\"a\"]}}}}",
            "{\"mcp\": {\"servers\": {\"a\": {\"command\": [\"a\"]}, /* , */ }}}",
            "{\n\t\"mcp\": {\n\t\t\"servers\": {\n\t\t\t\"a\": {\"command\": [\"a\"]}, // ,\n\t\t}\n\t}\n}",
            "\u{feff}{\r\n  \"mcp\": {\r\n    \"servers\": {\r\n    }\r\n  }\r\n}\r\n",
        ] {
            inserted(text);
        }
    }
}
