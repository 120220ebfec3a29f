//! Counting the processes of a run.

use std::{collections::BTreeMap, fs};

/// Processes by number, with the time of their start, which tells two processes of the same number apart.
pub(super) type Known = BTreeMap<i32, u64>;

/// One process, as `/proc` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    pid: i32,
    parent: i32,
    group: i32,
    start: u64,
    is_zombie: bool,
}

/// The processes of the group `leader`, of those `known`, and all their descendants.
pub(super) fn members(leader: i32, known: &Known) -> Known {
    let all = entries();
    let is_known = |entry: &Entry| known.get(&entry.pid) == Some(&entry.start);
    let mut members: Known = all
        .iter()
        .filter(|entry| entry.group == leader || entry.pid == leader || is_known(entry))
        .map(|entry| (entry.pid, entry.start))
        .collect();
    loop {
        let children = all
            .iter()
            .filter(|entry| members.contains_key(&entry.parent) && !members.contains_key(&entry.pid));
        let found: Vec<_> = children.map(|entry| (entry.pid, entry.start)).collect();
        if found.is_empty() {
            break;
        }
        members.extend(found);
    }
    members.retain(|pid, _| all.iter().any(|entry| entry.pid == *pid && !entry.is_zombie));
    members
}

/// The processes that have `mark` in the environment they started with.
pub(super) fn marked(mark: &str) -> Known {
    let has_mark = |entry: &Entry| {
        let environment = fs::read(format!("/proc/{}/environ", entry.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    entries()
        .iter()
        .filter(|entry| !entry.is_zombie && has_mark(entry))
        .map(|entry| (entry.pid, entry.start))
        .collect()
}

/// When the process of this number started, if it runs.
pub(super) fn start_of(pid: i32) -> Option<u64> {
    entry(pid).filter(|entry| !entry.is_zombie).map(|entry| entry.start)
}

/// Bytes of memory that these processes have of their own.
pub(super) fn memory(members: &Known) -> u64 {
    members.keys().map(|pid| own_memory(*pid).unwrap_or(0)).sum()
}

fn own_memory(pid: i32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

fn entries() -> Vec<Entry> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter_map(entry).collect()
}

fn entry(pid: i32) -> Option<Entry> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The name in parentheses may contain anything, so what counts begins after the last one.
fn parse(pid: i32, stat: &str) -> Option<Entry> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(Entry {
        pid,
        is_zombie: matches!(*fields.first()?, "Z" | "X"),
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_confuse() {
        let stat = "42 (a) Z 1 (b) S 7 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987 1000 50";
        assert_eq!(
            parse(42, stat),
            Some(Entry { pid: 42, parent: 7, group: 42, start: 987, is_zombie: false })
        );
        assert_eq!(parse(1, "1 (init"), None);
    }
}
