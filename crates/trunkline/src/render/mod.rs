//! Formats results as text. All text from servers passes through [`safe`] before it is printed.

pub(crate) mod content;
pub(crate) mod json;
pub(crate) mod listing;
pub(crate) mod problems;
mod save;
mod signature;
mod structured;
pub(crate) mod table;

use anstyle::{AnsiColor, Style};

pub(crate) use save::Out;
pub(crate) use trunkline_secrets::visible as safe;

pub(crate) const HEADING: Style = Style::new().bold().underline();
pub(crate) const NAME: Style = AnsiColor::Green.on_default().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Appends `text` with every line indented; empty lines stay empty.
pub(crate) fn indent(out: &mut String, text: &str, by: usize) {
    for line in text.lines() {
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', by));
            out.push_str(line);
        }
        out.push('\n');
    }
}
