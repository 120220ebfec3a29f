//! Finds a format by the first bytes of a file, or by the parts of a package.

use super::Format;
use memchr::memmem;
use std::io::Cursor;
use zip::ZipArchive;

/// PDF readers accept bytes before the header, up to this many.
const PDF_HEADER_WITHIN: usize = 1024;
/// Text formats are recognised by this many bytes.
const HEAD_BYTES: usize = 4096;
/// A package with more entries is not opened to look for its type.
const MAX_ENTRIES: usize = 100_000;

const OLE: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";
const IMAGES: [&[u8]; 6] = [b"\x89PNG\r\n", b"\xFF\xD8\xFF", b"GIF8", b"II*\0", b"MM\0*", b"BM"];

pub(super) fn by_content(bytes: &[u8]) -> Option<Format> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return package(bytes);
    }
    if bytes.starts_with(OLE) {
        return compound_file(bytes);
    }
    if memmem::find(&head[..head.len().min(PDF_HEADER_WITHIN)], b"%PDF-").is_some() {
        return Some(Format::Pdf);
    }
    if bytes.starts_with(b"{\\rtf") {
        return Some(Format::Rtf);
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some(Format::Image);
    }
    if IMAGES.iter().any(|magic| bytes.starts_with(magic)) {
        return Some(Format::Image);
    }
    text_format(head)
}

/// True if the bytes can be read as text: UTF-8 without control characters that text has not.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    !bytes.is_empty() && std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0)
}

/// Office and e-book packages are ZIP archives that differ by the parts in them.
fn package(bytes: &[u8]) -> Option<Format> {
    if memmem::find_iter(bytes, b"PK\x01\x02").take(MAX_ENTRIES + 1).count() > MAX_ENTRIES {
        return None;
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let mut mimetype = Vec::new();
    if let Ok(entry) = archive.by_name("mimetype") {
        std::io::Read::read_to_end(&mut std::io::Read::take(entry, 200), &mut mimetype).ok()?;
    }
    let mimetype = String::from_utf8_lossy(&mimetype);
    let typed = [Format::Odt, Format::Ods, Format::Odp, Format::Epub]
        .into_iter()
        .find(|format| mimetype.trim_end().trim_end_matches("-template") == format.media_type());
    if typed.is_some() {
        return typed;
    }
    archive.file_names().find_map(|name| {
        let name = name.ok()?;
        match name.trim_start_matches('/').split_once('/')? {
            ("word", part) if part.starts_with("document") => Some(Format::Docx),
            ("xl", part) if part.starts_with("workbook") => Some(Format::Xlsx),
            ("ppt", part) if part.starts_with("presentation") => Some(Format::Pptx),
            _ => None,
        }
    })
}

/// The old Office formats are compound files that differ by the names of their streams, which are
/// stored as UTF-16. An encrypted package of the new formats is one as well.
fn compound_file(bytes: &[u8]) -> Option<Format> {
    let has = |name: &str| {
        let utf16: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        memmem::find(bytes, &utf16).is_some()
    };
    if has("WordDocument") {
        Some(Format::Doc)
    } else if has("PowerPoint Document") {
        Some(Format::Ppt)
    } else if has("Workbook") || has("Book") {
        Some(Format::Xls)
    } else if has("__substg1.0_") {
        Some(Format::Email)
    } else {
        None
    }
}

fn text_format(head: &[u8]) -> Option<Format> {
    let text = String::from_utf8_lossy(head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head));
    let text = text.trim_start();
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("<!doctype html") || lower.starts_with("<html") {
        return Some(Format::Html);
    }
    if text.starts_with("WEBVTT") {
        return Some(Format::WebVtt);
    }
    if text.starts_with('{') && text.contains("\"schema_name\"") && text.contains("DoclingDocument") {
        return Some(Format::Json);
    }
    if lower.starts_with("<?xml") {
        let html = lower.contains("<html") && lower.contains("xhtml");
        return html.then_some(Format::Html);
    }
    let mhtml = lower.contains("\nmime-version:") && lower.contains("multipart/related");
    if mhtml && !text.starts_with('<') {
        return Some(Format::Mhtml);
    }
    let mail = ["from:", "received:", "return-path:", "message-id:", "delivered-to:"];
    let headers = lower.lines().take_while(|line| !line.is_empty());
    let known = headers.filter(|line| mail.iter().any(|name| line.starts_with(name))).count();
    (known >= 2).then_some(Format::Email)
}
