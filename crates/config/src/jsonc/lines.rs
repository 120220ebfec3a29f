//! Converts byte offsets to lines and columns.

use serde::Serialize;

/// A line and a column, both one-based; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// A text with an index of its lines.
#[derive(Debug, Clone)]
pub struct Lines {
    text: String,
    starts: Vec<usize>,
    /// Number of characters that start before each block, and the total at the end, so that a long
    /// line is not recounted for each of its columns.
    characters: Vec<usize>,
}

/// Size of a block in bytes.
const BLOCK: usize = 1024;

impl Lines {
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(breaks).collect();
        let sums = text.as_bytes().chunks(BLOCK).scan(0, |sum, block| {
            *sum += beginnings(block);
            Some(*sum)
        });
        let characters = std::iter::once(0).chain(sums).collect();
        Self { text, starts, characters }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn position(&self, at: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= at) - 1;
        let start = self.starts[line];
        let before = self.text.get(start..at).unwrap_or_default();
        let unseen = before.chars().take_while(|c| *c == '\u{feff}').count();
        let column = self.before(start + before.len()) - self.before(start) - unseen + 1;
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Position { line: number(line + 1), column: number(column) }
    }

    /// Number of characters that start before this byte.
    fn before(&self, at: usize) -> usize {
        let block = at / BLOCK;
        self.characters[block] + beginnings(&self.text.as_bytes()[block * BLOCK..at])
    }

    /// The line with this number, without its line break.
    pub fn line(&self, number: u32) -> Option<&str> {
        let index = (number as usize).checked_sub(1)?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).copied().unwrap_or(self.text.len());
        Some(self.text[start..end].trim_end_matches(['\n', '\r']).trim_start_matches('\u{feff}'))
    }
}

/// Number of characters that start in these bytes.
fn beginnings(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_characters_however_long_the_line_is() {
        let text = format!("\u{feff}{}\n{}x", "é".repeat(3000), "a€".repeat(2 * BLOCK));
        let lines = Lines::new(text.as_str());
        for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
            let line = text[..at].rsplit('\n').next().unwrap_or_default();
            let want = line.trim_start_matches('\u{feff}').chars().count() + 1;
            assert_eq!(lines.position(at).column as usize, want, "{at}");
        }
        assert_eq!(Lines::new("").position(0), Position { line: 1, column: 1 });
    }
}
