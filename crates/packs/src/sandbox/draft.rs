//! Draft: a temporary file that is written first and then renamed to its final name atomically.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::dir::Dir;
use super::error::AccessError;
use super::leftovers::{self, PREFIX, SUFFIX};
use super::name::Name;

const MAX_TRIES: usize = 16;

/// Determines whether a write waits for the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// File and directory are flushed before the call returns.
    #[default]
    Flushed,
    /// Not flushed; the name still never refers to a partly written file.
    Cached,
}

/// The entry that a finished draft may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onto {
    /// The name must not exist.
    Nothing,
    /// An existing file is replaced.
    Anything,
}

/// The file whose permissions a draft takes over.
#[derive(Clone, Copy, Debug)]
pub enum Like<'a> {
    /// None: it gets the default permissions of a new file.
    Nothing,
    /// The source of a copy: permissions are taken over.
    Copied(&'a Stat),
    /// The file it replaces: permissions and, if permitted, the owner are taken over.
    Replaced(&'a Stat),
}

/// A temporary file in the directory of the final file. Dropping it without `place` removes it.
#[derive(Debug)]
pub struct Draft {
    dir: Dir,
    temporary: Name,
    file: File,
    durability: Durability,
    placed: bool,
}

impl Draft {
    /// Creates a temporary file in `dir`. The setuid and setgid bits are never taken over.
    pub fn begin(dir: &Dir, like: Like<'_>, durability: Durability) -> Result<Self, AccessError> {
        leftovers::sweep(dir);
        let mode = if matches!(like, Like::Nothing) { 0o666 } else { 0o600 };
        let (temporary, file) = create(dir, Mode::from_raw_mode(mode))?;
        let draft = Self { dir: dir.clone(), temporary, file, durability, placed: false };
        draft.resemble(like).map_err(|errno| AccessError::from_errno(errno, draft.label()))?;
        Ok(draft)
    }

    /// Renames the file to its final name.
    pub fn place(mut self, name: &Name, onto: Onto) -> Result<(), AccessError> {
        if self.durability == Durability::Flushed {
            rustix::fs::fsync(&self.file).map_err(|errno| AccessError::from_errno(errno, self.label()))?;
        }
        match onto {
            Onto::Nothing => self.dir.rename_to_new(&self.temporary, &self.dir, name)?,
            Onto::Anything => {
                let fd = self.dir.fd();
                rustix::fs::renameat(fd, self.temporary.as_os_str(), fd, name.as_os_str())
                    .map_err(|errno| AccessError::from_errno(errno, self.dir.label(name)))?;
            }
        }
        self.placed = true;
        match self.durability {
            Durability::Flushed => self.dir.sync(),
            Durability::Cached => Ok(()),
        }
    }

    fn resemble(&self, like: Like<'_>) -> Result<(), Errno> {
        let stat = match like {
            Like::Nothing => return Ok(()),
            Like::Copied(stat) => stat,
            Like::Replaced(stat) => {
                self.give_to_owner_of(stat)?;
                stat
            }
        };
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(stat.st_mode & 0o777))
    }

    fn give_to_owner_of(&self, stat: &Stat) -> Result<(), Errno> {
        let own = rustix::fs::fstat(&self.file)?;
        if (own.st_uid, own.st_gid) != (stat.st_uid, stat.st_gid) {
            let owner = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
            match rustix::fs::fchown(self.file.as_fd(), Some(owner.0), Some(owner.1)) {
                // Only root may change the owner; otherwise the file belongs to the server's user.
                Ok(()) | Err(Errno::PERM | Errno::INVAL) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    fn label(&self) -> String {
        self.dir.label(&self.temporary)
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.placed {
            // The error is ignored: the call has already failed, and nothing else uses this file.
            self.dir.remove_file(&self.temporary).ok();
        }
    }
}

fn create(dir: &Dir, mode: Mode) -> Result<(Name, File), AccessError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..MAX_TRIES {
        let name = temporary_name();
        match rustix::fs::openat(dir.fd(), name.as_os_str(), flags, mode) {
            Ok(fd) => return Ok((name, File::from(fd))),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(dir.failed(errno, &name)),
        }
    }
    Err(AccessError::Changed { path: dir.own_label() })
}

/// A name that is unlikely to exist; if it does, exclusive creation fails and another one is
/// tried.
fn temporary_name() -> Name {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let name = format!("{PREFIX}{}-{count}-{nanos:x}{SUFFIX}", std::process::id());
    Name::new(name.as_bytes()).expect("the name has no slash")
}
