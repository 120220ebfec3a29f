//! Verification: reads a trail and checks that it is complete and unchanged.
//!
//! A trail may be verified while it is written: the head is read first, and records after it are
//! no problem.

use super::{
    disk::{Disk, segment_name},
    line::{Line, Link, from_hex, hex},
    signing::{self, NotSigned, PublicKey, SignedHead},
};
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    io::{self, BufRead, BufReader},
    path::Path,
};

/// The `cause` in the first record of a segment that was begun after a disk failure.
pub(super) const FAILURE: &str = "failure";

/// The entry under which problems of the signed head are listed.
const SIGNED_HEAD: &str = "signed head";

/// Most problems that are listed.
const MAX_PROBLEMS: usize = 1000;

/// Maximum number of empty segments skipped in a row; a failing disk may leave them.
const MAX_UNOPENED: usize = 16;

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub segments: u64,
    pub records: u64,
    /// Calls without an end record: in flight now, or when a process died.
    pub unfinished: u64,
    /// Records that the writer reported as lost.
    pub lost: u64,
    /// Bytes after the last complete line; a process killed while it writes leaves them.
    pub torn: u64,
    /// Lines at the end of a failed segment that are repeated in the next one.
    pub repeated: u64,
    pub last: Option<Anchor>,
    /// The signed head, if the trail has the record that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed: Option<Proof>,
    pub problems: Vec<Problem>,
}

/// Number and hash of a record. Kept elsewhere, it proves later that the trail up to this record
/// is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Anchor {
    pub seq: u64,
    pub hash: String,
}

/// All records up to `seq` are unchanged since `time`, when `key` signed the head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proof {
    pub seq: u64,
    pub time: String,
    pub key: String,
}

/// One detected change or damage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub segment: String,
    /// The line in the segment, from 1; 0 for the segment as a whole.
    pub line: u64,
    pub kind: ProblemKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum ProblemKind {
    /// The hash does not match: this record or the one before it was changed.
    Changed,
    /// A line that cannot be parsed as a record.
    Unreadable,
    /// Records are missing or moved: number `found` follows number `after`.
    Order { found: u64, after: u64 },
    /// This segment, and perhaps more after it, is missing or not a readable file.
    Missing,
    /// The trail ends before this record, which the head names.
    Truncated { head: u64 },
    /// The head is missing, so truncation cannot be detected.
    NoHead,
    /// There is no signed head.
    NoSignature,
    /// The signed head proves nothing.
    NotSigned(NotSigned),
    /// Record `seq` is not the one that the signed head names: the trail was rewritten.
    NotAsSigned { seq: u64 },
    /// The trail ends before record `seq`, which the signed head names.
    CutAfterSigning { seq: u64 },
}

/// The first record of a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    /// The record that it follows.
    pub(super) follows: Link,
    after_failure: bool,
}

/// Verifies the whole trail in `dir`. Proves only that the records fit each other.
pub fn verify(dir: impl AsRef<Path>) -> io::Result<Report> {
    check(&Disk::read_only(dir.as_ref())?, None)
}

/// Verifies the whole trail in `dir` against a signed head: `head` as JSON, or else the newest one
/// in the directory.
pub fn verify_signed(dir: impl AsRef<Path>, key: &PublicKey, head: Option<&str>) -> io::Result<Report> {
    let disk = Disk::read_only(dir.as_ref())?;
    let text = match head {
        Some(text) => Some(text.to_owned()),
        None => signing::read(&disk)?,
    };
    let signed = text.ok_or(ProblemKind::NoSignature);
    let signed = signed.and_then(|text| SignedHead::read(&text, key).map_err(ProblemKind::NotSigned));
    let mut report = check(&disk, signed.as_ref().ok())?;
    if let Err(kind) = signed {
        report.problems.push(Problem { segment: SIGNED_HEAD.to_owned(), line: 0, kind });
    }
    Ok(report)
}

fn check(disk: &Disk, signed: Option<&SignedHead>) -> io::Result<Report> {
    let head = disk.head();
    let numbers = disk.segments()?;
    let unreadable = head.is_err();
    let head = head.ok().flatten();
    let mut check = Check { disk, report: Report::default(), at: Link::GENESIS, head, signed };
    if unreadable || (head.is_none() && !numbers.is_empty()) {
        check.problem("head".to_owned(), 0, ProblemKind::NoHead);
    }
    let mut expected = 1;
    for (at, number) in numbers.iter().enumerate() {
        if *number != expected {
            check.problem(segment_name(expected), 0, ProblemKind::Missing);
        }
        expected = number.saturating_add(1);
        check.segment(*number, &numbers[at + 1..]);
    }
    if let Some(head) = check.head.filter(|head| head.seq > check.at.seq) {
        check.problem("head".to_owned(), 0, ProblemKind::Truncated { head: head.seq });
    }
    if let Some(signed) = signed.filter(|signed| signed.seq > check.at.seq) {
        check.problem(SIGNED_HEAD.to_owned(), 0, ProblemKind::CutAfterSigning { seq: signed.seq });
    }
    Ok(check.report)
}

impl Report {
    pub fn is_intact(&self) -> bool {
        self.problems.is_empty()
    }
}

impl Opening {
    pub(super) fn read(line: &Line<'_>) -> Option<Self> {
        #[derive(Deserialize)]
        struct Segment {
            kind: String,
            prev: String,
            cause: String,
        }

        let segment: Segment = serde_json::from_str(&format!("{{{}}}", line.members)).ok()?;
        let follows = Link { seq: line.seq.checked_sub(1)?, hash: from_hex(&segment.prev)? };
        (segment.kind == "segment").then_some(Self { follows, after_failure: segment.cause == FAILURE })
    }
}

struct Check<'a> {
    disk: &'a Disk,
    report: Report,
    at: Link,
    head: Option<Link>,
    signed: Option<&'a SignedHead>,
}

impl Check<'_> {
    fn segment(&mut self, number: u64, later: &[u64]) {
        let name = segment_name(number);
        let Ok(file) = self.disk.read(number) else {
            self.problem(name, 0, ProblemKind::Missing);
            return;
        };
        self.report.segments += 1;
        // After a failure the next segment names the last valid record of this one.
        let next = later.iter().take(MAX_UNOPENED).find_map(|number| self.opening(*number));
        let stop = next.filter(|next| next.after_failure).map(|next| next.follows.seq);
        let mut reader = BufReader::new(file);
        let mut text = Vec::new();
        for at in 1.. {
            text.clear();
            match reader.read_until(b'\n', &mut text) {
                Ok(0) => break,
                Ok(_) => {}
                Err(_) => return self.problem(name, at, ProblemKind::Unreadable),
            }
            let whole = text.strip_suffix(b"\n");
            let line = whole.and_then(Line::read);
            match (line, stop) {
                (line, Some(stop)) if line.is_none_or(|line| line.seq > stop) => self.report.repeated += 1,
                (Some(line), _) => self.line(&name, at, &line),
                (None, _) if whole.is_none() && later.is_empty() => self.report.torn += text.len() as u64,
                (None, _) => self.problem(name.clone(), at, ProblemKind::Unreadable),
            }
        }
    }

    /// The first record of segment `number`, if it has one.
    fn opening(&self, number: u64) -> Option<Opening> {
        let mut text = Vec::new();
        BufReader::new(self.disk.read(number).ok()?).read_until(b'\n', &mut text).ok()?;
        Opening::read(&Line::read(text.strip_suffix(b"\n")?)?)
    }

    /// Continues from the line's own number and hash, so that one change is one problem.
    fn line(&mut self, name: &str, at: u64, line: &Line<'_>) {
        let other_head = self.head.is_some_and(|head| head.seq == line.seq && head.hash != line.hash);
        let misplaced = !line.follows(&self.at.hash) || (at == 1 && !self.is_opened_by(line));
        let kind = if self.at.seq.checked_add(1) != Some(line.seq) {
            Some(ProblemKind::Order { found: line.seq, after: self.at.seq })
        } else if misplaced || other_head {
            Some(ProblemKind::Changed)
        } else {
            None
        };
        if let Some(kind) = kind {
            self.problem(name.to_owned(), at, kind);
        }
        self.at = line.link();
        self.compare_signed(name, at);
        self.report.last = Some(Anchor { seq: line.seq, hash: hex(&line.hash) });
        self.report.records += 1;
        match line.kind() {
            Some("start") => self.report.unfinished += 1,
            Some("end") => self.report.unfinished = self.report.unfinished.saturating_sub(1),
            Some("gap") => self.report.lost += lost(line),
            _ => {}
        }
    }

    /// Compares the record at which the check is with the one that was signed.
    fn compare_signed(&mut self, name: &str, at: u64) {
        let Some(signed) = self.signed.filter(|signed| signed.seq == self.at.seq) else { return };
        if signed.link() != Some(self.at) {
            return self.problem(name.to_owned(), at, ProblemKind::NotAsSigned { seq: signed.seq });
        }
        // The hash covers all earlier records, unless the chain is broken before it.
        if self.report.is_intact() {
            let SignedHead { seq, time, key, .. } = signed.clone();
            self.report.signed = Some(Proof { seq, time, key });
        }
    }

    fn is_opened_by(&self, line: &Line<'_>) -> bool {
        Opening::read(line).is_some_and(|opening| opening.follows == self.at)
    }

    fn problem(&mut self, segment: String, line: u64, kind: ProblemKind) {
        if self.report.problems.len() < MAX_PROBLEMS {
            self.report.problems.push(Problem { segment, line, kind });
        }
    }
}

fn lost(line: &Line<'_>) -> u64 {
    let members = serde_json::from_str::<serde_json::Value>(&format!("{{{}}}", line.members));
    members.ok().and_then(|members| members["lost"].as_u64()).unwrap_or(0)
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.segment, self.line)?;
        match &self.kind {
            ProblemKind::Changed => f.write_str("this record, or the one before it, was changed"),
            ProblemKind::Unreadable => f.write_str("this line is no record"),
            ProblemKind::Order { found, after } => {
                write!(f, "record {found} stands after record {after}: records were removed or moved")
            }
            ProblemKind::Missing => f.write_str("the segment is missing or not a file"),
            ProblemKind::Truncated { head } => {
                write!(f, "the trail went on to record {head}: its end was removed")
            }
            ProblemKind::NoHead => {
                f.write_str("the file that says how far the trail goes is missing or unreadable")
            }
            ProblemKind::NoSignature => f.write_str("there is no signed head"),
            ProblemKind::NotSigned(why) => write!(f, "the signed head does not count: {why}"),
            ProblemKind::NotAsSigned { seq } => {
                write!(f, "record {seq} is not the one that was signed: the trail was rewritten")
            }
            ProblemKind::CutAfterSigning { seq } => {
                write!(f, "the trail went on to record {seq} when it was signed: its end was removed")
            }
        }
    }
}
