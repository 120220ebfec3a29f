//! Recovery: finds where a trail continues after its writer exited or crashed.

use super::{
    OpenError,
    disk::{Disk, Segment, segment_name},
    line::{Line, Link},
    members::{CallId, Members},
    outcome::Ending,
    verify::Opening,
};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, HashSet},
    io::{self, BufRead, BufReader},
    path::Path,
};

/// The end of an existing trail.
#[derive(Debug)]
pub(super) struct Recovered {
    /// `None` for a new trail.
    pub(super) segment: Option<Segment>,
    pub(super) last: Link,
    /// Bytes of an incomplete end that were cut off.
    pub(super) dropped: u64,
    pub(super) next_number: u64,
    /// End records for calls that were in flight when the writer died. Their outcome is unknown;
    /// they may have run.
    pub(super) endings: Vec<String>,
}

/// Maximum number of calls that get an end record with the outcome "unknown".
const MAX_UNFINISHED: usize = 10_000;

/// Number of bytes of earlier segments that are searched for calls in flight, in addition to the
/// second to last segment.
const LOOK_BACK: u64 = 4 * 1024 * 1024;

/// Truncates the last segment after its last valid line. All records up to the head must be
/// there; if not, the trail was damaged, which is an error and is not repaired.
pub(super) fn recover(disk: &Disk, path: &Path) -> Result<Recovered, OpenError> {
    let failed = |error: io::Error| OpenError::Io(path.to_owned(), error);
    let head = disk.head().map_err(failed)?.unwrap_or(Link::GENESIS);
    let mut numbers = disk.segments().map_err(failed)?;
    let mut recovered =
        Recovered { segment: None, last: Link::GENESIS, dropped: 0, next_number: 1, endings: Vec::new() };
    // Created, but their first record never reached the disk: no record in them was
    // acknowledged to a caller.
    let mut unopened = Vec::new();
    let mut valid = 0;
    while let Some(number) = numbers.pop() {
        let scan = scan(disk, number).map_err(failed)?;
        recovered.dropped += scan.rest;
        if let Some(last) = scan.last {
            recovered.endings = endings(disk, &numbers, scan.calls);
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
    let text = format!("it ends at record {}, but its head names record {}", last.seq, head.seq);
    Err(OpenError::Damaged(path.to_owned(), text))
}

/// End records for calls that have none. A long call may have begun in an earlier segment. Calls
/// older than [`LOOK_BACK`] or beyond [`MAX_UNFINISHED`] get no end record.
fn endings(disk: &Disk, before: &[u64], calls: Calls) -> Vec<String> {
    #[derive(Deserialize)]
    struct Start {
        call: String,
        caller: String,
        method: String,
        target: Option<String>,
    }

    let open = open_calls(disk, before, calls);
    let starts = open.values().take(MAX_UNFINISHED);
    let starts = starts.filter_map(|members| serde_json::from_str::<Start>(&format!("{{{members}}}")).ok());
    let end = |start: Start| {
        let common = Members::of_call(
            CallId::Recorded(&start.call),
            &start.caller,
            &start.method,
            start.target.as_deref(),
        );
        Members::new("end").part_of(&common).text("outcome", Ending::UNKNOWN.word).finish()
    };
    starts.map(end).collect()
}

fn open_calls(disk: &Disk, before: &[u64], calls: Calls) -> BTreeMap<String, String> {
    let Calls { mut open, ended_elsewhere } = calls;
    let mut ended: HashSet<String> = ended_elsewhere.into_iter().collect();
    let mut read = 0;
    for number in before.iter().rev() {
        // An unreadable segment is for `verify` to report; here it only ends the search.
        let Ok(older) = scan(disk, *number) else { break };
        open.extend(older.calls.open.into_iter().filter(|(call, _)| !ended.contains(call)));
        ended.extend(older.calls.ended_elsewhere);
        read += older.valid + older.rest;
        if read >= LOOK_BACK {
            break;
        }
    }
    open
}

/// The calls that begin or end in a segment.
#[derive(Default)]
struct Calls {
    /// Calls without an end: id → start record.
    open: BTreeMap<String, String>,
    /// Calls that end here and began in an earlier segment.
    ended_elsewhere: Vec<String>,
}

impl Calls {
    fn note(&mut self, line: &Line<'_>) {
        let kind = line.kind();
        if !matches!(kind, Some("start" | "end")) {
            return;
        }
        // We made the id: it precedes all members with foreign text, and contains no escapes.
        let id = line.members.split_once(CALL).and_then(|(_, rest)| rest.split('"').next());
        let Some(id) = id else { return };
        if kind == Some("start") {
            self.open.insert(id.to_owned(), line.members.to_owned());
        } else if self.open.remove(id).is_none() {
            self.ended_elsewhere.push(id.to_owned());
        }
    }
}

/// The text before the id of a call.
const CALL: &str = "\"call\":\"";

struct Scan {
    last: Option<Link>,
    calls: Calls,
    /// Bytes up to the end of the last valid line.
    valid: u64,
    /// Bytes after it.
    rest: u64,
}

fn scan(disk: &Disk, number: u64) -> io::Result<Scan> {
    let file = disk.read(number)?;
    let total = file.metadata()?.len();
    let mut reader = BufReader::new(file);
    let mut scan = Scan { last: None, calls: Calls::default(), valid: 0, rest: total };
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
        if before.seq.checked_add(1) != Some(line.seq) || !line.follows(&before.hash) {
            break;
        }
        scan.last = Some(line.link());
        scan.calls.note(&line);
        scan.valid += text.len() as u64;
        scan.rest = total.saturating_sub(scan.valid);
    }
    if scan.rest > 0 {
        tracing::warn!(
            segment = segment_name(number),
            bytes = scan.rest,
            "the audit trail ends with an incomplete record"
        );
    }
    Ok(scan)
}
