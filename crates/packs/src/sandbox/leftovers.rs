//! What a write left behind that was killed: a temporary file nobody will ever put in place.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::dir::Dir;
use super::kind::Kind;
use super::name::Name;

/// What the names of temporary files begin and end with.
pub(super) const PREFIX: &str = ".trunkline-";
pub(super) const SUFFIX: &str = ".tmp";

/// A temporary file that was not touched for so long belongs to no write any more.
const OLD: Duration = Duration::from_hours(1);
/// Names of one directory that are looked at.
const LOOKED_AT: usize = 10_000;
/// Directories that are remembered as swept.
const REMEMBERED: usize = 4096;

/// Removes leftovers from a directory, the first time this process writes there. What goes wrong is no concern of the
/// write.
pub(super) fn sweep(dir: &Dir) {
    // The number of a directory that is gone may be given to another one, so the path counts, too.
    static SWEPT: Mutex<Option<HashSet<(u64, u64, PathBuf)>>> = Mutex::new(None);
    let Ok(stat) = dir.own_stat() else { return };
    {
        let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
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
                    tracing::info!(file = dir.label(&entry.name), "removed what a killed write left behind");
                }
                Err(error) => tracing::debug!(%error, "a leftover of a killed write stays"),
            }
        }
    }
}

/// `.trunkline-PROCESS-COUNT-TIME.tmp`, and nothing that only resembles it.
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
