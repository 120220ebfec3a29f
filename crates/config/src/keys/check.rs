//! Checks a tree against the schema and reports all problems at once. Strings with references are
//! checked again after the references are resolved.

use super::kind::{parse_time, write_time};
use crate::{
    expand::has_reference,
    jsonc::{Entry, Node, Value},
    listen::listen_address,
    looks,
    problem::{Code, Problem},
    resolve::shown_argument,
    source::Sources,
};
use serde_json::{Map, Value as Json};
use std::time::Duration;

/// Keys of other clients' files, and their names here, for suggestions.
const ELSEWHERE: &[(&str, &str)] = &[
    (
        "mcpServers",
        "servers stand in `mcp.servers`; `trunkline config import` reads the files of other clients",
    ),
    ("servers", "servers stand in `mcp.servers`"),
    ("args", "arguments stand in `command`, after the program"),
    ("env", "it is called `environment` here"),
    ("disabled", "write `\"enabled\": false`"),
    ("httpUrl", "it is called `url` here"),
    ("serverUrl", "it is called `url` here"),
    ("disabledTools", "it is called `deny` here"),
    ("enabledTools", "it is called `allow` here"),
    ("includeTools", "it is called `allow` here"),
    ("excludeTools", "it is called `deny` here"),
];

/// Returns all violations of `schema` in `node`.
pub(crate) fn check(node: &Node, schema: &Json, key: &str, sources: &Sources) -> Vec<Problem> {
    let mut check = Check { sources, problems: Vec::new() };
    check.node(node, schema, key);
    check.problems
}

/// The name in `known` that was probably meant.
pub(crate) fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = given.to_lowercase();
    let length = lower.chars().count();
    let near = |name: &str| (name.len().max(given.len()) / 3).max(1);
    known
        // The edit distance is at least the difference in length, so very long names are skipped
        // early.
        .filter(|name| name.to_lowercase().chars().count().abs_diff(length) <= near(name))
        .map(|name| (strsim::damerau_levenshtein(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= near(name))
        .min()
        .map(|(_, name)| name)
}

struct Check<'a> {
    sources: &'a Sources,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn node(&mut self, node: &Node, schema: &Json, key: &str) {
        let allowed = types(schema);
        if !allowed.is_empty() && !allowed.iter().any(|name| is_of(node, name)) {
            let wanted: Vec<&str> = allowed.iter().map(|name| called(name)).collect();
            let message = format!("{} belongs here, not {}", wanted.join(" or "), node.kind());
            let mut problem = self.sources.problem(Code::WrongKind, node.place, key, message);
            problem.suggestion = node.text().filter(|_| is_command(key)).map(as_list);
            return self.problems.push(problem);
        }
        match &node.value {
            Value::Text(text) => self.text(node, text, schema, key),
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                self.range(node, number, schema, key);
            }
            Value::List(items) => self.list(node, items, schema, key),
            Value::Table(entries) => self.table(entries, schema, key),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn text(&mut self, node: &Node, text: &str, schema: &Json, key: &str) {
        if has_reference(text) {
            return;
        }
        let choices = choices(schema);
        if !choices.is_empty() && !choices.contains(&text) {
            let all: Vec<String> = choices.iter().map(|choice| format!("`{choice}`")).collect();
            let message = format!("`{text}` is none of {}", all.join(", "));
            let mut problem = self.sources.problem(Code::UnknownValue, node.place, key, message);
            problem.suggestion =
                nearest(text, choices.into_iter()).map(|near| format!("did you mean `{near}`?"));
            return self.problems.push(problem);
        }
        let length = text.chars().count() as u64;
        let bound = |name: &str| schema.get(name).and_then(Json::as_u64);
        if bound("minLength").is_some_and(|least| length < least) {
            self.report(Code::OutOfRange, node, key, "the text is empty".to_owned());
        } else if let Some(most) = bound("maxLength").filter(|most| length > *most) {
            self.report(Code::OutOfRange, node, key, format!("the text is longer than {most} characters"));
        }
        self.kind(node, text, schema, key);
    }

    fn kind(&mut self, node: &Node, text: &str, schema: &Json, key: &str) {
        let wrong = match schema.get("x-kind").and_then(Json::as_str) {
            Some("time") => match parse_time(text) {
                #[expect(clippy::cast_precision_loss, reason = "times are bounded far below 2^52 ms")]
                Some(time) => return self.range(node, time.as_millis() as f64, schema, key),
                None => Some(format!(
                    "`{text}` is not a time; write milliseconds, or a number with ms, s, m, h or d"
                )),
            },
            Some("address") => listen_address(text)
                .is_none()
                .then(|| format!("`{text}` is not an address and a port, such as `127.0.0.1:8425`")),
            Some("url") => bad_url(text),
            Some("path-or-url") if text.contains("://") => bad_url(text),
            Some("glob") => globset::Glob::new(text)
                .err()
                .map(|error| format!("`{text}` is not a pattern: {}", error.kind())),
            Some("pointer") => (!text.is_empty() && !text.starts_with('/'))
                .then(|| format!("`{text}` is not a JSON Pointer, such as `/path`")),
            _ => None,
        };
        if let Some(wrong) = wrong {
            self.report(Code::BadValue, node, key, wrong);
        }
    }

    fn range(&mut self, node: &Node, number: f64, schema: &Json, key: &str) {
        let bound = |name: &str| schema.get(name).and_then(Json::as_f64);
        let (least, most) = (bound("minimum"), bound("maximum"));
        if least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most) {
            return;
        }
        let is_time = schema.get("x-kind").and_then(Json::as_str) == Some("time");
        let shown = |bound: f64| {
            if is_time { write_time(Duration::from_secs_f64(bound / 1000.0)) } else { bound.to_string() }
        };
        let message = match (least, most) {
            (Some(least), Some(most)) => format!("it must lie between {} and {}", shown(least), shown(most)),
            (Some(least), None) => format!("it must be at least {}", shown(least)),
            (_, most) => format!("it must be at most {}", shown(most.unwrap_or_default())),
        };
        self.report(Code::OutOfRange, node, key, message);
    }

    fn list(&mut self, node: &Node, items: &[Node], schema: &Json, key: &str) {
        let bound = |name: &str| schema.get(name).and_then(Json::as_u64);
        if bound("minItems").is_some_and(|least| (items.len() as u64) < least) {
            self.report(Code::OutOfRange, node, key, "the list is empty".to_owned());
        }
        if let Some(most) = bound("maxItems").filter(|most| items.len() as u64 > *most) {
            self.report(Code::OutOfRange, node, key, format!("the list has more than {most} items"));
        }
        if let Some(schema) = schema.get("items") {
            for (index, item) in items.iter().enumerate() {
                self.node(item, schema, &format!("{key}[{index}]"));
            }
        }
    }

    fn table(&mut self, entries: &[Entry], schema: &Json, key: &str) {
        let nothing = Map::new();
        let properties = schema.get("properties").and_then(Json::as_object).unwrap_or(&nothing);
        let others = schema.get("additionalProperties");
        for entry in entries {
            let path = join(key, &entry.key);
            match (properties.get(&entry.key), others) {
                (Some(schema), _) | (None, Some(schema @ Json::Object(_))) => {
                    self.node(&entry.node, schema, &path);
                }
                (None, Some(Json::Bool(false))) => self.unknown(entry, properties, &path),
                (None, _) => {}
            }
        }
    }

    fn unknown(&mut self, entry: &Entry, known: &Map<String, Json>, path: &str) {
        let mut problem = self.sources.problem(
            Code::UnknownKey,
            entry.key_place,
            path,
            format!("there is no key `{}` here", entry.key),
        );
        let elsewhere =
            ELSEWHERE.iter().find(|(theirs, _)| *theirs == entry.key).map(|(_, here)| (*here).to_owned());
        let near = || {
            nearest(&entry.key, known.keys().map(String::as_str))
                .map(|near| format!("did you mean `{near}`?"))
        };
        problem.suggestion = elsewhere.or_else(near);
        self.problems.push(problem);
    }

    fn report(&mut self, code: Code, node: &Node, key: &str, message: String) {
        self.problems.push(self.sources.problem(code, node.place, key, message));
    }
}

/// True for the command of a server.
fn is_command(key: &str) -> bool {
    key.strip_prefix("mcp.servers.").is_some_and(|key| key.ends_with(".command"))
}

/// The list form of a command line, as advice. Nothing is shown that may be a secret.
fn as_list(text: &str) -> String {
    if text.contains(['"', '\'', '\\']) {
        return r#"write the program and its arguments as a list: ["program", "argument"]"#.to_owned();
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let word = |(index, word): (usize, &&str)| {
        let before = index.checked_sub(1).map(|index| words[index]);
        Json::from(shown_argument(before, word)).to_string()
    };
    format!("write [{}]", words.iter().enumerate().map(word).collect::<Vec<_>>().join(", "))
}

/// Joins a key and the name of its member.
pub(crate) fn join(key: &str, member: &str) -> String {
    if key.is_empty() { member.to_owned() } else { format!("{key}.{member}") }
}

fn types(schema: &Json) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(name)) => vec![name],
        Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).collect(),
        _ if schema.get("oneOf").is_some() || schema.get("enum").is_some() => vec!["string"],
        _ => Vec::new(),
    }
}

/// The values of an enum; empty for other schemas.
pub(crate) fn choices(schema: &Json) -> Vec<&str> {
    let list = |name: &str| schema.get(name).and_then(Json::as_array).into_iter().flatten();
    let plain = list("enum").filter_map(Json::as_str);
    let told = list("oneOf").flat_map(|choice| {
        let one = choice.get("const").and_then(Json::as_str);
        let several =
            choice.get("enum").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
        one.into_iter().chain(several)
    });
    plain.chain(told).collect()
}

fn is_of(node: &Node, name: &str) -> bool {
    match &node.value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => {
            name == "number" || name == "integer" && (number.is_u64() || number.is_i64())
        }
        Value::Text(_) => name == "string",
        Value::List(_) => name == "array",
        Value::Table(_) => name == "object",
    }
}

fn called(name: &str) -> &str {
    match name {
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        other => other,
    }
}

fn bad_url(text: &str) -> Option<String> {
    let shown = looks::masked_address(text).unwrap_or_else(|| text.to_owned());
    match url::Url::parse(text) {
        Err(error) => Some(format!("`{shown}` is not an address: {error}")),
        Ok(url) if !matches!(url.scheme(), "http" | "https") => {
            Some(format!("`{shown}` does not begin with `http://` or `https://`"))
        }
        // Do not repeat the text: it contains a password.
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            Some("the address holds a user name or password; send credentials in a header instead".to_owned())
        }
        Ok(_) => None,
    }
}
