//! Finds the markers of list items.

use unpdf::{Paragraph, model::ListStyle};

/// Glyphs that are used as bullets, those of symbol fonts among them.
pub(super) const BULLETS: [char; 14] =
    ['•', '◦', '▪', '▫', '‣', '●', '○', '■', '□', '⁃', '∙', '\u{f0b7}', '\u{f0a7}', '\u{f0d8}'];

/// The marker of a list item and the text after it.
pub(super) fn marker(paragraph: &Paragraph, text: &str) -> Option<(String, String)> {
    let Some(info) = &paragraph.style.list_info else { return bullet(text) };
    let marker = match &info.style {
        ListStyle::Unordered { .. } => "-".to_owned(),
        ListStyle::Ordered { .. } => format!("{}.", info.item_number.unwrap_or(1)),
    };
    Some((marker, text.trim_start_matches(BULLETS).trim_start().to_owned()))
}

/// A line that begins with a bullet.
pub(super) fn bullet(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix(BULLETS)?.trim_start();
    (!rest.is_empty()).then(|| ("-".to_owned(), rest.to_owned()))
}

/// A line that begins with a number and a period.
pub(super) fn numbered(line: &str) -> Option<(String, String)> {
    let (number, rest) = line.split_once(' ')?;
    let digits = number.strip_suffix('.')?;
    let is_number = (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| (number.to_owned(), rest.trim_start().to_owned()))
}

/// True if a word is only a bullet, or the number of a list item.
pub(super) fn is_marker(word: &str) -> bool {
    word.chars().all(|character| BULLETS.contains(&character)) || numbered(&format!("{word} ")).is_some()
}
