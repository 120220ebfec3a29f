//! Temporary files: their names, and the removal of those that killed writes left behind.
//!
//! A temporary file has a name for two system calls only, if the filesystem supports unnamed
//! files. Its writer holds a lock on it, so that a file without a lock is a leftover.

use parking_lot::Mutex;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::dir::Dir;
use super::kind::Kind;
use super::lock;
use super::name::Name;
use super::roots::Roots;

/// Prefix of temporary file names; below: their suffix.
const PREFIX: &str = ".trunkline-";
const SUFFIX: &str = ".tmp";

/// Age after which a temporary file cannot belong to a running write, where files have no locks.
const OLD: Duration = Duration::from_hours(1);
/// Maximum number of entries examined in one directory.
const LOOKED_AT: usize = 10_000;
/// Maximum number of entries examined at start.
const LOOKED_AT_ONCE: usize = 50_000;
/// Maximum number of directories remembered as swept.
const REMEMBERED: usize = 4096;

/// Removes leftovers below the roots, in a thread of its own.
pub fn sweep_all(roots: &Roots) {
    let mut open: Vec<Dir> = roots.tops().collect();
    let walk = move || {
        let mut left = LOOKED_AT_ONCE;
        // Directories wait by name, so that only those on the way down are open.
        let mut waiting: Vec<(Dir, Name)> = Vec::new();
        while left > 0 {
            let next = || waiting.pop().map(|(parent, name)| parent.open_dir(&name));
            let Some(dir) = open.pop().map(Ok).or_else(next) else { return };
            let Ok(dir) = dir else { continue };
            let Ok(entries) = dir.all_entries() else { continue };
            for entry in entries.take(left).flatten() {
                left -= 1;
                match entry.kind {
                    Kind::Directory => waiting.push((dir.clone(), entry.name)),
                    Kind::File => remove_one(&dir, &entry.name),
                    _ => {}
                }
            }
        }
    };
    if let Err(error) = std::thread::Builder::new().name("leftovers".to_owned()).spawn(walk) {
        tracing::debug!(%error, "temporary files of interrupted writes are not looked for");
    }
}

/// Removes leftovers from a directory when this process first writes there.
pub(super) fn sweep(dir: &Dir) {
    // The inode number of a deleted directory can be reused, so the path is part of the key.
    static SWEPT: Mutex<Option<HashSet<(u64, u64, PathBuf)>>> = Mutex::new(None);
    let Ok(stat) = dir.own_stat() else { return };
    {
        let mut swept = SWEPT.lock();
        let swept = swept.get_or_insert_default();
        if swept.len() >= REMEMBERED {
            swept.clear();
        }
        if !swept.insert((stat.st_dev, stat.st_ino, dir.root().path().to_owned())) {
            return;
        }
    }
    remove(dir);
}

/// Removes leftovers from a directory. Errors are not returned, because they do not affect the
/// call.
pub(super) fn remove(dir: &Dir) {
    let Ok(entries) = dir.all_entries() else { return };
    for entry in entries.take(LOOKED_AT).flatten().filter(|entry| entry.kind == Kind::File) {
        remove_one(dir, &entry.name);
    }
}

fn remove_one(dir: &Dir, name: &Name) {
    if !is_temporary(name) || !is_leftover(dir, name) {
        return;
    }
    match dir.remove_file(name) {
        Ok(()) => tracing::info!(file = dir.label(name), "removed a temporary file of an interrupted write"),
        Err(error) => tracing::debug!(%error, "cannot remove a temporary file of an interrupted write"),
    }
}

/// A name that is unlikely to exist.
pub(super) fn temporary_name() -> Name {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let name = format!("{PREFIX}{}-{count}-{nanos:x}{SUFFIX}", std::process::id());
    Name::new(name.as_bytes()).expect("the name has no slash")
}

/// True for exactly `.trunkline-PROCESS-COUNT-TIME.tmp`.
pub(super) fn is_temporary(name: &Name) -> bool {
    let parts = std::str::from_utf8(name.as_bytes())
        .ok()
        .and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX))
        .map(|inner| inner.split('-').collect::<Vec<_>>());
    let is_number = |part: &str, base| !part.is_empty() && u64::from_str_radix(part, base).is_ok();
    matches!(parts.as_deref(), Some([process, count, time]) if is_number(process, 10) && is_number(count, 10) && is_number(time, 16))
}

/// True if its writer has ended.
fn is_leftover(dir: &Dir, name: &Name) -> bool {
    let Ok(file) = dir.open_file(name) else { return false };
    lock::is_abandoned(&file).unwrap_or_else(|| is_old(dir, name))
}

fn is_old(dir: &Dir, name: &Name) -> bool {
    let Ok(stat) = dir.stat(name) else { return false };
    let touched = UNIX_EPOCH + Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or_default());
    SystemTime::now().duration_since(touched).is_ok_and(|age| age > OLD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_temporary_names_are_taken_for_leftovers() {
        let is_temporary = |name: &str| is_temporary(&Name::new(name.as_bytes()).unwrap());
        assert!(is_temporary(".trunkline-4711-0-1a2b3c.tmp"));
        for other in [
            ".trunkline-x-0-1.tmp",
            ".trunkline-1-2.tmp",
            ".trunkline-1-2-3-4.tmp",
            ".trunkline-notes.tmp",
            "trunkline-1-2-3.tmp",
            ".trunkline-1-2-3.tmp.txt",
            ".trunkline---.tmp",
        ] {
            assert!(!is_temporary(other), "{other}");
        }
        assert!(is_temporary(std::str::from_utf8(temporary_name().as_bytes()).unwrap()));
    }
}
