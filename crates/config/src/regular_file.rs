//! Reads a file that a setting names: only a regular file, and only up to a limit.
//!
//! The path may come from a file that others can write, so it may name an endless device or a pipe
//! without a writer. The file is opened once, without blocking, and the check uses the same
//! descriptor that is read.

use std::{fs, io, io::Read as _, path::Path};

/// The bytes of a regular file; one that holds more than `limit` bytes is an error.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let too_large = || io::Error::other(format!("it is larger than {limit} bytes"));
    if file.metadata()?.len() > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // The length above may be outdated, and files in `/proc` report zero.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// Like `read_regular`, but returns UTF-8 text.
pub fn read_regular_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read_regular(path, limit)?).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// The first bytes of a regular file, at most `limit`.
pub fn read_regular_head(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn open_regular(path: &Path) -> io::Result<fs::File> {
    let file = open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<fs::File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    // Do not wait for the writer of a pipe, and do not acquire a controlling terminal.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    fs::OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<fs::File> {
    fs::File::open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn v10_devices_pipes_directories_and_large_files_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for odd in [Path::new("/dev/zero"), &pipe, &link, folder.path()] {
            let error = read_regular(odd, 10).unwrap_err().to_string();
            assert_eq!(error, "it is not a regular file", "{}", odd.display());
        }
        let file = folder.path().join("file");
        fs::write(&file, "0123456789").unwrap();
        assert_eq!(read_regular_text(&file, 10).unwrap(), "0123456789");
        assert_eq!(read_regular(&file, 9).unwrap_err().to_string(), "it is larger than 9 bytes");
        let endless = Path::new("/proc/self/maps");
        assert_eq!(read_regular(endless, 10).unwrap_err().to_string(), "it is larger than 10 bytes");
    }
}
