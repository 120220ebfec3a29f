//! Escapes untrusted text for a terminal.
//!
//! Control characters could move the cursor, overwrite earlier output or inject input; characters
//! that change the writing direction could disguise text. Both are shown in a visible form.

use std::{borrow::Cow, fmt::Write as _};

/// Text of several lines: line breaks and tabs stay.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    let keeps = |c: char| matches!(c, '\n' | '\t') || !is_harmful(c);
    if text.chars().all(keeps) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    let mut out = String::with_capacity(text.len() + 8);
    text.chars().for_each(|c| if keeps(c) { out.push(c) } else { show(&mut out, c) });
    Cow::Owned(out)
}

/// Text of one line: runs of whitespace become one space.
pub(crate) fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        word.chars().for_each(|c| if is_harmful(c) { show(&mut out, c) } else { out.push(c) });
    }
    out
}

/// JSON text with harmful characters escaped as `\u…`, so that its value stays the same.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| is_harmful(c) && !matches!(c, '\n' | '\t' | '\r');
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| if harmful(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(escape).collect())
}

/// True for control characters and those that change the writing direction. All are below U+10000.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Appends the control picture of a control character, or the code point of another character.
fn show(out: &mut String, c: char) {
    let code = u32::from(c);
    match code {
        0..=0x1f => out.extend(char::from_u32(0x2400 + code)),
        0x7f => out.push('\u{2421}'),
        _ => write!(out, "<U+{code:04X}>").expect("a String takes any text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_shown_and_not_obeyed() {
        assert_eq!(text("a\x1b]0;title\x07b\nc\td\x7f\u{9b}2J"), "a␛]0;title␇b\nc\td␡<U+009B>2J");
        assert_eq!(text("file\u{202e}gpj.exe"), "file<U+202E>gpj.exe");
    }

    #[test]
    fn line_breaks_of_every_kind_become_one_kind() {
        assert_eq!(text("a\r\nb\rc"), "a\nb␍c");
        assert_eq!(line(" a\r\n\n b\x1b[1m "), "a b␛[1m");
    }

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(text("grüße 🎉\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_keeps_its_value() {
        let shown = json("{\"a\":\"x\u{9b}y\u{202e}\"}");
        assert_eq!(shown, r#"{"a":"x\u009by\u202e"}"#);
        let value: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(value["a"], "x\u{9b}y\u{202e}");
    }
}
