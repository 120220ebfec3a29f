//! Documents: a lossless model of `DoclingDocument`, readers, and writers.
//!
//! [`read`] turns the bytes of a file into a [`Document`]; [`markdown()`] and [`html()`] write one
//! out. Everything here is a pure function of its input: no files, no network, no environment.
//! The readers are third-party parsers of untrusted input that can abort the process, so callers
//! run [`read`] in a child process with limits. [`preflight`] refuses what is cheap to refuse.

mod document;
mod format;
mod html;
mod markdown;
mod parts;
mod preflight;
mod read;
mod write;

pub use document::{
    Bounds, Document, DocumentError, Extra, Formatting, Group, Members, NodeId, NodeKind, Origin, Other,
    Page, PageNumber, Picture, Provenance, Ref, SCHEMA_VERSION, Script, Table, TableCell, TableData, Text,
};
pub use format::Format;
pub use html::{HtmlOptions, html};
pub use markdown::{Images, MarkdownOptions, SheetHeadings, TableStyle, markdown};
pub use parts::{Heading, outline, page, section};
pub use preflight::{Limits, Refused, preflight};
pub use read::{AltText, CellText, ReadError, ReadOptions, RecognisedPage, binary_hash, read, recognised};

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod testing;
