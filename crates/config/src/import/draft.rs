//! Draft: a server of another client during conversion. Readers remove the keys they understand;
//! the remaining ones are mentioned in a note.

use super::client_keys::{ClientKeys, CommandForm};
use serde_json::{Map, Value, json};

/// A server's original keys, its converted keys, and notes for the user.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    /// The client's keys that are not converted yet.
    pub(crate) theirs: Map<String, Value>,
    /// The converted keys.
    pub(crate) ours: Map<String, Value>,
    pub(crate) keys: ClientKeys,
    pub(crate) notes: Vec<String>,
    /// The reason why it cannot be imported.
    pub(crate) refused: Option<String>,
}

impl Draft {
    pub(crate) fn of(theirs: &Value) -> Self {
        let mut draft = Self { theirs: theirs.as_object().cloned().unwrap_or_default(), ..Self::default() };
        if !theirs.is_object() {
            draft.refuse("it is not an object");
        }
        draft
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        self.theirs.shift_remove(key).filter(|value| !value.is_null())
    }

    pub(crate) fn take_text(&mut self, key: &str) -> Option<String> {
        match self.take(key)? {
            Value::String(text) => Some(text),
            other => {
                self.note(format!("`{key}` is not a text and was left out"));
                drop(other);
                None
            }
        }
    }

    /// Takes over a text that has the same key in our file.
    pub(crate) fn same_text(&mut self, key: &str) {
        if let Some(text) = self.take_text(key) {
            self.set(key, text);
        }
    }

    pub(crate) fn take_texts(&mut self, key: &str) -> Vec<String> {
        let Some(value) = self.take(key) else { return Vec::new() };
        value.as_array().into_iter().flatten().filter_map(plain_text).collect()
    }

    pub(crate) fn take_flag(&mut self, key: &str) -> Option<bool> {
        self.take(key).and_then(|value| value.as_bool())
    }

    pub(crate) fn take_number(&mut self, key: &str) -> Option<f64> {
        self.take(key).and_then(|value| value.as_f64())
    }

    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.ours.insert(key.to_owned(), value.into());
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    pub(crate) fn refuse(&mut self, reason: impl Into<String>) {
        self.refused.get_or_insert_with(|| reason.into());
    }

    /// Converts the command: a string, an array, or a program with separate arguments.
    pub(crate) fn command(&mut self) {
        let mut words: Vec<String> = match self.take("command") {
            Some(Value::String(program)) => {
                self.keys.set_command(CommandForm::Separate);
                vec![program]
            }
            Some(Value::Array(words)) => words.iter().filter_map(plain_text).collect(),
            _ => return,
        };
        words.extend(self.take_texts("args"));
        if let [line] = words.as_slice()
            && let Some(several) = command_words(line)
        {
            self.note(format!("`command` was one text, `{line}`; its words are separated now"));
            self.keys.set_command(CommandForm::Line);
            words = several;
        }
        self.set("type", "local");
        self.set("command", words);
    }

    /// Converts environment variables from the client's key.
    pub(crate) fn environment(&mut self, key: &str) {
        if let Some(variables) = self.texts(key) {
            self.keys.rename("environment", key);
            self.set("environment", variables);
        }
    }

    /// Converts the URL from the client's key, if it is the effective one.
    pub(crate) fn url(&mut self, key: &str) {
        let Some(url) = self.take_text(key) else { return };
        self.keys.rename("url", key);
        self.set("type", "remote");
        self.set("url", url);
    }

    pub(crate) fn headers(&mut self, key: &str) {
        if let Some(headers) = self.texts(key) {
            self.keys.rename("headers", key);
            self.set("headers", headers);
        }
    }

    /// Reads an object of strings; numbers and booleans become strings, and null is omitted.
    fn texts(&mut self, key: &str) -> Option<Map<String, Value>> {
        let Some(Value::Object(members)) = self.take(key) else { return None };
        let mut texts = Map::new();
        for (name, value) in members {
            match plain_text(&value) {
                Some(text) => drop(texts.insert(name, text.into())),
                None => self.note(format!("`{key}.{name}` is no text and was left out")),
            }
        }
        (!texts.is_empty()).then_some(texts)
    }

    /// Converts `enabled` or `disabled`.
    pub(crate) fn enabled(&mut self) {
        let off = self.take_flag("disabled") == Some(true) || self.take_flag("enabled") == Some(false);
        if off {
            self.set("enabled", false);
        }
    }

    /// Sets timeouts, given in milliseconds.
    pub(crate) fn timeout(&mut self, startup: Option<f64>, request: Option<f64>) {
        let mut times = Map::new();
        for (key, given) in [("startup", startup), ("request", request)] {
            if let Some(millis) = given.filter(|millis| *millis >= 1.0) {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it is positive and cut off at a day"
                )]
                times.insert(key.to_owned(), (millis.min(86_400_000.0) as u64).into());
            }
        }
        if !times.is_empty() {
            self.set("timeout", times);
        }
    }

    /// Converts the lists of allowed and denied tools.
    pub(crate) fn filter(&mut self, allow: &str, deny: &str) {
        for (theirs, ours) in [(allow, "allow"), (deny, "deny")] {
            if self.theirs.get(theirs).is_some_and(|tools| *tools != json!(["*"])) {
                let tools: Vec<String> =
                    self.take_texts(theirs).iter().map(|tool| globset::escape(tool)).collect();
                self.set(ours, tools);
            }
            self.ignore(&[theirs]);
        }
    }

    /// Drops keys that have no meaning outside of the client, without a note.
    pub(crate) fn ignore(&mut self, keys: &[&str]) {
        for key in keys {
            self.theirs.shift_remove(*key);
        }
    }

    /// Converts the transport from the client's key.
    pub(crate) fn transport(&mut self, key: &str) {
        let Some(kind) = self.take_text(key) else { return };
        match kind.to_lowercase().replace(['-', '_'], "").as_str() {
            "stdio" | "local" | "remote" | "command" => {}
            "http" | "streamablehttp" => self.set("transport", "http"),
            "sse" => self.set("transport", "sse"),
            "ws" | "websocket" => {
                self.refuse("it is reached by WebSocket, which is no transport of the protocol");
            }
            _ => self.note(format!("`{key}` is `{kind}`, which is not supported here")),
        }
    }

    /// Adds a note about the remaining keys, and fixes keys that conflict.
    pub(crate) fn finish(mut self) -> Self {
        let left: Vec<String> = self.theirs.keys().map(|key| format!("`{key}`")).collect();
        if !left.is_empty() {
            let verb = if left.len() == 1 { "has" } else { "have" };
            self.note(format!("{} {verb} no counterpart here", left.join(", ")));
        }
        match self.ours.get("type").and_then(Value::as_str) {
            Some("local") => self.drop_keys(&["url", "headers", "oauth", "transport"]),
            Some("remote") => {
                self.drop_keys(&["command", "environment", "inherit", "cwd"]);
                let url = self.ours.get("url").and_then(Value::as_str).unwrap_or_default();
                if !url.starts_with("http") && !url.starts_with(['{', '$']) {
                    self.refuse("its address begins with neither `http://` nor `https://`");
                }
            }
            _ => self.refuse("it has neither a command nor an address"),
        }
        self
    }

    fn drop_keys(&mut self, keys: &[&str]) {
        for key in keys {
            if self.ours.shift_remove(*key).is_some() && *key != "transport" {
                let kind = self.ours.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
                self.note(format!("`{key}` does not belong to a {kind} server and was left out"));
            }
        }
    }
}

/// A string, or a number or boolean as a string.
fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Builds our `oauth` object from the parts that are present.
pub(crate) fn oauth(parts: Vec<(&str, Option<Value>)>) -> Value {
    let known: Map<String, Value> = parts
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value.filter(|value| !value.is_null())?)))
        .collect();
    if known.is_empty() { json!(true) } else { Value::Object(known) }
}

/// The words of a command line that was written as the name of a program, which some clients give
/// to a shell. A path may contain blanks itself, and quotes need a shell.
fn command_words(line: &str) -> Option<Vec<String>> {
    let is_plain =
        !line.contains(['/', '\\', '"', '\'', '$']) || line.starts_with("npx ") || line.starts_with("uvx ");
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    (is_plain && words.len() > 1).then_some(words)
}
