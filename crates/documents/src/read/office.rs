//! Reads every format but PDF with the crate `docling`.

use super::{ReadError, ReadOptions};
use crate::{Document, Format};
use docling::{ConversionError, DocumentConverter, SourceDocument};

pub(super) fn read(bytes: &[u8], format: Format, options: &ReadOptions) -> Result<Document, ReadError> {
    let name = options.name.as_deref().unwrap_or("document");
    let source = SourceDocument::from_bytes(stem(name), format.reader(), bytes.to_vec());
    let converter = DocumentConverter::new().password(options.password.clone());
    let result = converter.convert(source).map_err(|error| explain(&error, format))?;
    let json = result.document.export_to_json();
    Ok(Document::from_json(json.as_bytes())?)
}

fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.rsplit_once('.').map_or(file, |(stem, _)| if stem.is_empty() { file } else { stem })
}

fn explain(error: &ConversionError, format: Format) -> ReadError {
    if error.encryption().is_some() {
        return ReadError::Encrypted;
    }
    if let Some(limit) = error.limit() {
        return ReadError::TooLarge(limit.to_string());
    }
    match error {
        ConversionError::UnsupportedFormat(_) | ConversionError::UnsupportedOption(_) => {
            ReadError::Unsupported { format, reason: error.to_string() }
        }
        _ => ReadError::Damaged { format, reason: error.to_string() },
    }
}
