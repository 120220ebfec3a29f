//! Checks office packages, which are ZIP archives of XML parts.

use super::{Limits, Refused, xml};
use memchr::memmem;
use std::io::{Cursor, Read};
use zip::ZipArchive;

const CHUNK: usize = 64 << 10;

pub(super) fn check(bytes: &[u8], limits: &Limits) -> Result<(), Refused> {
    // Counted before the archive is opened, which takes memory for every entry.
    let entries = memmem::find_iter(bytes, b"PK\x01\x02").take(limits.entries + 1).count();
    if entries > limits.entries {
        return Err(Refused::Entries { limit: limits.entries });
    }
    let broken = |error: zip::result::ZipError| Refused::Package(error.to_string());
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    if declared_entries(bytes).is_some_and(|declared| declared != archive.len()) {
        return Err(Refused::Twice);
    }
    let mut budget = limits.inflated_bytes;
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(broken)?;
        let Ok(name) = entry.name().map(std::borrow::Cow::into_owned) else { continue };
        // Nothing is unpacked to files, but an honest program writes none of these.
        if name.split(['/', '\\']).any(|part| part == "..") || entry.unix_mode().is_some_and(is_special) {
            return Err(Refused::Entry { part: name });
        }
        let packed = entry.compressed_size().max(1);
        let declared = entry.size();
        if declared > budget {
            return Err(Refused::InflatedBytes { limit: limits.inflated_bytes });
        }
        if declared >= limits.ratio_from_bytes && declared / packed > limits.ratio {
            return Err(Refused::Ratio { part: name, limit: limits.ratio });
        }
        if is_checked(&name) {
            // The declared size may be a lie, so what is read counts.
            budget = scan(entry, &name, budget, limits)?;
        } else {
            budget -= declared;
        }
    }
    Ok(())
}

/// The number of entries that the end of the archive declares. An archive is read by names, so a
/// name that occurs twice is missing in what was read.
fn declared_entries(bytes: &[u8]) -> Option<usize> {
    const TOTAL: usize = 10;
    let end = memmem::rfind(bytes, b"PK\x05\x06")?;
    let total = bytes.get(end + TOTAL..end + TOTAL + 2)?;
    let total = u16::from_le_bytes([total[0], total[1]]);
    // The largest number means that the real one is elsewhere.
    (total != u16::MAX).then_some(usize::from(total))
}

/// True for links, devices and files that run as another user.
pub(super) fn is_special(mode: u32) -> bool {
    const KIND: u32 = 0o170_000;
    const OTHER_USER: u32 = 0o6000;
    let is_plain = matches!(mode & KIND, 0 | 0o100_000 | 0o040_000);
    !is_plain || mode & OTHER_USER != 0
}

/// The parts with the content of documents and sheets; pictures are not looked at.
fn is_checked(name: &str) -> bool {
    let name = name.trim_start_matches('/');
    let is_xml = name.rsplit_once('.').is_some_and(|(_, extension)| extension == "xml");
    is_xml && (name.starts_with("word/") || name.starts_with("xl/") || name.starts_with("ppt/"))
        || name == "content.xml"
}

fn scan(entry: impl Read, name: &str, budget: u64, limits: &Limits) -> Result<u64, Refused> {
    let mut scan = xml::Scan::new(name, limits);
    let mut left = budget;
    let mut chunk = vec![0; CHUNK];
    let mut entry = entry.take(budget + 1);
    loop {
        // A part that cannot be inflated is the reader's to refuse.
        let Ok(read) = entry.read(&mut chunk) else { return Ok(left) };
        if read == 0 {
            return Ok(left);
        }
        left =
            left.checked_sub(read as u64).ok_or(Refused::InflatedBytes { limit: limits.inflated_bytes })?;
        scan.feed(&chunk[..read])?;
    }
}
