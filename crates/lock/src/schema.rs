//! Compares two JSON Schemas by the keywords that most tools use.

use crate::changes::{Change, Severity};
use serde_json::Value;

/// Deepest member that is compared by itself; below it, any difference is one change.
const MAX_DEPTH: usize = 8;

/// Keywords that limit values, with the direction in which a change allows more.
const LIMITS: [(&str, Wider); 10] = [
    ("maximum", Wider::Larger),
    ("exclusiveMaximum", Wider::Larger),
    ("maxLength", Wider::Larger),
    ("maxItems", Wider::Larger),
    ("maxProperties", Wider::Larger),
    ("minimum", Wider::Smaller),
    ("exclusiveMinimum", Wider::Smaller),
    ("minLength", Wider::Smaller),
    ("minItems", Wider::Smaller),
    ("minProperties", Wider::Smaller),
];

/// Keywords that allow more if they are taken away.
const RESTRICTIONS: [&str; 7] = ["pattern", "const", "format", "not", "allOf", "oneOf", "anyOf"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wider {
    Larger,
    Smaller,
}

pub(crate) fn compare(before: &Value, now: &Value, at: &str, changes: &mut Vec<Change>) {
    Comparison { changes }.schemas(before, now, at, 0);
}

struct Comparison<'a> {
    changes: &'a mut Vec<Change>,
}

impl Comparison<'_> {
    fn schemas(&mut self, before: &Value, now: &Value, at: &str, depth: usize) {
        if before == now {
            return;
        }
        let count = self.changes.len();
        if depth < MAX_DEPTH {
            self.required(before, now, at);
            self.properties(before, now, at, depth);
            self.types(before, now, at);
            self.values(before, now, at);
            self.limits(before, now, at);
            self.openness(before, now, at);
            self.texts(before, now, at);
            if before["items"].is_object() && now["items"].is_object() {
                self.schemas(&before["items"], &now["items"], &format!("{at}/items"), depth + 1);
            }
        }
        if self.changes.len() == count {
            self.note(Severity::Schema, at, "it changed");
        }
    }

    fn note(&mut self, severity: Severity, at: &str, what: impl std::fmt::Display) {
        self.changes.push(Change::new(severity, format!("`{at}`: {what}")));
    }

    fn required(&mut self, before: &Value, now: &Value, at: &str) {
        let names = |schema: &Value| -> Vec<String> {
            let list = schema["required"].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let (old, new) = (names(before), names(now));
        for name in new.iter().filter(|name| !old.contains(name)) {
            self.note(Severity::NewRequired, at, format!("`{name}` is now required"));
        }
        for name in old.iter().filter(|name| !new.contains(name)) {
            let exists = now["properties"].get(name).is_some();
            let severity = if exists { Severity::Widened } else { Severity::Removed };
            self.note(severity, at, format!("`{name}` is no longer required"));
        }
    }

    fn properties(&mut self, before: &Value, now: &Value, at: &str, depth: usize) {
        let (old, new) = (before["properties"].as_object(), now["properties"].as_object());
        for (name, schema) in new.into_iter().flatten() {
            match old.and_then(|old| old.get(name)) {
                Some(known) => self.schemas(known, schema, &format!("{at}/{name}"), depth + 1),
                None => self.note(Severity::NewOptional, at, format!("argument `{name}` is new")),
            }
        }
        for name in old.into_iter().flat_map(serde_json::Map::keys) {
            if new.is_none_or(|new| !new.contains_key(name)) {
                self.note(Severity::Removed, at, format!("argument `{name}` is gone"));
            }
        }
    }

    fn types(&mut self, before: &Value, now: &Value, at: &str) {
        let names = |schema: &Value| -> Option<Vec<String>> {
            match &schema["type"] {
                Value::String(name) => Some(vec![name.clone()]),
                Value::Array(names) => {
                    Some(names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
                }
                _ => None,
            }
        };
        match (names(before), names(now)) {
            (Some(_), None) => self.note(Severity::Widened, at, "it allows any type"),
            (None, Some(_)) => self.note(Severity::Schema, at, "its type is limited now"),
            (Some(old), Some(new)) => {
                for name in new.iter().filter(|name| !old.contains(name)) {
                    self.note(Severity::Widened, at, format!("it allows type {name}"));
                }
                for name in old.iter().filter(|name| !new.contains(name)) {
                    self.note(Severity::Schema, at, format!("it no longer allows type {name}"));
                }
            }
            (None, None) => {}
        }
    }

    fn values(&mut self, before: &Value, now: &Value, at: &str) {
        match (before["enum"].as_array(), now["enum"].as_array()) {
            (Some(_), None) => self.note(Severity::Widened, at, "it allows any value"),
            (None, Some(_)) => self.note(Severity::Schema, at, "its values are limited now"),
            (Some(old), Some(new)) => {
                for value in new.iter().filter(|value| !old.contains(value)) {
                    self.note(Severity::Widened, at, format!("it allows {value}"));
                }
                for value in old.iter().filter(|value| !new.contains(value)) {
                    self.note(Severity::Schema, at, format!("it no longer allows {value}"));
                }
            }
            (None, None) => {}
        }
    }

    fn limits(&mut self, before: &Value, now: &Value, at: &str) {
        for (keyword, wider) in LIMITS {
            let (old, new) = (&before[keyword], &now[keyword]);
            if old == new {
                continue;
            }
            let is_wider = match (old.as_f64(), new.as_f64()) {
                (Some(old), Some(new)) => (new > old) == (wider == Wider::Larger),
                (old, new) => old.is_some() && new.is_none(),
            };
            let severity = if is_wider { Severity::Widened } else { Severity::Schema };
            self.note(severity, at, format!("`{keyword}` changed from {old} to {new}"));
        }
        for keyword in RESTRICTIONS.iter().filter(|keyword| before[**keyword] != now[**keyword]) {
            let severity = if now[*keyword].is_null() { Severity::Widened } else { Severity::Schema };
            self.note(severity, at, format!("`{keyword}` changed"));
        }
    }

    fn openness(&mut self, before: &Value, now: &Value, at: &str) {
        let member = "additionalProperties";
        let is_closed = |schema: &Value| schema[member] == false;
        if is_closed(before) && !is_closed(now) {
            self.note(Severity::Widened, at, "it allows further members");
        } else if before[member] != now[member] {
            self.note(Severity::Schema, at, format!("`{member}` changed"));
        }
    }

    fn texts(&mut self, before: &Value, now: &Value, at: &str) {
        for keyword in ["title", "description", "default", "examples"] {
            if before[keyword] != now[keyword] {
                self.note(Severity::Wording, at, format!("`{keyword}` changed"));
            }
        }
    }
}
