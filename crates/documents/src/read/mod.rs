//! Readers: the bytes of a file become a document.

mod error;
mod markdown;
mod office;
mod pdf;
mod workbook;

use crate::{Document, Format};
use std::panic::{self, AssertUnwindSafe};

pub use error::ReadError;
pub use pdf::{RecognisedPage, binary_hash, recognised};

/// Options of [`read`].
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The file's name; the document is named after it.
    pub name: Option<String>,
    /// Opens an encrypted file.
    pub password: Option<String>,
    /// The text of cells in a workbook.
    pub cells: CellText,
    /// Descriptions of pictures that their author wrote.
    pub alt_text: AltText,
}

/// The text of cells in a workbook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CellText {
    /// The value: `2024-01-24 00:00:00`, `0.125`. docling 2.142 prints these.
    #[default]
    Value,
    /// As the program shows it: `24-Jan-24`, `12.5%`.
    Displayed,
}

/// Descriptions of pictures that their author wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AltText {
    /// Left out, as docling does; many are made up by the program ("Picture 1").
    #[default]
    Drop,
    /// Kept as the description of the picture.
    Keep,
}

/// Reads a file. Third-party parsers do the work, and hostile input can make them use all memory,
/// hang or abort: call this in a process that may be killed.
pub fn read(bytes: &[u8], format: Format, options: &ReadOptions) -> Result<Document, ReadError> {
    if bytes.is_empty() {
        return Err(ReadError::NoBytes);
    }
    // The parsers of others can panic; they share no state that a panic could leave broken.
    let document = panic::catch_unwind(AssertUnwindSafe(|| dispatch(bytes, format, options)))
        .unwrap_or_else(|_| {
            let reason = "its reader failed on the content".to_owned();
            Err(ReadError::Damaged { format, reason })
        })?;
    if is_empty(&document) {
        return Err(if format == Format::Pdf { ReadError::NoTextLayer } else { ReadError::Empty });
    }
    Ok(document)
}

fn dispatch(bytes: &[u8], format: Format, options: &ReadOptions) -> Result<Document, ReadError> {
    match format {
        Format::Json => Ok(Document::from_json(bytes)?),
        Format::Image => Err(ReadError::NoTextLayer),
        Format::Pdf => pdf::read(bytes, options),
        _ => office::read(bytes, format, options),
    }
}

/// The name of a file without folders and extension.
fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.rsplit_once('.').map_or(file, |(stem, _)| if stem.is_empty() { file } else { stem })
}

fn is_empty(document: &Document) -> bool {
    document.texts.iter().all(|text| text.text.trim().is_empty())
        && document.tables.is_empty()
        && document.pictures.is_empty()
}

#[cfg(test)]
mod tests;
