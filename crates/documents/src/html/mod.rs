//! Writes a document as HTML.

use crate::Document;
use docling::{DocumentConverter, InputFormat, SourceDocument};

/// Options of [`html()`].
#[derive(Debug, Clone, Default)]
pub struct HtmlOptions {}

/// Writes a document as HTML.
pub fn html(document: &Document, _options: &HtmlOptions) -> String {
    let source = SourceDocument::from_bytes("document", InputFormat::JsonDocling, document.to_json());
    let result = DocumentConverter::new().convert(source);
    result.map(|result| result.document.export_to_html()).unwrap_or_default()
}
