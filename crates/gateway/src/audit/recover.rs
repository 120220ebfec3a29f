//! Where a trail goes on after the process that wrote it is gone, in whatever way.

use super::{
    OpenError,
    disk::{Disk, Segment, segment_name},
    line::{Line, Link},
    verify::Opening,
};
use std::{
    io::{self, BufRead, BufReader},
    path::Path,
};

/// The end of a trail that was read again.
#[derive(Debug)]
pub(super) struct Recovered {
    /// Absent when there is none yet.
    pub(super) segment: Option<Segment>,
    pub(super) last: Link,
    /// Bytes of a torn end that were cut off.
    pub(super) dropped: u64,
    pub(super) next_number: u64,
}

/// Finds the longest valid beginning of the last segment and cuts off what follows it. What is known to have been on disk
/// must be there; less is damage, and not ours to mend.
pub(super) fn recover(disk: &Disk, path: &Path) -> Result<Recovered, OpenError> {
    let failed = |error: io::Error| OpenError::Io(path.to_owned(), error);
    let head = disk.head().map_err(failed)?.unwrap_or(Link::GENESIS);
    let mut numbers = disk.segments().map_err(failed)?;
    let mut recovered = Recovered { segment: None, last: Link::GENESIS, dropped: 0, next_number: 1 };
    // Made, but their opening never got to disk: nothing in them was promised to anybody.
    let mut unopened = Vec::new();
    let mut valid = 0;
    while let Some(number) = numbers.pop() {
        let scan = scan(disk, number).map_err(failed)?;
        recovered.dropped += scan.rest;
        if let Some(last) = scan.last {
            (recovered.last, recovered.next_number, valid) = (last, number + 1, scan.valid);
            break;
        }
        unopened.push(number);
    }
    check_head(&head, recovered.last, path)?;
    for number in unopened {
        disk.remove(number).map_err(failed)?;
    }
    if recovered.next_number > 1 {
        recovered.segment = Some(disk.resume(recovered.next_number - 1, valid).map_err(failed)?);
    }
    Ok(recovered)
}

fn check_head(head: &Link, last: Link, path: &Path) -> Result<(), OpenError> {
    if last.seq >= head.seq {
        return Ok(());
    }
    let text = format!("it ends with record {}, but had {}", last.seq, head.seq);
    Err(OpenError::Damaged(path.to_owned(), text))
}

struct Scan {
    last: Option<Link>,
    /// Bytes up to the end of the last valid line.
    valid: u64,
    /// Bytes after it.
    rest: u64,
}

fn scan(disk: &Disk, number: u64) -> io::Result<Scan> {
    let file = disk.read(number)?;
    let total = file.metadata()?.len();
    let mut reader = BufReader::new(file);
    let mut scan = Scan { last: None, valid: 0, rest: total };
    let mut text = Vec::new();
    loop {
        text.clear();
        reader.read_until(b'\n', &mut text)?;
        let Some(line) = text.strip_suffix(b"\n").and_then(Line::read) else { break };
        let before = match scan.last {
            Some(last) => last,
            None => match Opening::read(&line) {
                Some(opening) => opening.follows,
                None => break,
            },
        };
        if line.seq != before.seq + 1 || !line.follows(&before.hash) {
            break;
        }
        scan.last = Some(line.link());
        scan.valid += text.len() as u64;
        scan.rest = total.saturating_sub(scan.valid);
    }
    if scan.rest > 0 {
        tracing::warn!(segment = segment_name(number), bytes = scan.rest, "the audit trail has a torn end");
    }
    Ok(scan)
}
