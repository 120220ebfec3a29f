//! Removes temporary files left behind by writes that were killed.

use parking_lot::Mutex;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::dir::Dir;
use super::kind::Kind;
use super::name::Name;

/// Prefix of temporary file names; below: their suffix.
pub(super) const PREFIX: &str = ".trunkline-";
pub(super) const SUFFIX: &str = ".tmp";

/// Age after which a temporary file cannot belong to a running write.
const OLD: Duration = Duration::from_hours(1);
/// Maximum number of entries examined in one directory.
const LOOKED_AT: usize = 10_000;
/// Maximum number of directories remembered as swept.
const REMEMBERED: usize = 4096;

/// Removes leftovers from a directory when this process first writes there. Errors are not
/// returned, because they do not affect the write.
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
    let Ok(entries) = dir.entries() else { return };
    for entry in entries.take(LOOKED_AT).flatten() {
        if entry.kind == Kind::File && is_temporary(entry.name.as_bytes()) && is_old(dir, &entry.name) {
            match dir.remove_file(&entry.name) {
                Ok(()) => {
                    tracing::info!(
                        file = dir.label(&entry.name),
                        "removed a temporary file of an interrupted write"
                    );
                }
                Err(error) => {
                    tracing::debug!(%error, "cannot remove a temporary file of an interrupted write");
                }
            }
        }
    }
}

/// True for exactly `.trunkline-PROCESS-COUNT-TIME.tmp`.
fn is_temporary(name: &[u8]) -> bool {
    let parts = std::str::from_utf8(name)
        .ok()
        .and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX))
        .map(|inner| inner.split('-').collect::<Vec<_>>());
    let is_number = |part: &str, base| !part.is_empty() && u64::from_str_radix(part, base).is_ok();
    matches!(parts.as_deref(), Some([process, count, time]) if is_number(process, 10) && is_number(count, 10) && is_number(time, 16))
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
        assert!(is_temporary(b".trunkline-4711-0-1a2b3c.tmp"));
        for other in [
            ".trunkline-x-0-1.tmp",
            ".trunkline-1-2.tmp",
            ".trunkline-1-2-3-4.tmp",
            ".trunkline-notes.tmp",
            "trunkline-1-2-3.tmp",
            ".trunkline-1-2-3.tmp.txt",
            ".trunkline---.tmp",
        ] {
            assert!(!is_temporary(other.as_bytes()), "{other}");
        }
    }
}
