//! Makes docling's crate print the values of cells, as docling does, and not their display form.

use std::borrow::Cow;
use std::io::{Cursor, Read, Write};
use zip::{ZipArchive, ZipWriter, result::ZipResult, write::SimpleFileOptions};

const STYLES: &str = "xl/styles.xml";
/// A larger part is left alone; real ones have a few hundred kilobytes.
const MAX_STYLES_BYTES: u64 = 16 << 20;

/// The workbook with number formats that only say which cells are dates.
///
/// The crate's own parser of formats ignores a part with a document type, while the parser of
/// values skips it: cells are typed as before, and printed without a format. A test fails if an
/// upgrade changes this.
pub(super) fn with_plain_values(bytes: &[u8]) -> Cow<'_, [u8]> {
    match rewrite(bytes) {
        Ok(Some(rewritten)) => Cow::Owned(rewritten),
        // The reader will say what is wrong with the file.
        Ok(None) | Err(_) => Cow::Borrowed(bytes),
    }
}

fn rewrite(bytes: &[u8]) -> ZipResult<Option<Vec<u8>>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))?;
    let mut styles = Vec::new();
    archive.by_name(STYLES)?.take(MAX_STYLES_BYTES + 1).read_to_end(&mut styles)?;
    let styles = match String::from_utf8(styles) {
        Ok(styles) if styles.len() as u64 <= MAX_STYLES_BYTES => styles,
        _ => return Ok(None),
    };
    if styles.contains("<!DOCTYPE") {
        return Ok(None);
    }
    let mut writer = ZipWriter::new(Cursor::new(Vec::with_capacity(bytes.len())));
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index)?;
        if entry.name()? == STYLES {
            writer.start_file(STYLES, SimpleFileOptions::default())?;
            let at = if styles.trim_start_matches('\u{feff}').starts_with("<?xml") {
                styles.find("?>").map_or(0, |end| end + 2)
            } else {
                0
            };
            writer.write_all(&styles.as_bytes()[..at])?;
            writer.write_all(b"<!DOCTYPE styleSheet>")?;
            writer.write_all(&styles.as_bytes()[at..])?;
        } else {
            writer.raw_copy_file(entry)?;
        }
    }
    Ok(Some(writer.finish()?.into_inner()))
}
