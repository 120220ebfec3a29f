//! An open directory inside a root, and operations on its entries.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::error::AccessError;
use super::kind::Kind;
use super::label::escape_bytes;
use super::leftovers;
use super::name::{Name, RelPath};
use super::resolve::WALK;
use super::root::Root;

/// A directory, identified by its descriptor. No method follows a link.
#[derive(Clone, Debug)]
pub struct Dir {
    root: Arc<Root>,
    fd: Arc<OwnedFd>,
    path: RelPath,
}

/// One entry of a directory.
#[derive(Clone, Debug)]
pub struct Entry {
    pub name: Name,
    pub kind: Kind,
}

impl Dir {
    pub(super) fn new(root: Arc<Root>, fd: Arc<OwnedFd>, path: RelPath) -> Self {
        Self { root, fd, path }
    }

    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Its path below the root when it was opened, with links resolved.
    pub fn path(&self) -> &RelPath {
        &self.path
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(super) fn shared_fd(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.fd)
    }

    /// The directories above it, from the root downwards, newly opened.
    pub fn above(&self) -> Result<Vec<Self>, AccessError> {
        let mut above = Vec::new();
        let mut dir = self.root.top();
        for name in self.path.names() {
            let next = dir.open_dir(name)?;
            above.push(std::mem::replace(&mut dir, next));
        }
        Ok(above)
    }

    pub fn label(&self, name: &Name) -> String {
        self.root.label(&self.path.join(name))
    }

    pub fn own_label(&self) -> String {
        self.root.label(&self.path)
    }

    pub fn own_stat(&self) -> Result<Stat, AccessError> {
        rustix::fs::fstat(&self.fd).map_err(|errno| AccessError::from_errno(errno, self.own_label()))
    }

    /// True if this directory has been deleted.
    pub fn is_deleted(&self) -> bool {
        self.own_stat().is_ok_and(|stat| stat.st_nlink == 0)
    }

    pub fn stat(&self, name: &Name) -> Result<Stat, AccessError> {
        rustix::fs::statat(&self.fd, name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| self.failed(errno, name))
    }

    pub fn open_dir(&self, name: &Name) -> Result<Self, AccessError> {
        let flags = WALK | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        match rustix::fs::openat(&self.fd, name.as_os_str(), flags, Mode::empty()) {
            Ok(fd) => Ok(Self::new(Arc::clone(&self.root), Arc::new(fd), self.path.join(name))),
            Err(Errno::NOTDIR | Errno::LOOP) => {
                let found = self.stat(name).map_or(Kind::Unknown, |stat| kind_of(&stat));
                Err(AccessError::NotADirectory { path: self.label(name), found })
            }
            Err(errno) => Err(self.failed(errno, name)),
        }
    }

    /// Opens a regular file for reading. Pipes, devices and sockets are refused before they are
    /// opened, because opening alone can block or act; the descriptor is checked again.
    pub fn open_file(&self, name: &Name) -> Result<File, AccessError> {
        self.open_regular(name, OFlags::RDONLY)
    }

    /// Opens a regular file for appending. A file with several hard links is refused.
    pub fn open_to_append(&self, name: &Name) -> Result<File, AccessError> {
        let file = self.open_regular(name, OFlags::WRONLY | OFlags::APPEND)?;
        let links = rustix::fs::fstat(&file).map_err(|errno| self.failed(errno, name))?.st_nlink;
        if links > 1 {
            return Err(AccessError::HardLinked { path: self.label(name) });
        }
        Ok(file)
    }

    fn open_regular(&self, name: &Name, access: OFlags) -> Result<File, AccessError> {
        self.must_be_regular(name, &self.stat(name)?)?;
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, name.as_os_str(), flags, Mode::empty())
            .map_err(|errno| self.failed(errno, name))?;
        self.must_be_regular(name, &rustix::fs::fstat(&fd).map_err(|errno| self.failed(errno, name))?)?;
        if is_of_kernel(&fd) {
            return Err(AccessError::KernelFile { path: self.label(name) });
        }
        Ok(File::from(fd))
    }

    fn must_be_regular(&self, name: &Name, stat: &Stat) -> Result<(), AccessError> {
        match kind_of(stat) {
            Kind::File => Ok(()),
            Kind::Symlink => Err(self.is_link(name)),
            found => Err(AccessError::NotAFile { path: self.label(name), found }),
        }
    }

    /// The error for a path whose last component is a link, with the link's target.
    pub fn is_link(&self, name: &Name) -> AccessError {
        let target = self.link_target(name).unwrap_or_default();
        AccessError::IsLink { path: self.label(name), target }
    }

    /// The target of a link, as a label.
    pub fn link_target(&self, name: &Name) -> Result<String, AccessError> {
        rustix::fs::readlinkat(&self.fd, name.as_os_str(), Vec::new())
            .map(|target| escape_bytes(target.as_bytes()))
            .map_err(|errno| self.failed(errno, name))
    }

    /// The entries of this directory, unsorted and without our own temporary files. The iterator is
    /// lazy, so that a caller can stop early.
    pub fn entries(&self) -> Result<impl Iterator<Item = Result<Entry, AccessError>>, AccessError> {
        let is_shown = |entry: &Result<Entry, _>| {
            entry.as_ref().map_or(true, |entry| !leftovers::is_temporary(&entry.name))
        };
        Ok(self.all_entries()?.filter(is_shown))
    }

    /// Removes temporary files of writes that were killed.
    pub fn remove_leftovers(&self) {
        leftovers::remove(self);
    }

    pub(super) fn all_entries(
        &self,
    ) -> Result<impl Iterator<Item = Result<Entry, AccessError>>, AccessError> {
        let label = self.own_label();
        let failed = move |errno| AccessError::from_errno(errno, label.clone());
        let stream = self.open_to_read().and_then(rustix::fs::Dir::new).map_err(&failed)?;
        let dir = self.clone();
        Ok(stream.filter_map(move |entry| match entry {
            Ok(entry) => {
                let name = Name::new(entry.file_name().to_bytes())?;
                let kind = match entry.file_type() {
                    FileType::Unknown => dir.stat(&name).map_or(Kind::Unknown, |stat| kind_of(&stat)),
                    known => known.into(),
                };
                Some(Ok(Entry { name, kind }))
            }
            Err(errno) => Some(Err(failed(errno))),
        }))
    }

    pub fn make_dir(&self, name: &Name) -> Result<(), AccessError> {
        rustix::fs::mkdirat(&self.fd, name.as_os_str(), Mode::from_raw_mode(0o777))
            .map_err(|errno| self.failed(errno, name))
    }

    /// Removes a file, or a link itself.
    pub fn remove_file(&self, name: &Name) -> Result<(), AccessError> {
        rustix::fs::unlinkat(&self.fd, name.as_os_str(), AtFlags::empty())
            .map_err(|errno| self.failed(errno, name))
    }

    /// Removes an empty directory.
    pub fn remove_dir(&self, name: &Name) -> Result<(), AccessError> {
        rustix::fs::unlinkat(&self.fd, name.as_os_str(), AtFlags::REMOVEDIR)
            .map_err(|errno| self.failed(errno, name))
    }

    /// Renames an entry, unless the new name exists; the kernel does both atomically.
    pub fn rename_to_new(&self, name: &Name, to: &Self, new: &Name) -> Result<(), AccessError> {
        match rename_noreplace(self, name, to, new) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(AccessError::Exists { path: to.label(new) }),
            Err(Errno::INVAL) if to.path.below(&self.path.join(name)).is_some() => {
                Err(AccessError::IntoItself { path: self.label(name) })
            }
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.relink(name, to, new),
            Err(Errno::NOENT) if self.stat(name).is_ok() => Err(to.failed(Errno::NOENT, new)),
            Err(Errno::NOTDIR) => Err(AccessError::Changed { path: self.label(name) }),
            Err(errno) => Err(self.failed(errno, name)),
        }
    }

    /// Fallback for filesystems without `RENAME_NOREPLACE`: creates a hard link with the new name,
    /// then removes the old name.
    fn relink(&self, name: &Name, to: &Self, new: &Name) -> Result<(), AccessError> {
        rustix::fs::linkat(&self.fd, name.as_os_str(), &to.fd, new.as_os_str(), AtFlags::empty())
            .map_err(|errno| to.failed(errno, new))?;
        self.remove_file(name)
    }

    /// Flushes this directory to the disk.
    pub fn sync(&self) -> Result<(), AccessError> {
        let synced = self.open_to_read().and_then(rustix::fs::fsync);
        match synced {
            // Some filesystems do not support flushing a directory.
            Ok(()) | Err(Errno::INVAL | Errno::ACCESS) => Ok(()),
            Err(errno) => Err(AccessError::from_errno(errno, self.own_label())),
        }
    }

    /// Opens the directory for reading: the `O_PATH` descriptor cannot be listed or flushed.
    fn open_to_read(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.fd, ".", flags, Mode::empty())
    }

    pub(super) fn failed(&self, errno: Errno, name: &Name) -> AccessError {
        if errno == Errno::NOENT && self.path.is_empty() && self.is_deleted() {
            return AccessError::RootGone {
                path: escape_bytes(self.root.path().as_os_str().as_encoded_bytes()),
            };
        }
        AccessError::from_errno(errno, self.label(name))
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_noreplace(from: &Dir, name: &Name, to: &Dir, new: &Name) -> Result<(), Errno> {
    rustix::fs::renameat_with(&from.fd, name.as_os_str(), &to.fd, new.as_os_str(), RenameFlags::NOREPLACE)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn rename_noreplace(_: &Dir, _: &Name, _: &Dir, _: &Name) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

pub(crate) fn kind_of(stat: &Stat) -> Kind {
    FileType::from_raw_mode(stat.st_mode).into()
}

/// True for procfs, sysfs and similar: their files are regular only by type; reading or writing
/// them can have side effects, block, or expose this process.
#[cfg(target_os = "linux")]
fn is_of_kernel(fd: &OwnedFd) -> bool {
    const SYSFS_MAGIC: u64 = 0x6265_6572;
    const DEBUGFS_MAGIC: u64 = 0x6462_6720;
    const TRACEFS_MAGIC: u64 = 0x7472_6163;
    const PROC_MAGIC: u64 = 0x9fa0;
    rustix::fs::fstatfs(fd).is_ok_and(|filesystem| {
        u64::try_from(filesystem.f_type)
            .is_ok_and(|magic| [SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC, PROC_MAGIC].contains(&magic))
    })
}

#[cfg(not(target_os = "linux"))]
fn is_of_kernel(_: &OwnedFd) -> bool {
    false
}
