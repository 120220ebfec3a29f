//! The members of a record as JSON: always one line of ASCII, whatever the values are.

use super::clock;
use std::{fmt::Write, time::Instant};

/// Longest text of one member, in characters; the rest is cut off.
const MAX_TEXT: usize = 256;

/// Initial capacity, enough for most records.
const CAPACITY: usize = 320;

/// True for each byte that needs no escape in a JSON string.
const UNESCAPED: [bool; 256] = {
    let (mut plain, mut byte) = ([false; 256], 0);
    while byte < 256 {
        plain[byte] = matches!(byte, 0x20..0x7f) && byte != b'"' as usize && byte != b'\\' as usize;
        byte += 1;
    }
    plain
};

/// Builds the members of a record. `kind` is the first, `time` the second.
#[derive(Debug)]
pub(super) struct Members(String);

/// The unique id of a call; it needs no escape.
#[derive(Debug, Clone, Copy)]
pub(super) enum CallId<'a> {
    Made {
        process: &'a str,
        number: u64,
    },
    /// As read from a record.
    Recorded(&'a str),
}

impl CallId<'_> {
    pub(super) fn push_to(&self, out: &mut String) {
        match self {
            CallId::Recorded(id) => out.push_str(id),
            CallId::Made { process, number } => {
                out.push_str(process);
                out.push('-');
                push_number(out, *number);
            }
        }
    }
}

impl Members {
    pub(super) fn new(kind: &'static str) -> Self {
        Self::at(Instant::now(), kind)
    }

    /// A record of a time in the recent past.
    pub(super) fn at(moment: Instant, kind: &'static str) -> Self {
        let mut out = String::with_capacity(CAPACITY);
        out.push_str("\"kind\":\"");
        out.push_str(kind);
        out.push_str("\",\"time\":\"");
        clock::push_moment(&mut out, moment);
        out.push('"');
        Self(out)
    }

    /// The members that both records of a call have, for [`part_of`](Self::part_of).
    pub(super) fn of_call(id: CallId<'_>, caller: &str, method: &str, target: Option<&str>) -> String {
        let mut part = Self(String::with_capacity(CAPACITY));
        part.name("call");
        part.0.push('"');
        id.push_to(&mut part.0);
        part.0.push('"');
        let part = part.text("caller", caller).text("method", method);
        match target {
            Some(target) => part.text("target", target).0,
            None => part.0,
        }
    }

    pub(super) fn part_of(mut self, part: &str) -> Self {
        self.0.push_str(part);
        self
    }

    #[inline]
    pub(super) fn text(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        quote(&mut self.0, value);
        self
    }

    #[inline]
    pub(super) fn number(mut self, name: &str, value: u64) -> Self {
        self.name(name);
        push_number(&mut self.0, value);
        self
    }

    /// A value that `write` appends; it must be JSON in ASCII on one line.
    pub(super) fn written<T>(&mut self, name: &str, write: impl FnOnce(&mut String) -> T) -> T {
        self.name(name);
        write(&mut self.0)
    }

    /// `value` is JSON already.
    pub(super) fn json(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        to_ascii(&mut self.0, value);
        self
    }

    pub(super) fn finish(self) -> String {
        self.0
    }

    /// Inlined, so that a constant name is copied without a call.
    #[inline]
    fn name(&mut self, name: &str) {
        self.0.push_str(",\"");
        self.0.push_str(name);
        self.0.push_str("\":");
    }
}

/// Appends `text` as a JSON string of ASCII on one line; a long text is cut.
pub fn quote(out: &mut String, text: &str) {
    if text.len() <= MAX_TEXT && text.bytes().all(|byte| UNESCAPED[usize::from(byte)]) {
        out.push('"');
        out.push_str(text);
        out.push('"');
        return;
    }
    let cut = text.char_indices().nth(MAX_TEXT).map(|(at, _)| at);
    let short = cut.map_or_else(|| text.to_owned(), |at| format!("{}...", &text[..at]));
    to_ascii(out, &serde_json::Value::from(short).to_string());
}

/// Appends a number without `std::fmt`, which is slower.
pub(super) fn push_number(out: &mut String, value: u64) {
    out.push_str(std::str::from_utf8(decimal(value, &mut [0; 20])).expect("digits are ASCII"));
}

/// The digits of a number.
pub(super) fn decimal(mut value: u64, text: &mut [u8; 20]) -> &[u8] {
    let mut first = text.len();
    loop {
        first -= 1;
        text[first] = b'0' + u8::try_from(value % 10).unwrap_or_default();
        value /= 10;
        if value == 0 {
            return &text[first..];
        }
    }
}

/// Appends JSON with all non-ASCII and control characters escaped, so that neither a terminal nor
/// a reader is misled. Outside of strings JSON is ASCII, so every other character is in a string
/// and may be escaped.
fn to_ascii(out: &mut String, json: &str) {
    if json.bytes().all(is_plain) {
        out.push_str(json);
        return;
    }
    for c in json.chars() {
        if (' '..='~').contains(&c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").expect("writing to a String cannot fail");
            }
        }
    }
}

fn is_plain(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte)
}
