//! Locks one file against other writers: other calls, other packs and other processes.
//!
//! The lock between processes is an advisory `flock` on the file itself, so nothing is visible in
//! the directory and the kernel releases it when its holder dies. A writer replaces the file by
//! another inode; a waiting writer therefore checks after it got the lock that the name still
//! refers to the locked inode. A name without a file is not locked between processes: a new file
//! gets its name only if the name is still free ([`Onto::Nothing`](super::Onto::Nothing)).

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::dir::Dir;
use super::error::AccessError;
use super::name::Name;

/// Number of locks within this process. Names are assigned to them by hash.
const SLOTS: usize = 64;

/// Shortest and longest pause between two attempts.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(5));

static WITHIN_PROCESS: [Mutex<()>; SLOTS] = [const { Mutex::new(()) }; SLOTS];

/// Exclusive access to a file, as far as other writers use this lock too.
#[derive(Debug)]
pub struct FileLock {
    /// Released first, so that the next writer of this process finds the file unlocked.
    _file: Option<File>,
    _within: MutexGuard<'static, ()>,
}

impl FileLock {
    /// Locks the file with this name; fails if that takes until `is_over`.
    pub fn take(dir: &Dir, name: &Name, is_over: impl Fn() -> bool) -> Result<Self, AccessError> {
        let busy = || AccessError::Busy { path: dir.label(name) };
        let slot = slot(dir, name)?;
        let within = loop {
            match slot.try_lock_for(PAUSES.1) {
                Some(guard) => break guard,
                None if is_over() => return Err(busy()),
                None => {}
            }
        };
        loop {
            // A file that cannot be opened is left to the caller, which reports the reason.
            let Ok(file) = dir.open_file(name) else { return Ok(Self { _file: None, _within: within }) };
            if !wait(&file, &is_over) {
                return Err(busy());
            }
            if is_same(dir, name, &file) {
                return Ok(Self { _file: Some(file), _within: within });
            }
        }
    }
}

/// Locks a file that only this process knows yet.
pub(super) fn hold(file: &File) {
    try_lock(file);
}

/// True if the writer of a file that was locked with [`hold`] has ended; `None` if the filesystem
/// has no locks.
pub(super) fn is_abandoned(file: &File) -> Option<bool> {
    match try_lock(file) {
        Attempt::Locked => Some(true),
        Attempt::Taken => Some(false),
        Attempt::Unsupported => None,
    }
}

/// True if this name still refers to this file.
pub(super) fn is_same(dir: &Dir, name: &Name, file: &File) -> bool {
    let Ok(opened) = rustix::fs::fstat(file) else { return false };
    dir.stat(name).is_ok_and(|stat| (stat.st_dev, stat.st_ino) == (opened.st_dev, opened.st_ino))
}

enum Attempt {
    Locked,
    Taken,
    Unsupported,
}

/// Waits by polling, because a blocking `flock` has no timeout and its holder may be suspended.
fn wait(file: &File, is_over: impl Fn() -> bool) -> bool {
    let mut pause = PAUSES.0;
    while matches!(try_lock(file), Attempt::Taken) {
        if is_over() {
            return false;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSES.1);
    }
    true
}

fn try_lock(file: &File) -> Attempt {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Attempt::Locked,
        Err(Errno::WOULDBLOCK | Errno::INTR) => Attempt::Taken,
        // Some network filesystems. Writers of this process still exclude each other.
        Err(error) => {
            tracing::debug!(%error, "files cannot be locked on this filesystem");
            Attempt::Unsupported
        }
    }
}

/// The slot of a name. Two packs may have different paths to one directory, so its inode counts.
fn slot(dir: &Dir, name: &Name) -> Result<&'static Mutex<()>, AccessError> {
    let stat = dir.own_stat()?;
    let mut hasher = DefaultHasher::new();
    (stat.st_dev, stat.st_ino, name).hash(&mut hasher);
    let at = usize::try_from(hasher.finish() % SLOTS as u64).expect("smaller than the number of slots");
    Ok(&WITHIN_PROCESS[at])
}
