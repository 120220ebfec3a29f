//! The answer of a hook, and the notes that it leaves on a result.

use serde::Deserialize;
use serde_json::{Map, Value};
use trunkline_protocol::{Fault, Object, Outcome, Raw};

/// The member of a result's `_meta` with the data of hooks, by their names.
const META: &str = "trunkline/hooks";

/// `{"decision": "allow" | "deny", "reason", "annotation", "meta"}`; an empty answer allows.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Verdict {
    #[serde(default)]
    pub(super) decision: Decision,
    /// Shown to the caller of a denied call.
    #[serde(default)]
    pub(super) reason: Option<String>,
    /// A text that is added to the result.
    #[serde(default)]
    annotation: Option<String>,
    /// Data that is added to the result's `_meta`.
    #[serde(default)]
    meta: Option<Map<String, Value>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Decision {
    #[default]
    Allow,
    Deny,
}

/// Annotations of all hooks of one call.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes {
    texts: Vec<String>,
    meta: Map<String, Value>,
}

impl Verdict {
    pub(super) fn read(answer: &[u8]) -> Result<Self, String> {
        if answer.trim_ascii().is_empty() {
            return Ok(Self::default());
        }
        // An array would be read as the members in their order.
        let members = serde_json::from_slice::<Map<String, Value>>(answer);
        members.and_then(|members| serde_json::from_value(members.into())).map_err(|error| {
            format!("its answer is not {{\"decision\", \"reason\", \"annotation\", \"meta\"}}: {error}")
        })
    }
}

impl Notes {
    pub(super) fn add(&mut self, hook: &str, verdict: Verdict) {
        self.texts.extend(verdict.annotation.filter(|text| !text.is_empty()));
        if let Some(meta) = verdict.meta {
            self.meta.insert(hook.to_owned(), Value::Object(meta));
        }
    }

    pub(super) fn extend(&mut self, more: Self) {
        self.texts.extend(more.texts);
        self.meta.extend(more.meta);
    }

    /// The outcome with the annotations. A fault takes the texts only.
    pub(super) fn on(self, outcome: Outcome) -> Outcome {
        if self.texts.is_empty() && self.meta.is_empty() {
            return outcome;
        }
        match outcome {
            Ok(result) => Ok(self.on_result(result)),
            Err(fault) => Err(self.on_fault(fault)),
        }
    }

    fn on_fault(self, fault: Fault) -> Fault {
        let message = [&[fault.message().to_owned()], &self.texts[..]].concat().join("\n");
        fault.with_message(message)
    }

    fn on_result(self, result: Raw) -> Raw {
        let Some(mut members) = result.object() else { return result };
        let mut content: Vec<Raw> =
            members.get("content").and_then(|content| content.decode().ok()).unwrap_or_default();
        let block = |text: String| Raw::from(serde_json::json!({"type": "text", "text": text}));
        content.extend(self.texts.into_iter().map(block));
        if let Ok(content) = Raw::encode(&content) {
            members.set("content", content);
        }
        if !self.meta.is_empty() {
            let mut meta = members.get("_meta").and_then(Raw::object).unwrap_or_else(Object::new);
            meta.set(META, Value::Object(self.meta).into());
            members.set("_meta", meta.to_raw());
        }
        members.to_raw()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h8_an_answer_is_read_strictly() {
        assert_eq!(Verdict::read(b" \n").unwrap().decision, Decision::Allow);
        let deny = Verdict::read(br#"{"decision":"deny","reason":"no"}"#).unwrap();
        assert_eq!((deny.decision, deny.reason.as_deref()), (Decision::Deny, Some("no")));
        for wrong in [r#"{"decison":"deny"}"#, r#"{"decision":"maybe"}"#, "[]", "no"] {
            assert!(Verdict::read(wrong.as_bytes()).unwrap_err().contains("decision"), "{wrong}");
        }
    }

    #[test]
    fn h8_annotations_keep_all_else() {
        let mut notes = Notes::default();
        let verdict = Verdict::read(br#"{"annotation":"checked","meta":{"score":1}}"#).unwrap();
        notes.add("scan", verdict);
        let result = Raw::parse(r#"{"content":[{"type":"odd","x":1.50}],"z":1,"_meta":{"a":1}}"#).unwrap();
        let noted = notes.on(Ok(result)).unwrap();
        let expected = r#"{"content":[{"type":"odd","x":1.50},{"type":"text","text":"checked"}],"z":1,"_meta":{"a":1,"trunkline/hooks":{"scan":{"score":1}}}}"#;
        assert_eq!(noted.as_str(), expected);
    }
}
