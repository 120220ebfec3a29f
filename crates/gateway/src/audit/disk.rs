//! The trail's directory: its segments, its head and its lock. Files are opened only relative to
//! the directory and never through a symlink.

use super::line::{Hash, Line, Link, from_hex, hex};
use rustix::{
    fs::{self, AtFlags, FlockOperation, Mode, OFlags},
    io::Errno,
};
use std::{
    fs::{DirBuilder, File},
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::fs::{DirBuilderExt, FileExt},
    path::{Path, PathBuf},
    sync::Arc,
};

const HEAD: &str = "head";
const LOCK: &str = "lock";
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Length of the head: a sequence number of 20 digits, a blank, a hash, a newline.
const HEAD_BYTES: usize = 20 + 1 + 64 + 1;

/// The reason why a trail cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the audit trail {} is in use by another process", .0.display())]
    Locked(PathBuf),
    #[error("the audit trail {} cannot be used", .0.display())]
    Io(PathBuf, #[source] io::Error),
    #[error("the audit trail {} was changed: {}; move it away to begin a new one", .0.display(), .1)]
    Damaged(PathBuf, String),
    /// Signing is on, and nobody can tell if the records are as they were written.
    #[error("the audit trail {} has records but no signed head", .0.display())]
    Unsigned(PathBuf),
}

/// An opened directory.
#[derive(Debug)]
pub(super) struct Disk {
    dir: Arc<File>,
    /// Holds the lock while it is open.
    lock: Option<File>,
    #[cfg(test)]
    faults: Arc<super::faults::Faults>,
}

/// The segment that is being written.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) number: u64,
    pub(super) bytes: u64,
    file: Arc<File>,
    /// The directory, until its entry for this segment is synced.
    dir: Option<Arc<File>>,
    #[cfg(test)]
    faults: Arc<super::faults::Faults>,
}

/// The files to sync for a segment: its data, and for a new segment the directory entry.
#[derive(Debug)]
pub(super) struct Sync {
    file: Arc<File>,
    dir: Option<Arc<File>>,
    #[cfg(test)]
    faults: Arc<super::faults::Faults>,
}

pub(super) fn segment_name(number: u64) -> String {
    format!("audit-{number:06}.jsonl")
}

impl Disk {
    /// Opens the directory for writing: creates it if it does not exist, and locks it against
    /// other writers.
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        let failed = |error: io::Error| OpenError::Io(path.to_owned(), error);
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        let mut disk = Self::read_only(path).map_err(failed)?;
        let flags = OFlags::RDWR | OFlags::CREATE;
        let lock = disk.file(LOCK, flags).map_err(failed)?;
        match fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => disk.lock = Some(lock),
            Err(Errno::WOULDBLOCK) => return Err(OpenError::Locked(path.to_owned())),
            Err(error) => return Err(failed(error.into())),
        }
        Ok(disk)
    }

    pub(super) fn read_only(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = Arc::new(File::from(fs::open(path, flags, Mode::empty())?));
        Ok(Self {
            dir,
            lock: None,
            #[cfg(test)]
            faults: Arc::default(),
        })
    }

    /// The numbers of all segments, in order.
    pub(super) fn segments(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in fs::Dir::read_from(&self.dir)? {
            let entry = entry?;
            let number = entry.file_name().to_str().ok().and_then(|name| {
                let number = name.strip_prefix("audit-")?.strip_suffix(".jsonl")?.parse().ok()?;
                (segment_name(number) == name).then_some(number)
            });
            numbers.extend(number);
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub(super) fn create(&self, number: u64) -> io::Result<Segment> {
        #[cfg(test)]
        self.faults.check_create()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::APPEND;
        let file = self.file(&segment_name(number), flags)?;
        Ok(Segment { dir: Some(Arc::clone(&self.dir)), ..self.segment(number, 0, file) })
    }

    /// Truncates a segment to its first `bytes` bytes and opens it for appending.
    pub(super) fn resume(&self, number: u64, bytes: u64) -> io::Result<Segment> {
        let file = self.file(&segment_name(number), OFlags::WRONLY | OFlags::APPEND)?;
        if file.metadata()?.len() > bytes {
            file.set_len(bytes)?;
            file.sync_data()?;
        }
        fs::fchmod(&file, PRIVATE)?;
        Ok(self.segment(number, bytes, file))
    }

    pub(super) fn read(&self, number: u64) -> io::Result<File> {
        // Non-blocking: opening a FIFO with the name of a segment must not hang.
        let file = self.file(&segment_name(number), OFlags::RDONLY | OFlags::NONBLOCK)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
    }

    pub(super) fn remove(&self, number: u64) -> io::Result<()> {
        fs::unlinkat(&self.dir, segment_name(number), AtFlags::empty())?;
        Ok(fs::fsync(&self.dir)?)
    }

    /// True if the directory entry still names the file of `segment`.
    pub(super) fn holds(&self, segment: &Segment) -> io::Result<bool> {
        let named = match fs::statat(&self.dir, segment_name(segment.number), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(named) => named,
            Err(Errno::NOENT) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let own = fs::fstat(&segment.file)?;
        Ok((named.st_dev, named.st_ino) == (own.st_dev, own.st_ino))
    }

    /// The last record known to be on disk; `None` if no head was written.
    pub(super) fn head(&self) -> io::Result<Option<Link>> {
        let mut text = String::new();
        match self.file(HEAD, OFlags::RDONLY | OFlags::NONBLOCK) {
            Ok(file) => file.take(2 * HEAD_BYTES as u64).read_to_string(&mut text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if text.is_empty() {
            // Created, but the process was killed before it wrote the content.
            return Ok(None);
        }
        let head = text.strip_suffix('\n').and_then(|line| line.split_once(' '));
        let link = head.and_then(|(seq, hash)| Some(Link { seq: seq.parse().ok()?, hash: from_hex(hash)? }));
        link.map(Some).ok_or_else(|| io::Error::other("the head is not readable"))
    }

    /// Always the same length at offset 0, so that one write replaces all of it.
    pub(super) fn write_head(&self, link: &Link) -> io::Result<()> {
        let file = self.file(HEAD, OFlags::WRONLY | OFlags::CREATE)?;
        file.write_all_at(format!("{:020} {}\n", link.seq, hex(&link.hash)).as_bytes(), 0)
    }

    /// A handle to the same directory, without the lock.
    pub(super) fn share(&self) -> Self {
        Self {
            dir: Arc::clone(&self.dir),
            lock: None,
            #[cfg(test)]
            faults: Arc::clone(&self.faults),
        }
    }

    /// The hash of the trail's first record.
    pub(super) fn first_hash(&self) -> io::Result<Hash> {
        let first = self.segments()?.first().copied().unwrap_or(1);
        let mut text = Vec::new();
        BufReader::new(self.read(first)?).read_until(b'\n', &mut text)?;
        let line = text.strip_suffix(b"\n").and_then(Line::read);
        line.map(|line| line.hash).ok_or_else(|| io::Error::other("the first record is not readable"))
    }

    /// The text of a file; `None` if there is none.
    pub(super) fn read_small(&self, name: &str, limit: u64) -> io::Result<Option<String>> {
        let mut text = String::new();
        match self.file(name, OFlags::RDONLY | OFlags::NONBLOCK) {
            Ok(file) if !file.metadata()?.is_file() => Err(io::Error::other("not a regular file")),
            Ok(file) => file.take(limit).read_to_string(&mut text).map(|_| Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces a file at once, by way of a draft.
    pub(super) fn replace(&self, draft: &str, name: &str, text: &[u8]) -> io::Result<()> {
        let mut file = self.file(draft, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC)?;
        file.write_all(text)?;
        file.sync_data()?;
        Ok(fs::renameat(&self.dir, draft, &self.dir, name)?)
    }

    #[cfg(test)]
    pub(super) fn with_faults(self, faults: &Arc<super::faults::Faults>) -> Self {
        Self { faults: Arc::clone(faults), ..self }
    }

    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "in tests the disk passes its faults on"))]
    fn segment(&self, number: u64, bytes: u64, file: File) -> Segment {
        Segment {
            number,
            bytes,
            file: Arc::new(file),
            dir: None,
            #[cfg(test)]
            faults: Arc::clone(&self.faults),
        }
    }

    fn file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(&self.dir, name, flags, PRIVATE)?))
    }
}

impl Segment {
    pub(super) fn append(&mut self, text: &[u8]) -> io::Result<()> {
        #[cfg(test)]
        if let Some(trouble) = self.faults.next_write() {
            (&*self.file).write_all(&text[..trouble.written.min(text.len())])?;
            return Err(trouble.kind.into());
        }
        (&*self.file).write_all(text)?;
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// A sync that can run while the segment is written.
    pub(super) fn sync(&self) -> Sync {
        Sync {
            file: Arc::clone(&self.file),
            dir: self.dir.clone(),
            #[cfg(test)]
            faults: Arc::clone(&self.faults),
        }
    }

    /// Notes that a sync succeeded.
    pub(super) fn is_synced(&mut self) {
        self.dir = None;
    }

    pub(super) fn cut(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }
}

impl Sync {
    /// Syncs; blocks until the data is on disk.
    pub(super) fn run(&self) -> io::Result<()> {
        #[cfg(test)]
        self.faults.check_sync()?;
        self.file.sync_data()?;
        match &self.dir {
            Some(dir) => Ok(fs::fsync(dir)?),
            None => Ok(()),
        }
    }
}
