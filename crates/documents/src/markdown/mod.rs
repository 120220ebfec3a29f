//! Writes a document as Markdown.

use crate::Document;
use docling::{DocumentConverter, InputFormat, SourceDocument};

/// Options of [`markdown()`].
#[derive(Debug, Clone, Default)]
pub struct MarkdownOptions {}

/// Writes a document as Markdown.
pub fn markdown(document: &Document, _options: &MarkdownOptions) -> String {
    let source = SourceDocument::from_bytes("document", InputFormat::JsonDocling, document.to_json());
    let result = DocumentConverter::new().convert(source);
    result.map(|result| result.document.export_to_markdown()).unwrap_or_default()
}
