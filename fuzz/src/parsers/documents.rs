//! Properties of every document, whichever reader made it.

use std::io::{Cursor, Write};
use trunkline_documents::{
    Document, Format, HtmlOptions, Limits, MarkdownOptions, ReadOptions, html, markdown, outline, page,
    preflight, read, section,
};
use zip::{ZipWriter, write::SimpleFileOptions};

/// Reads a file that passes the checks before reading; a reader may refuse it, but not panic.
pub(super) fn reads(bytes: &[u8], format: Format) {
    Format::detect(None, bytes);
    if preflight(bytes, format, &Limits::default()).is_err() {
        return;
    }
    if let Ok(document) = read(bytes, format, &ReadOptions::default()) {
        check(&document);
    }
}

/// A document is the same after it was written and read, and every writer ends.
pub(super) fn check(document: &Document) {
    let again = Document::from_json(&document.to_json()).expect("what we write can be read");
    assert!(again == *document);
    markdown(document, &MarkdownOptions::for_reading());
    html(document, &HtmlOptions::default());
    for position in 0..outline(document).len().min(3) {
        let part = section(document, position).expect("a heading has a section");
        Document::from_json(&part.to_json()).expect("a section is a document");
    }
    if let Some(number) = document.pages.keys().next() {
        page(document, *number).expect("the page is there");
    }
}

/// An office package with the data as its main part.
pub(super) fn package(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).expect("memory can be written");
        writer.write_all(bytes).expect("memory can be written");
    }
    writer.finish().expect("memory can be written").into_inner()
}

/// The part that names the main part of a package.
pub(super) fn relationships(target: &str, kind: &str) -> Vec<u8> {
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    format!(
        "<Relationships xmlns=\"{package}\">\
         <Relationship Id=\"rId1\" Type=\"{office}/{kind}\" Target=\"{target}\"/></Relationships>"
    )
    .into_bytes()
}
