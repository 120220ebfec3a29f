//! Draft: a temporary file that is written first and then gets its final name atomically.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};

use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::dir::Dir;
use super::error::AccessError;
use super::leftovers::{self, temporary_name};
use super::lock;
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
    /// Its temporary name, if it has one.
    temporary: Option<Name>,
    file: File,
    durability: Durability,
}

impl Draft {
    /// Creates a temporary file in `dir`. The setuid and setgid bits are never taken over.
    pub fn begin(dir: &Dir, like: Like<'_>, durability: Durability) -> Result<Self, AccessError> {
        leftovers::sweep(dir);
        let mode = if matches!(like, Like::Nothing) { 0o666 } else { 0o600 };
        let (temporary, file) = create(dir, Mode::from_raw_mode(mode))?;
        let draft = Self { dir: dir.clone(), temporary, file, durability };
        draft.resemble(like).map_err(|errno| AccessError::from_errno(errno, draft.label()))?;
        Ok(draft)
    }

    /// Gives the file its final name.
    pub fn place(mut self, name: &Name, onto: Onto) -> Result<(), AccessError> {
        if self.durability == Durability::Flushed {
            rustix::fs::fsync(&self.file).map_err(|errno| AccessError::from_errno(errno, self.label()))?;
        }
        match (onto, &self.temporary) {
            (Onto::Nothing, None) => self.link(name).map_err(|errno| self.dir.failed(errno, name))?,
            (Onto::Nothing, Some(own)) => self.dir.rename_to_new(own, &self.dir, name)?,
            (Onto::Anything, _) => {
                let own = self.named()?;
                let fd = self.dir.fd();
                rustix::fs::renameat(fd, own.as_os_str(), fd, name.as_os_str())
                    .map_err(|errno| AccessError::from_errno(errno, self.dir.label(name)))?;
            }
        }
        self.temporary = None;
        match self.durability {
            Durability::Flushed => self.dir.sync(),
            Durability::Cached => Ok(()),
        }
    }

    /// Its temporary name; gives it one if it has none.
    fn named(&mut self) -> Result<Name, AccessError> {
        for _ in 0..MAX_TRIES {
            if let Some(name) = &self.temporary {
                return Ok(name.clone());
            }
            let name = temporary_name();
            match self.link(&name) {
                Ok(()) => self.temporary = Some(name),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(self.dir.failed(errno, &name)),
            }
        }
        Err(AccessError::Changed { path: self.dir.own_label() })
    }

    /// Gives a file without a name this name.
    fn link(&self, name: &Name) -> Result<(), Errno> {
        let own = path_of(&self.file);
        rustix::fs::linkat(CWD, own, self.dir.fd(), name.as_os_str(), AtFlags::SYMLINK_FOLLOW)
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
        self.temporary.as_ref().map_or_else(|| self.dir.own_label(), |name| self.dir.label(name))
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
        if let Some(name) = &self.temporary {
            // The error is ignored: the call has already failed, and nothing else uses this file.
            self.dir.remove_file(name).ok();
        }
    }
}

/// Creates a file without a name where the filesystem supports that: a killed write then leaves
/// nothing behind. The writer locks it, so that others see that it is in use.
fn create(dir: &Dir, mode: Mode) -> Result<(Option<Name>, File), AccessError> {
    if let Some(file) = create_unnamed(dir, mode) {
        lock::hold(&file);
        return Ok((None, file));
    }
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..MAX_TRIES {
        let name = temporary_name();
        match rustix::fs::openat(dir.fd(), name.as_os_str(), flags, mode) {
            Ok(fd) => {
                let file = File::from(fd);
                lock::hold(&file);
                // Before it was locked, another process could take it for a leftover.
                if lock::is_same(dir, &name, &file) {
                    return Ok((Some(name), file));
                }
            }
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(dir.failed(errno, &name)),
        }
    }
    Err(AccessError::Changed { path: dir.own_label() })
}

#[cfg(target_os = "linux")]
fn create_unnamed(dir: &Dir, mode: Mode) -> Option<File> {
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(dir.fd(), ".", flags, mode).ok()?);
    // It gets its name through this path later.
    std::path::Path::new(&path_of(&file)).exists().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn create_unnamed(_: &Dir, _: Mode) -> Option<File> {
    None
}

/// The path of an open file, with or without a name.
fn path_of(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
