//! Reasons why a file cannot be read.

use crate::{DocumentError, Format};

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("the file has no bytes")]
    NoBytes,
    #[error("not a readable {} file: {reason}; open it in its program and save it again", format.name())]
    Damaged { format: Format, reason: String },
    #[error("the file is encrypted and needs its password")]
    Encrypted,
    #[error("{} files cannot be read: {reason}", format.name())]
    Unsupported { format: Format, reason: String },
    #[error("no text was found in the file, although it is not empty; it may be damaged")]
    Empty,
    #[error("no text layer: the file has only pictures of text, or is damaged")]
    NoTextLayer,
    #[error("no text was recognised in the pictures of the file")]
    NothingRecognised,
    #[error("the file is too large: {0}")]
    TooLarge(String),
    #[error(transparent)]
    Document(#[from] DocumentError),
}
