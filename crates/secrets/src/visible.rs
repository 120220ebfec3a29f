//! Escapes untrusted text for people.
//!
//! Control characters could move the cursor, overwrite earlier output or inject input; characters
//! that change the writing direction could disguise text, and invisible ones could hide it. All of
//! them are shown in a visible form.

use std::{borrow::Cow, fmt::Write as _};

/// Text of several lines: line breaks and tabs stay.
pub fn text(text: &str) -> Cow<'_, str> {
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
pub fn line(text: &str) -> String {
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
pub fn json(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| is_harmful(c) && !matches!(c, '\n' | '\t' | '\r');
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if harmful(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").expect("a String takes any text");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// True for control characters, those that change the writing direction, and those that occupy no
/// space. The joiners U+200C and U+200D and the variation selectors of the first plane are not:
/// scripts and emoji need them.
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
            | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
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
        let shown = json("{\"a\":\"x\u{9b}y\u{202e}\u{e0041}\"}");
        assert_eq!(shown, r#"{"a":"x\u009by\u202e\udb40\udc41"}"#);
    }
}
