//! Makes docling's crate keep code spans and formulas of Markdown apart from the text after them.

use pulldown_cmark::{Event, Options, Parser};
use std::borrow::Cow;

/// The text with a blank in place of each line break before a code span or a formula.
///
/// The crate adds the text after such a span to it. Markdown reads a line break within a paragraph
/// as a blank, so only a forced break is lost. A test fails if an upgrade makes this needless.
pub(super) fn without_breaks_before_spans(bytes: &[u8]) -> Cow<'_, [u8]> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Cow::Borrowed(bytes) };
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_MATH;
    let mut written = String::new();
    let mut copied = 0;
    let mut line_end = None;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match (event, line_end.take()) {
            (Event::SoftBreak | Event::HardBreak, _) => line_end = Some(range.start),
            (Event::Code(_) | Event::InlineMath(_) | Event::DisplayMath(_), Some(end)) => {
                written.push_str(&text[copied..end]);
                written.push(' ');
                copied = range.start;
            }
            _ => {}
        }
    }
    if copied == 0 {
        return Cow::Borrowed(bytes);
    }
    written.push_str(&text[copied..]);
    Cow::Owned(written.into_bytes())
}
