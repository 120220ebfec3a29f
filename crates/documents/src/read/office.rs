//! Reads every format with the crate `docling`; PDF only where text runs from right to left.

use super::{AltText, CellText, ReadError, ReadOptions, markdown, stem, workbook};
use crate::{Document, Format};
use docling::{ConversionError, DocumentConverter, SourceDocument};
use serde_json::Value;

pub(super) fn read(bytes: &[u8], format: Format, options: &ReadOptions) -> Result<Document, ReadError> {
    let name = options.name.as_deref().unwrap_or("document");
    let bytes = match (format, options.cells) {
        (Format::Xlsx, CellText::Value) => workbook::with_plain_values(bytes),
        (Format::Markdown, _) => markdown::without_breaks_before_spans(bytes),
        _ => bytes.into(),
    };
    let source = SourceDocument::from_bytes(stem(name), format.reader(), bytes.into_owned());
    let converter = DocumentConverter::new().password(options.password.clone());
    let result = converter.convert(source).map_err(|error| explain(&error, format))?;
    let json = result.document.export_to_json();
    let mut document = Document::from_json(json.as_bytes())?;
    if options.alt_text == AltText::Drop {
        drop_alt_text(&mut document);
    }
    Ok(document)
}

/// Without models, every description is the alternative text of a picture.
pub(super) fn drop_alt_text(document: &mut Document) {
    for picture in &mut document.pictures {
        picture.annotations.retain(|annotation| annotation["kind"] != "description");
        if let Some(Value::Object(meta)) = &mut picture.node.meta {
            meta.shift_remove("description");
            if meta.is_empty() {
                picture.node.meta = None;
            }
        }
    }
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
