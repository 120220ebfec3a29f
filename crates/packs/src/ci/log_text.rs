//! Output of programs as text that can be shown: without terminal controls and secrets, truncated.

use super::redact::redact;

/// Maximum length of a line in bytes; minified code and data can have longer ones.
const LONGEST_LINE: usize = 2000;

/// The end of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tail {
    pub(super) text: String,
    pub(super) truncated: bool,
}

/// `text` without escape sequences and other control characters. A `\r` (a progress line that is
/// overwritten) counts as a line end.
pub(super) fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => skip_escape(&mut characters),
            '\r' if characters.peek() != Some(&'\n') => shown.push('\n'),
            '\n' | '\t' => shown.push(character),
            other if other.is_control() => {}
            other => shown.push(other),
        }
    }
    shown
}

/// The last `lines` lines of `text`, limited to the last `bytes` bytes, with secrets redacted.
pub(super) fn tail(text: &str, lines: usize, bytes: usize) -> Tail {
    let text = text.trim_end();
    let all: Vec<&str> = text.lines().collect();
    let kept = &all[all.len().saturating_sub(lines)..];
    let mut truncated = kept.len() < all.len();
    let mut shortened = Vec::with_capacity(kept.len());
    for line in kept {
        let short = cut(line, LONGEST_LINE);
        truncated |= short.len() < line.len();
        shortened.push(short);
    }
    let joined = redact(&shortened.join("\n"));
    let start = joined.len().saturating_sub(bytes);
    let start = (start..=joined.len()).find(|at| joined.is_char_boundary(*at)).unwrap_or(joined.len());
    Tail { truncated: truncated || start > 0, text: joined[start..].to_owned() }
}

/// The beginning of `text`, at most `bytes` bytes.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Skips the rest of an escape sequence: a control sequence, a title, or a single character.
fn skip_escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match characters.next() {
        Some('[') => {
            characters.find(|character| ('\u{40}'..='\u{7e}').contains(character));
        }
        Some(']') => {
            while let Some(character) = characters.next() {
                if character == '\u{7}' {
                    break;
                }
                if character == '\u{1b}' {
                    characters.next_if_eq(&'\\');
                    break;
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_controls_vanish() {
        assert_eq!(plain("\u{1b}[1;31mred\u{1b}[0m\u{7}\r\nnext"), "red\nnext");
        assert_eq!(plain("\u{1b}]0;title\u{7}a\u{1b}]8;;x\u{1b}\\b"), "ab");
        assert_eq!(plain("10%\r20%\r"), "10%\n20%\n");
    }

    #[test]
    fn a_tail_keeps_the_last_lines_and_bytes() {
        assert_eq!(tail("a\nb\nc\n", 2, 100), Tail { text: "b\nc".into(), truncated: true });
        assert_eq!(tail("a\nb", 9, 100), Tail { text: "a\nb".into(), truncated: false });
        assert_eq!(tail("äöü", 9, 3), Tail { text: "ü".into(), truncated: true });
    }
}
