//! Applies a fault to a correct answer.

use super::Act;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The difference of a response's id from that of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdFault {
    /// A number becomes a string.
    Text,
    /// A string that looks like a number becomes a number.
    Number,
    /// An integer becomes a float, such as `1.0`.
    Float,
    /// A number above 2^53 is rounded to a double.
    Rounded,
    /// The server numbers its responses itself.
    Own,
}

/// Changes the answer to a message; `count` is the number of messages so far, this one included.
pub(super) fn apply(answer: &mut Option<Value>, act: &Act, message: &Value, count: usize) {
    let id = message.get("id").filter(|id| id.is_string() || id.is_number()).cloned().unwrap_or(Value::Null);
    let whole = |member: &str, value: &Value| json!({"jsonrpc": "2.0", "id": id, member: value});
    if let Some(result) = &act.result {
        *answer = Some(whole("result", result));
    }
    if let Some(error) = &act.error {
        *answer = Some(whole("error", error));
    }
    if let Some(message) = &act.answer {
        let text = message.to_string().replace("\"$id\"", &id.to_string());
        *answer = serde_json::from_str(&text).ok();
    }
    if let Some(effect) = &act.effect {
        *answer = Some(match effect.result(message) {
            Ok(result) => whole("result", &result),
            Err(error) => whole("error", &error),
        });
    }
    let Some(answer) = answer else { return };
    for (pointer, value) in &act.set {
        set(answer, pointer, &counted(value, count));
    }
    for (pointer, from) in &act.copy {
        if let Some(value) = message.pointer(from) {
            set(answer, pointer, value);
        }
    }
    for (pointer, times) in &act.copies {
        copy(answer, pointer, *times);
    }
    for (pointer, times) in &act.repeat {
        if let Some(Value::String(text)) = answer.pointer_mut(pointer) {
            *text = text.repeat(*times);
        }
    }
    for pointer in &act.remove {
        remove(answer, pointer);
    }
    if let Some(fault) = act.id {
        answer["id"] = fault.of(&id, count);
    }
}

impl IdFault {
    fn of(self, id: &Value, count: usize) -> Value {
        let float = |id: &Value| id.as_i64().and_then(|whole| format!("{whole}.0").parse::<f64>().ok());
        match self {
            Self::Text => id.as_str().map_or_else(|| json!(id.to_string()), |text| json!(text)),
            Self::Number => {
                let number = id.as_str().and_then(|text| text.parse::<i64>().ok());
                number.map_or_else(|| id.clone(), |number| json!(number))
            }
            Self::Float => float(id).map_or_else(|| id.clone(), |float| json!(float)),
            Self::Rounded => rounded(id),
            Self::Own => json!(count),
        }
    }
}

/// A whole number as JavaScript reads and writes it.
fn rounded(id: &Value) -> Value {
    let whole = id.as_f64().filter(|_| id.is_i64() || id.is_u64());
    whole.and_then(|double| format!("{double}").parse().ok()).unwrap_or_else(|| id.clone())
}

fn set(message: &mut Value, pointer: &str, value: &Value) {
    let (parent, name) = split(pointer);
    match message.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            members.insert(name, value.clone());
        }
        Some(Value::Array(items)) => match name.parse::<usize>() {
            Ok(index) if index < items.len() => items[index] = value.clone(),
            _ => items.push(value.clone()),
        },
        _ => {}
    }
}

fn remove(message: &mut Value, pointer: &str) {
    let (parent, name) = split(pointer);
    match message.pointer_mut(parent) {
        Some(Value::Object(members)) => drop(members.shift_remove(&name)),
        Some(Value::Array(items)) => {
            if let Ok(index) = name.parse::<usize>()
                && index < items.len()
            {
                items.remove(index);
            }
        }
        _ => {}
    }
}

fn copy(message: &mut Value, pointer: &str, times: usize) {
    let Some(Value::Array(items)) = message.pointer_mut(pointer) else { return };
    let Some(last) = items.last().cloned() else { return };
    for number in 1..=times {
        let mut another = last.clone();
        for member in ["name", "title", "uri"] {
            if let Some(Value::String(text)) = another.get_mut(member) {
                text.push_str(&number.to_string());
            }
        }
        items.push(another);
    }
}

/// Replaces `$n` in a string by a number.
fn counted(value: &Value, number: usize) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("$n", &number.to_string())),
        other => other.clone(),
    }
}

fn split(pointer: &str) -> (&str, String) {
    let (parent, name) = pointer.rsplit_once('/').unwrap_or(("", pointer));
    (parent, name.replace("~1", "/").replace("~0", "~"))
}
