//! Encodings of an answer, most of them wrong.

use serde::{Deserialize, Serialize};
use serde_json::{Value, ser::PrettyFormatter};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Written {
    /// Over several lines.
    Pretty,
    /// With a byte-order mark in front.
    Bom,
    Utf16,
    /// Non-ASCII characters as one byte each.
    Latin1,
    /// With a `Content-Length` header, as language servers do.
    Framed,
    /// As Python prints a dictionary.
    PythonRepr,
    /// With ANSI colour codes.
    Coloured,
    /// With half of a surrogate pair in place of U+FFFD.
    HalfPair,
}

impl Written {
    pub(super) fn bytes(self, answer: &Value) -> Vec<u8> {
        let text = answer.to_string();
        match self {
            Self::Pretty => pretty(answer),
            Self::Bom => format!("\u{feff}{text}").into_bytes(),
            Self::Utf16 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Latin1 => text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect(),
            Self::Framed => format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes(),
            Self::PythonRepr => python(&text).into_bytes(),
            Self::HalfPair => text.replace('\u{fffd}', "\\ud83d").into_bytes(),
            Self::Coloured => format!("\u{1b}[32m{text}\u{1b}[0m").into_bytes(),
        }
    }
}

fn pretty(answer: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, PrettyFormatter::new());
    serde::Serialize::serialize(answer, &mut writer).expect("a value can be written");
    bytes
}

fn python(text: &str) -> String {
    text.replace('"', "'").replace(":true", ": True").replace(":false", ": False").replace(":null", ": None")
}
