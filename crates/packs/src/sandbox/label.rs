//! Labels: file names as text that is safe to show and can be converted back.
//!
//! A file name is a byte string. Everything except plain printable text (control characters, ANSI
//! escapes, invalid UTF-8, bidirectional and invisible characters) is written as `\xHH` for a byte
//! or `\u{H…}` for a character, and the backslash itself as `\x5c`. Labels are unique, and
//! [`unescape`] restores the name.

use std::fmt::Write as _;

/// The label of a text.
pub fn escape(text: &str) -> String {
    escape_bytes(text.as_bytes())
}

/// The label of a name or path.
pub fn escape_bytes(bytes: &[u8]) -> String {
    let mut label = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            push(&mut label, character);
        }
        for byte in chunk.invalid() {
            push_byte(&mut label, *byte);
        }
    }
    label
}

/// The bytes of a label; `None` if a backslash does not start a valid escape.
pub(super) fn unescape(label: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(label.len());
    let mut rest = label;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let escape = &rest[at + 1..];
        rest = if let Some(hex) = escape.strip_prefix('x') {
            let digits =
                hex.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            &hex[2..]
        } else {
            let (digits, after) = escape.strip_prefix("u{")?.split_once('}')?;
            let code = u32::from_str_radix(digits, 16).ok()?;
            let mut buffer = [0; 4];
            bytes.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut buffer).as_bytes());
            after
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(bytes)
}

fn push(label: &mut String, character: char) {
    match u8::try_from(character) {
        Ok(byte @ (0..=0x1f | 0x7f | b'\\')) => push_byte(label, byte),
        _ if is_unseen(character) => {
            write!(label, "\\u{{{:x}}}", u32::from(character)).expect("writing to a string cannot fail");
        }
        _ => label.push(character),
    }
}

fn push_byte(label: &mut String, byte: u8) {
    write!(label, "\\x{byte:02x}").expect("writing to a string cannot fail");
}

fn is_unseen(character: char) -> bool {
    matches!(character,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_back_from_its_label() {
        let names: [&[u8]; 8] = [
            b"plain.txt",
            b"two\nlines",
            b"\x1b[31mred",
            b"back\\slash",
            b"bad\xff\xfeutf",
            "right\u{202e}left".as_bytes(),
            "größe 漢字".as_bytes(),
            b"looks \\x41 escaped",
        ];
        for name in names {
            let label = escape_bytes(name);
            assert!(label.chars().all(|character| !character.is_control()), "{label:?}");
            assert_eq!(unescape(&label).as_deref(), Some(name), "{label}");
        }
    }

    #[test]
    fn a_backslash_that_begins_no_escape_is_no_label() {
        for text in ["a\\b", "\\", "\\x4", "\\xg0", "\\u{}", "\\u{d800}", "\\u41", "\\x+1"] {
            assert_eq!(unescape(text), None, "{text}");
        }
    }
}
