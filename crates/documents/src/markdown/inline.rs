//! Escapes and formats runs of text.

use crate::write::{escape as escape_html, link};
use crate::{Formatting, Text};

/// Escapes text and adds its formatting and link.
pub(super) fn formatted(text: &str, item: &Text) -> String {
    decorate(escape(text), item.formatting.as_ref(), item.hyperlink.as_deref())
}

/// Escapes underscores and HTML.
pub(super) fn escape(text: &str) -> String {
    escape_html(&escape_underscores(text))
}

/// Adds formatting and link to text that is already escaped.
pub(super) fn decorate(mut text: String, formatting: Option<&Formatting>, hyperlink: Option<&str>) -> String {
    if let Some(formatting) = formatting {
        if formatting.bold {
            text = format!("**{text}**");
        }
        if formatting.italic {
            text = format!("*{text}*");
        }
        if formatting.strikethrough {
            text = format!("~~{text}~~");
        }
    }
    match hyperlink.and_then(link::target) {
        Some(target) => format!("[{text}]({})", link::markdown(&target)),
        None => text,
    }
}

/// Escapes underscores that are not escaped yet, except in the targets of images.
fn escape_underscores(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((start, end)) = image(rest) {
        push_escaped(&mut escaped, &rest[..start]);
        escaped.push_str(&rest[start..end]);
        rest = &rest[end..];
    }
    push_escaped(&mut escaped, rest);
    escaped
}

fn push_escaped(escaped: &mut String, text: &str) {
    let mut before = ' ';
    for character in text.chars() {
        if character == '_' && before != '\\' {
            escaped.push('\\');
        }
        escaped.push(character);
        before = character;
    }
}

/// The first `![…](…)` on one line.
fn image(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(start) = text[from..].find("![").map(|at| at + from) {
        let line_end = text[start..].find('\n').map_or(text.len(), |at| at + start);
        let line = &text[start..line_end];
        if let Some(middle) = line.find("](")
            && let Some(close) = line[middle..].find(')')
        {
            return Some((start, start + middle + close + 1));
        }
        from = start + 2;
    }
    None
}

/// A code span whose delimiter is longer than any run of backticks in it.
pub(super) fn code_span(code: &str) -> String {
    let ticks = "`".repeat(longest_run(code) + 1);
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{code}{pad}{ticks}")
}

/// A fenced block whose fence is longer than any run of backticks in it.
pub(super) fn code_block(code: &str) -> String {
    let fence = "`".repeat((longest_run(code) + 1).max(3));
    format!("{fence}\n{code}\n{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
