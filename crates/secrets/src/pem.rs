//! Private keys in PEM form, also if their first or last lines are missing.

use memchr::memmem;
use std::ops::Range;

/// Maximum length of the text between the dashes and the words `PRIVATE KEY`.
const LONGEST_KIND: usize = 40;

/// Minimum length of a line in the middle of a key.
const SHORTEST_LINE: usize = 40;

/// Maximum length of a timestamp or line number before a line of a key.
const LONGEST_STAMP: usize = 64;

/// The range to hide around the words `PRIVATE KEY` at `words`. Nothing before `floor` is read.
pub(crate) fn key(text: &[u8], words: &Range<usize>, floor: usize) -> Option<Range<usize>> {
    let block = &b" BLOCK"[..];
    let behind = &text[words.end..];
    let behind = words.end + if behind.starts_with(block) { block.len() } else { 0 };
    if !text[behind..].starts_with(b"-----") || !text[words.start..words.end].iter().all(|byte| *byte != b'p')
    {
        return None;
    }
    let before = &text[floor.max(words.start.saturating_sub(LONGEST_KIND))..words.start];
    let line = before.len() - before.iter().rev().take_while(|byte| **byte != b'\n').count();
    let kind = &before[line..];
    if let Some(at) = memmem::rfind(kind, b"-----END") {
        return Some(body_start(text, words.start - kind.len() + at, floor)..behind + 5);
    }
    // The beginning of the first line may be cut off.
    let start = words.start - kind.len() + memmem::rfind(kind, b"-----BEGIN").unwrap_or(kind.len());
    Some(start..end_of_key(text, behind + 5))
}

/// The offset after the last line of the key; the end of the text if that line is missing.
fn end_of_key(text: &[u8], from: usize) -> usize {
    for at in memmem::find_iter(&text[from..], b"-----END") {
        let line = &text[from + at + 8..];
        let near = &line[..line.len().min(LONGEST_KIND + 32)];
        if let Some(words) = memmem::find(near, b"PRIVATE KEY")
            && let Some(dashes) = memmem::find(&near[words..], b"-----")
        {
            return from + at + 8 + words + dashes + 5;
        }
    }
    text.len()
}

/// The start of the body of a key whose last line begins at `end`.
fn body_start(text: &[u8], end: usize, floor: usize) -> usize {
    // The text before the dashes of the last line is a timestamp.
    let near = &text[floor.max(end.saturating_sub(LONGEST_STAMP))..end];
    let end = memchr::memrchr(b'\n', near).map_or(end, |at| end - near.len() + at + 1);
    let (mut start, mut lines) = (end, 0);
    let mut line_end = before_break(text, end, floor);
    while let Some(end) = line_end {
        let field = end - text[floor..end].iter().rev().take_while(|byte| is_base64(**byte)).count();
        // The `n` of an escaped line break (`\n`) does not belong to the line after it.
        let escaped = field > floor && text[field - 1] == b'\\' && field < end;
        let field = if escaped { field + 1 } else { field };
        let fits = end - field >= SHORTEST_LINE || lines == 0 && end > field || field == floor && end > field;
        if !fits {
            break;
        }
        (start, lines) = (field, lines + 1);
        let stamp = text[floor.max(field.saturating_sub(LONGEST_STAMP))..field].iter().rev();
        let stamp = if escaped { 0 } else { stamp.take_while(|byte| **byte != b'\n').count() };
        line_end = before_break(text, field - stamp, floor);
    }
    start
}

/// The end of the line before a line break that ends at `at`.
fn before_break(text: &[u8], at: usize, floor: usize) -> Option<usize> {
    let before = &text[floor..at];
    let left =
        ["\\r\\n", "\\n", "\r\n", "\n", " "].iter().find_map(|mark| before.strip_suffix(mark.as_bytes()))?;
    Some(floor + left.len())
}

pub(crate) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}
