//! The file of the newest signed head, beside the segments.

use super::head::SignedHead;
use crate::audit::{disk::Disk, line::Line};
use std::io::{self, BufRead as _, BufReader};

const FILE: &str = "signed-head.json";
const DRAFT: &str = "signed-head.json.new";

/// Maximum length of the file.
const MAX_BYTES: u64 = 4096;

/// The text of the newest head; `None` if nothing was signed.
pub(in crate::audit) fn read(disk: &Disk) -> io::Result<Option<String>> {
    disk.read_small(FILE, MAX_BYTES)
}

/// Replaces the file.
pub(in crate::audit) fn write(disk: &Disk, head: &SignedHead) -> io::Result<()> {
    let mut text = serde_json::to_vec(head)?;
    text.push(b'\n');
    disk.replace(DRAFT, FILE, &text)
}

/// True if the trail still has the record that the head names. What follows that record, and what
/// precedes it, is left to `verify`.
pub(in crate::audit) fn continues(disk: &Disk, head: &SignedHead) -> io::Result<bool> {
    let mut reader = BufReader::new(disk.read(head.segment)?);
    let mut text = Vec::new();
    while reader.read_until(b'\n', &mut text)? > 0 {
        if let Some(line) = text.strip_suffix(b"\n").and_then(Line::read)
            && line.seq == head.seq
        {
            return Ok(head.link() == Some(line.link()));
        }
        text.clear();
    }
    Ok(false)
}
