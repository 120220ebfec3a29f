//! From bytes to lines and columns.

use serde::Serialize;

/// A line and a column, both counted from one; columns are characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// A text that can tell where a byte stands.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    text: String,
    starts: Vec<usize>,
}

impl Lines {
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(breaks).collect();
        Self { text, starts }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn position(&self, at: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= at) - 1;
        let start = self.starts[line];
        let before = self.text.get(start..at).unwrap_or_default();
        let column = before.trim_start_matches('\u{feff}').chars().count() + 1;
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Position { line: number(line + 1), column: number(column) }
    }

    /// The line with this number, without its end.
    pub fn line(&self, number: u32) -> Option<&str> {
        let index = (number as usize).checked_sub(1)?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).copied().unwrap_or(self.text.len());
        Some(self.text[start..end].trim_end_matches(['\n', '\r']).trim_start_matches('\u{feff}'))
    }
}
