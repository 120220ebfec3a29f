//! Files that only their owner can read: written atomically, read without following links.

use super::StoreError;
use rustix::{
    fs::{FileType, Mode, OFlags, fstat, open},
    process::getuid,
};
use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::fs::DirBuilderExt,
    path::Path,
};

/// Largest file that is read; ours are much smaller.
const MAX_FILE: u64 = 1024 * 1024;

/// Reads a file without following a link; `None` if there is none. Only a regular file of ours that
/// nobody else can read is trusted.
pub(super) fn read_private(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match open(path, flags, Mode::empty()) {
        Ok(file) => file,
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => return Err(untrusted(path)),
        Err(error) => return Err(failed(path, "opened", &error.into())),
    };
    let status = fstat(&file).map_err(|error| failed(path, "read", &error.into()))?;
    let is_regular = FileType::from_raw_mode(status.st_mode) == FileType::RegularFile;
    if !is_regular || status.st_uid != getuid().as_raw() || status.st_mode & 0o077 != 0 {
        return Err(untrusted(path));
    }
    let mut text = Vec::new();
    let whole = File::from(file).take(MAX_FILE).read_to_end(&mut text);
    whole.map_err(|error| failed(path, "read", &error))?;
    Ok(Some(text))
}

/// Replaces a file at once, and makes its folder: after a crash either the old or the new content
/// is there.
pub(super) fn write_private(path: &Path, text: &[u8]) -> Result<(), StoreError> {
    if let Some(folder) = path.parent() {
        prepare(folder)?;
    }
    let draft = path.with_extension(format!("{}.tmp", uuid::Uuid::new_v4().simple()));
    let written = write_new(&draft, text).and_then(|()| fs::rename(&draft, path));
    written.map_err(|error| {
        // The old content stays; a draft that cannot be removed is only litter.
        fs::remove_file(&draft).ok();
        failed(path, "written", &error)
    })
}

pub(super) fn prepare(folder: &Path) -> Result<(), StoreError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| failed(folder, "created", &error))
}

/// Locks a file of its own, which is made with its folder if it is missing, until it is dropped.
/// Waits for other processes.
pub fn lock_private(path: &Path) -> Result<File, StoreError> {
    if let Some(folder) = path.parent() {
        prepare(folder)?;
    }
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file =
        open(path, flags, Mode::RUSR | Mode::WUSR).map_err(|error| failed(path, "opened", &error.into()))?;
    let file = File::from(file);
    file.lock().map_err(|error| failed(path, "locked", &error))?;
    Ok(file)
}

pub(super) fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(open(path, flags, Mode::RUSR | Mode::WUSR)?);
    file.write_all(text)?;
    file.sync_all()
}

fn untrusted(path: &Path) -> StoreError {
    StoreError::Untrusted { path: path.display().to_string() }
}

pub(super) fn failed(path: &Path, verb: &'static str, error: &io::Error) -> StoreError {
    StoreError::File { path: path.display().to_string(), verb, reason: error.to_string() }
}
