//! Saves images, audio and other binary content for `--out`.

use base64::{Engine, prelude::BASE64_STANDARD};
use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Number of file names tried in a directory before giving up.
const MAX_TRIES: usize = 10_000;

/// A directory, in which unused names are chosen, or a file. The server cannot influence the
/// names.
#[derive(Debug, Clone)]
pub(crate) enum Out {
    Folder(PathBuf),
    File(PathBuf),
}

impl Out {
    /// A path that ends with a separator, or is an existing directory, is a directory.
    pub(crate) fn new(path: PathBuf) -> Self {
        let ends_open = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        if ends_open || path.is_dir() { Self::Folder(path) } else { Self::File(path) }
    }

    /// Writes one file. `nth` counts the files saved before: only the first gets exactly the name
    /// that was given.
    pub(super) fn save(&self, bytes: &[u8], stem: &str, mime: &str, nth: usize) -> io::Result<PathBuf> {
        match self {
            Self::File(path) if nth == 0 => {
                fs::write(path, bytes)?;
                Ok(path.clone())
            }
            Self::File(path) => {
                let stem = path.file_stem().map_or_else(|| stem.into(), |stem| stem.to_string_lossy());
                let own = path.extension().map(|extension| extension.to_string_lossy().into_owned());
                let extension = own.unwrap_or_else(|| extension(mime).to_owned());
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                create_free(folder.unwrap_or(Path::new(".")), &stem, &extension, bytes)
            }
            Self::Folder(folder) => {
                fs::create_dir_all(folder)?;
                create_free(folder, stem, extension(mime), bytes)
            }
        }
    }
}

/// Decodes base64, ignoring line breaks, which some servers insert.
pub(super) fn decode(data: &str) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(data).ok().or_else(|| {
        let compact: String = data.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        BASE64_STANDARD.decode(compact).ok()
    })
}

/// Formats a size with a unit.
pub(super) fn size(bytes: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
    let count = bytes as f64;
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{:.1} kB", count / 1e3),
        _ => format!("{:.1} MB", count / 1e6),
    }
}

fn create_free(folder: &Path, stem: &str, extension: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    for number in 1..=MAX_TRIES {
        let path = folder.join(format!("{stem}-{number}.{extension}"));
        match File::create_new(&path) {
            Ok(mut file) => return file.write_all(bytes).map(|()| path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("there are too many files of that name"))
}

fn extension(mime: &str) -> &'static str {
    match mime.split(';').next().unwrap_or_default().trim() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/gzip" => "gz",
        "application/zip" => "zip",
        "text/html" => "html",
        "text/markdown" => "md",
        "text/csv" => "csv",
        text if text.starts_with("text/") => "txt",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_folder_never_overwrite() {
        let folder = tempfile::tempdir().unwrap();
        let out = Out::new(folder.path().to_owned());
        let save = |bytes| out.save(bytes, "image", "image/png", 0).unwrap();
        let (one, two) = (save(b"1"), save(b"2"));
        assert_eq!((fs::read(&one).unwrap(), fs::read(&two).unwrap()), (b"1".to_vec(), b"2".to_vec()));
        assert!(two.ends_with("image-2.png"));
    }

    #[test]
    fn a_file_gets_its_name_and_further_things_a_number() {
        let folder = tempfile::tempdir().unwrap();
        let out = Out::new(folder.path().join("x.png"));
        assert!(out.save(b"1", "image", "image/png", 0).unwrap().ends_with("x.png"));
        assert!(out.save(b"2", "image", "image/png", 1).unwrap().ends_with("x-1.png"));
    }

    #[test]
    fn base64_may_be_broken_into_lines() {
        assert_eq!(decode("aGk=").unwrap(), b"hi");
        assert_eq!(decode("aG\nk=\n").unwrap(), b"hi");
        assert!(decode("%%").is_none());
        assert_eq!(
            (size(12), size(12_345), size(2_500_000)),
            ("12 B".into(), "12.3 kB".into(), "2.5 MB".into())
        );
    }
}
