//! Selects the part of a file for one answer.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::budget::Budget;
use trunkline_toolbox::ToolError;

const CHUNK: usize = 64 << 10;

/// The requested lines (or bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    From { offset: u64, limit: u64 },
    Last(u64),
}

/// Lines of a file, as bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) bytes: Vec<u8>,
    /// Offset of the bytes in the file.
    pub(super) position: u64,
    /// Number of the first line, from 0; `None` if only the end of a large file was read.
    pub(super) first: Option<u64>,
    pub(super) count: u64,
    /// Number of lines in the file; `None` if it was not read completely.
    pub(super) total: Option<u64>,
    pub(super) cut: Cut,
}

/// The part of the request that did not fit into the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Cut {
    #[default]
    No,
    /// Whole lines are missing.
    Lines,
    /// The last line is incomplete.
    InLine,
}

pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Reads everything up to `limit` bytes; `None` if there is more.
pub(super) fn read_all(file: &File, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Reads a range of bytes.
pub(super) fn read_bytes(mut file: &File, size: u64, part: Part, most: usize) -> io::Result<(u64, Vec<u8>)> {
    let (offset, limit) = match part {
        Part::From { offset, limit } => (offset, limit),
        Part::Last(count) => (size.saturating_sub(count), count),
    };
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(limit.min(most as u64)).read_to_end(&mut bytes)?;
    Ok((offset, bytes))
}

/// Lines of a file that is completely in memory.
pub(super) fn lines_of(all: &[u8], part: Part, most: usize) -> Lines {
    let total = line_starts(all).count() as u64;
    let (offset, limit) = match part {
        Part::From { offset, limit } => (offset.min(total), limit),
        Part::Last(count) => (total.saturating_sub(count), count),
    };
    let end = offset.saturating_add(limit).min(total);
    let place = |line: u64| {
        usize::try_from(line).ok().and_then(|line| line_starts(all).nth(line)).unwrap_or(all.len())
    };
    let (bytes, count, cut) = fitted(&all[place(offset)..place(end)], most);
    Lines { bytes, position: place(offset) as u64, first: Some(offset), count, total: Some(total), cut }
}

/// Lines of a file too large for memory: read forward from its start, or backward from its end.
pub(super) fn lines_in(
    mut file: &File,
    size: u64,
    part: Part,
    most: usize,
    budget: &Budget,
) -> Result<Lines, ToolError> {
    let failed = |error: io::Error| ToolError::new(format!("reading failed: {error}"));
    let (offset, limit) = match part {
        Part::From { offset, limit } => (offset, limit),
        Part::Last(count) => return last_lines(file, size, count, most).map_err(failed),
    };
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let Some(position) = skip_lines(file, offset, budget)? else {
        return Ok(Lines { first: Some(offset), ..Lines::default() });
    };
    file.seek(SeekFrom::Start(position)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    let wanted = line_starts(&bytes).nth(usize::try_from(limit).unwrap_or(usize::MAX)).unwrap_or(bytes.len());
    let (bytes, count, cut) = fitted(&bytes[..wanted], most);
    Ok(Lines { bytes, position, first: Some(offset), count, total: None, cut })
}

/// Offset of the line after the first `count` lines; `None` if the file has fewer.
fn skip_lines(mut file: &File, count: u64, budget: &Budget) -> Result<Option<u64>, ToolError> {
    let mut left = count;
    let mut position = 0;
    let mut chunk = vec![0; CHUNK];
    while left > 0 {
        budget.check()?;
        let read =
            file.read(&mut chunk).map_err(|error| ToolError::new(format!("reading failed: {error}")))?;
        if read == 0 {
            return Ok(None);
        }
        for (at, _) in chunk[..read].iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            left -= 1;
            if left == 0 {
                return Ok(Some(position + at as u64 + 1));
            }
        }
        position += read as u64;
    }
    Ok(Some(0))
}

fn last_lines(mut file: &File, size: u64, count: u64, most: usize) -> io::Result<Lines> {
    let begin = size.saturating_sub(most as u64);
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(most as u64).read_to_end(&mut bytes)?;
    let starts: Vec<usize> = line_starts(&bytes).collect();
    // Unless it starts at offset 0, the chunk most likely begins inside a line, so drop that one.
    let whole = if begin == 0 || starts.len() < 2 { &starts[..] } else { &starts[1..] };
    let wanted = usize::try_from(count).unwrap_or(usize::MAX).min(whole.len());
    let start = whole.get(whole.len() - wanted).copied().unwrap_or(0);
    let cut = match (begin > 0, starts.len() < 2, (wanted as u64) < count) {
        (true, true, _) => Cut::InLine,
        (true, false, true) => Cut::Lines,
        _ => Cut::No,
    };
    let position = begin + start as u64;
    Ok(Lines { bytes: bytes.split_off(start), position, first: None, count: wanted as u64, total: None, cut })
}

/// As many whole lines as fit; if none fits, the beginning of the first.
fn fitted(lines: &[u8], most: usize) -> (Vec<u8>, u64, Cut) {
    if lines.len() <= most {
        return (lines.to_vec(), line_starts(lines).count() as u64, Cut::No);
    }
    match lines[..most].iter().rposition(|byte| *byte == b'\n') {
        Some(end) => (lines[..=end].to_vec(), line_starts(&lines[..=end]).count() as u64, Cut::Lines),
        None => (lines[..character_boundary(lines, most)].to_vec(), 1, Cut::InLine),
    }
}

/// The last UTF-8 character boundary at or before `at`.
fn character_boundary(bytes: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|at| bytes.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80))
        .unwrap_or(at)
}

fn line_starts(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let after = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(after).filter(|start| *start < bytes.len())
}
