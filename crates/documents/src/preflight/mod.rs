//! Cheap checks before a file is read: sizes, ratios and counts that no honest file has.
//!
//! They need little time and memory whatever the input is, and refuse the files that are known to
//! make a reader hang or use all memory. They are no replacement for a process with limits.

mod html;
mod package;
mod pdf;
mod xml;

use crate::Format;

/// The limits of [`preflight()`].
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes of a package's parts when inflated.
    pub inflated_bytes: u64,
    /// Inflated bytes for each byte of a part.
    pub ratio: u64,
    /// Smaller parts may have any ratio, as repetitive documents do.
    pub ratio_from_bytes: u64,
    /// Parts of a package.
    pub entries: usize,
    /// Paragraphs, runs, rows and cells of one part.
    pub elements: u64,
    /// Columns or rows that one cell of a document spans.
    pub span: u64,
    /// Merged ranges of a sheet.
    pub merges: usize,
    /// Cells of all merged ranges of a sheet.
    pub merged_cells: u64,
    /// Attributes of one tag.
    pub attributes: usize,
    /// Nested arrays and dictionaries of a PDF.
    pub nesting: usize,
}

/// Reasons why a file is not given to a reader.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Refused {
    #[error("the file has {found} bytes; at most {limit} are allowed")]
    FileBytes { found: u64, limit: u64 },
    #[error("the package has more than {limit} parts")]
    Entries { limit: usize },
    #[error("the parts of the package have more than {limit} bytes when inflated")]
    InflatedBytes { limit: u64 },
    #[error("{part} inflates to more than {limit} times its size")]
    Ratio { part: String, limit: u64 },
    #[error("{part} has more than {limit} paragraphs, runs, rows or cells")]
    Elements { part: String, limit: u64 },
    #[error("{part} has a cell that spans {found} rows or columns; at most {limit} are allowed")]
    Span { part: String, found: u64, limit: u64 },
    #[error("{part} has more than {limit} merged ranges")]
    Merges { part: String, limit: usize },
    #[error("{part} merges more than {limit} cells")]
    MergedCells { part: String, limit: u64 },
    #[error("a tag has more than {limit} attributes")]
    Attributes { limit: usize },
    #[error("arrays or dictionaries are nested deeper than {limit} levels")]
    Nesting { limit: usize },
    #[error("the package has the part {part:?}, which leads elsewhere or is no plain file")]
    Entry { part: String },
    #[error("the package has a part twice")]
    Twice,
    #[error("the package cannot be opened: {0}")]
    Package(String),
}

/// Checks a file before [`crate::read`].
pub fn preflight(bytes: &[u8], format: Format, limits: &Limits) -> Result<(), Refused> {
    let found = bytes.len() as u64;
    if found > limits.file_bytes {
        return Err(Refused::FileBytes { found, limit: limits.file_bytes });
    }
    match format {
        _ if format.is_package() && bytes.starts_with(b"PK") => package::check(bytes, limits),
        Format::Html | Format::Mhtml | Format::Markdown | Format::Xml => html::check(bytes, limits),
        Format::Pdf => pdf::check(bytes, limits),
        _ => Ok(()),
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 100 << 20,
            inflated_bytes: 1 << 30,
            ratio: 500,
            ratio_from_bytes: 64 << 20,
            entries: 20_000,
            elements: 2_000_000,
            span: 1000,
            merges: 20_000,
            merged_cells: 1_000_000,
            attributes: 1000,
            nesting: 500,
        }
    }
}

#[cfg(test)]
mod tests;
