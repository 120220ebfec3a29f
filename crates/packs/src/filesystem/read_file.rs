//! `read_file`: reads a file or a part of it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::encoding::{Encoding, without_mark};
use super::hash::hash;
use super::window::{self, Cut, Lines, Part};
use super::{Filesystem, Opened, io_failed};
use trunkline_secrets::counted;
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// File to read, relative to the allowed directory or absolute inside it
    pub(super) path: String,
    /// Lines to skip from the beginning (bytes with base64)
    pub(super) offset: Option<u64>,
    /// Maximum number of lines (bytes with base64)
    #[schemars(range(min = 1))]
    pub(super) limit: Option<u64>,
    /// Only the first lines; not together with offset, limit or tail
    #[schemars(range(min = 1))]
    pub(super) head: Option<u64>,
    /// Only the last lines; not together with offset, limit or head
    #[schemars(range(min = 1))]
    pub(super) tail: Option<u64>,
    /// Encoding; default UTF-8, or UTF-16 if the file has its byte order mark
    pub(super) encoding: Option<Encoding>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Read {
    pub(super) path: String,
    pub(super) content: String,
    pub(super) encoding: Encoding,
    /// Size of the whole file
    pub(super) size_bytes: u64,
    /// First line (byte with base64) of the content, counted from 0
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) offset: Option<u64>,
    /// Lines (bytes with base64) in the content
    pub(super) count: u64,
    /// Lines in the whole file; missing if the file is too large to count
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_lines: Option<u64>,
    /// True if the file continues after the content, or a line was cut
    pub(super) truncated: bool,
    /// Offset of the next part
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_offset: Option<u64>,
    /// SHA-256 of the whole file, for `expected_hash` of `write_file`; missing for large files
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sha256: Option<String>,
}

pub(super) fn tool(fs: &Arc<Filesystem>) -> Tool {
    let caps = &fs.caps;
    super::tool(fs, "read_file", run)
        .title("Read file")
        .description(format!(
            "Reads a text file, or the lines selected by offset and limit, head, or tail. One answer holds at most {} lines unless \
             limit asks for more, and at most {} KB; `truncated` and `next_offset` tell how to go on. Text must be \
             valid UTF-8 or UTF-16; other files are read with encoding base64, where offset and limit count bytes. \
             Regular files only.",
            caps.read_lines,
            caps.read_bytes >> 10
        ))
        .read_only()
        .idempotent()
}

pub(super) fn run(fs: &Filesystem, args: &Args, budget: &Budget) -> Result<Read, ToolError> {
    let part = part(args, fs.caps.read_lines)?;
    let opened = fs.open(&args.path)?;
    let wanted = Wanted { encoding: args.encoding, part, most: fs.caps.read_bytes };
    read(fs, &opened, wanted, budget)
}

fn part(args: &Args, lines: u64) -> Result<Part, ToolError> {
    let page = args.offset.is_some() || args.limit.is_some();
    if [page, args.head.is_some(), args.tail.is_some()].into_iter().filter(|given| *given).count() > 1 {
        return Err(
            ToolError::new("offset and limit, head, and tail exclude each other").hint("give one of them")
        );
    }
    if [args.limit, args.head, args.tail].contains(&Some(0)) {
        return Err(ToolError::new("limit, head and tail have to be at least 1")
            .hint("leave it out to read from the start"));
    }
    let usual = if args.encoding == Some(Encoding::Base64) { u64::MAX } else { lines };
    Ok(match (args.head, args.tail) {
        (Some(head), _) => Part::From { offset: 0, limit: head },
        (_, Some(tail)) => Part::Last(tail),
        _ => Part::From { offset: args.offset.unwrap_or(0), limit: args.limit.unwrap_or(usual) },
    })
}

/// The part of a file to read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// `None`: it is detected.
    pub(super) encoding: Option<Encoding>,
    pub(super) part: Part,
    /// Maximum number of bytes.
    pub(super) most: usize,
}

pub(super) fn read(
    fs: &Filesystem,
    opened: &Opened,
    wanted: Wanted,
    budget: &Budget,
) -> Result<Read, ToolError> {
    let Wanted { encoding, part, most } = wanted;
    if encoding == Some(Encoding::Base64) {
        return read_raw(opened, part, most / 4 * 3);
    }
    let (label, size) = (&opened.label, opened.size());
    let all = if size <= fs.caps.scan_bytes {
        window::read_all(&opened.file, fs.caps.scan_bytes).map_err(|error| io_failed(error, label))?
    } else {
        None
    };
    if let Some(all) = all {
        let encoding = encoding.unwrap_or_else(|| Encoding::detect(&all));
        let (lines, text) = match encoding {
            Encoding::Utf16Le | Encoding::Utf16Be => {
                let text = encoding.decode(without_mark(&all, encoding), 0, label)?;
                let lines = window::lines_of(text.as_bytes(), part, most);
                let text = Encoding::Utf8.decode(&lines.bytes, 0, label)?;
                (lines, text)
            }
            _ => decoded(window::lines_of(&all, part, most), encoding, label)?,
        };
        past_end(&lines, part, label)?;
        let sha256 = Some(hash(&all));
        return Ok(Read { sha256, ..answer(opened, encoding, &lines, text) });
    }
    let start = window::read_bytes(&opened.file, size, Part::From { offset: 0, limit: 4 }, 4);
    let (_, start) = start.map_err(|error| io_failed(error, label))?;
    let encoding = encoding.unwrap_or_else(|| Encoding::detect(&start));
    if matches!(encoding, Encoding::Utf16Le | Encoding::Utf16Be) {
        return Err(ToolError::new(format!(
            "`{label}` is UTF-16 and too large ({size} bytes) to be converted"
        ))
        .hint("read parts of it with encoding: \"base64\""));
    }
    let lines = window::lines_in(&opened.file, size, part, most, budget)?;
    let (lines, text) = decoded(lines, encoding, label)?;
    Ok(answer(opened, encoding, &lines, text))
}

fn decoded(lines: Lines, encoding: Encoding, label: &str) -> Result<(Lines, String), ToolError> {
    let bytes = if lines.position == 0 { without_mark(&lines.bytes, encoding) } else { &lines.bytes };
    let text = encoding.decode(bytes, lines.position, label)?;
    Ok((lines, text))
}

fn past_end(lines: &Lines, part: Part, label: &str) -> Result<(), ToolError> {
    match (part, lines.total) {
        (Part::From { offset, .. }, Some(total)) if offset > total => Err(ToolError::new(format!(
            "offset {offset} is past the end of `{label}`, which has {}",
            counted(total, "line")
        ))
        .hint("use a smaller offset, or tail for the end of the file")),
        _ => Ok(()),
    }
}

fn answer(opened: &Opened, encoding: Encoding, lines: &Lines, text: String) -> Read {
    let end = lines.position + lines.bytes.len() as u64;
    let next = lines.first.map(|first| first + lines.count);
    let more = match (lines.total, next) {
        (Some(total), Some(next)) => next < total,
        _ => end < opened.size(),
    };
    Read {
        path: opened.label.clone(),
        content: text,
        encoding,
        size_bytes: opened.size(),
        offset: lines.first,
        count: lines.count,
        total_lines: lines.total,
        truncated: more || lines.cut != Cut::No,
        next_offset: next.filter(|_| more),
        sha256: None,
    }
}

fn read_raw(opened: &Opened, part: Part, most: usize) -> Result<Read, ToolError> {
    let size = opened.size();
    let read = window::read_bytes(&opened.file, size, part, most);
    let (offset, bytes) = read.map_err(|error| io_failed(error, &opened.label))?;
    if offset > size {
        return Err(ToolError::new(format!(
            "offset {offset} is past the end of `{}` ({size} bytes)",
            opened.label
        ))
        .hint("use a smaller offset"));
    }
    let next = offset + bytes.len() as u64;
    Ok(Read {
        path: opened.label.clone(),
        content: window::base64(&bytes),
        encoding: Encoding::Base64,
        size_bytes: size,
        offset: Some(offset),
        count: bytes.len() as u64,
        total_lines: None,
        truncated: next < size,
        next_offset: (next < size).then_some(next),
        sha256: None,
    })
}
