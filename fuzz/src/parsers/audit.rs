//! Audit trails: for any files, a trail counts as intact only if every record's hash follows from
//! the record before it.
//!
//! An input is the segments and then the head, separated by NULs. The placeholder `HASH` in a line
//! is replaced by the correct hash.

use ring::digest::{SHA256, digest};
use std::{fs, path::Path, sync::LazyLock};
use tempfile::TempDir;
use trunkline_gateway::audit::{Report, tail, verify};

const LINES: usize = 3;

/// Temporary folder of this process.
static DIRECTORY: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().expect("a directory can be made"));

pub fn holds(data: &[u8]) {
    let mut parts: Vec<Vec<u8>> = data.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    let head = parts.pop().unwrap_or_default();
    let mut before = [0; 32];
    for segment in &mut parts {
        *segment = hashed(segment, &mut before);
    }
    let head = replaced(&head, &before);
    let directory = DIRECTORY.path().join("trail");
    write(&directory, &parts, &head);
    let report = verify(&directory).expect("the files can be read");
    if report.is_intact() {
        follows(&report, &parts.concat());
    }
    let last = tail(&directory, LINES).expect("the files can be read");
    assert!(last.len() <= LINES && last.iter().all(|line| !line.contains('\n')));
    fs::remove_dir_all(&directory).expect("it was made here");
}

fn write(directory: &Path, segments: &[Vec<u8>], head: &[u8]) {
    fs::create_dir(directory).expect("a directory can be made");
    for (number, segment) in (1..).zip(segments) {
        fs::write(directory.join(format!("audit-{number:06}.jsonl")), segment)
            .expect("a file can be written");
    }
    fs::write(directory.join("head"), head).expect("a file can be written");
}

/// Fills in the correct hashes; `before` is the previous hash and becomes that of the last line.
fn hashed(segment: &[u8], before: &mut [u8; 32]) -> Vec<u8> {
    let mut written = Vec::new();
    for line in segment.split_inclusive(|byte| *byte == b'\n') {
        let line = match find(line, b",\"hash\":\"HASH\"}") {
            Some(end) => {
                let text = replaced(&line[..end], before);
                *before = hash(before, &text);
                [&text, &b",\"hash\":\""[..], hex(before).as_bytes(), &line[end + 13..]].concat()
            }
            None => line.to_vec(),
        };
        written.extend(line);
    }
    written
}

/// Replaces the placeholder `HASH` by the hash.
fn replaced(text: &[u8], hash: &[u8; 32]) -> Vec<u8> {
    match find(text, b"HASH") {
        Some(at) => [&text[..at], hex(hash).as_bytes(), &text[at + 4..]].concat(),
        None => text.to_vec(),
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

fn hash(before: &[u8; 32], text: &[u8]) -> [u8; 32] {
    let hash = digest(&SHA256, &[&before[..], text].concat());
    hash.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

fn hex(hash: &[u8; 32]) -> String {
    let [high, low] = [0, 16]
        .map(|at| u128::from_be_bytes(hash[at..at + 16].try_into().expect("half of a hash has 16 bytes")));
    format!("{high:032x}{low:032x}")
}

/// Checks the chain again with the simplest possible code.
fn follows(report: &Report, trail: &[u8]) {
    if report.repeated > 0 {
        return;
    }
    let (mut before, mut records) = ([0; 32], 0);
    for line in trail.split_inclusive(|byte| *byte == b'\n') {
        let Some(line) = line.strip_suffix(b"\"}\n") else { continue };
        let (text, told) = line.split_at(line.len().saturating_sub(",\"hash\":\"".len() + 64));
        before = hash(&before, text);
        records += 1;
        assert!(told.ends_with(hex(&before).as_bytes()), "record {records} does not follow");
        assert!(text.starts_with(format!("{{\"seq\":{records},").as_bytes()));
    }
    assert_eq!(report.records, records);
    assert_eq!(
        report.last.as_ref().map(|last| (last.seq, last.hash.clone())),
        (records > 0).then(|| (records, hex(&before)))
    );
}
