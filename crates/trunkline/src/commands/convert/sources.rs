//! The documents that the command line names.

use crate::failure::Failure;
use std::{
    fs,
    path::{Path, PathBuf},
};
use trunkline_documents::Format;

/// Most documents of one run.
const MAX_DOCUMENTS: usize = 100_000;
/// Deepest folder that is searched.
const MAX_DEPTH: usize = 64;

/// A document to convert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A file, and its path relative to the directory argument; only its name if given directly.
    File {
        path: PathBuf,
        below: PathBuf,
    },
    Url(String),
    Stdin,
}

impl Source {
    /// The source as the user knows it.
    pub(super) fn label(&self) -> String {
        match self {
            Self::File { path, .. } => path.display().to_string(),
            Self::Url(url) => url.clone(),
            Self::Stdin => "-".to_owned(),
        }
    }

    /// Path of the converted document, without its new extension.
    pub(super) fn below(&self) -> PathBuf {
        match self {
            Self::File { below, .. } => below.clone(),
            Self::Stdin => PathBuf::from("stdin"),
            Self::Url(url) => {
                let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "-._".contains(sign);
                let text = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
                let name: String = text.chars().map(|sign| if is_plain(sign) { sign } else { '_' }).collect();
                PathBuf::from(name.trim_matches(['.', '_']))
            }
        }
    }
}

/// The documents that the words name, in order.
pub(super) fn find(words: &[String]) -> Result<Vec<Source>, Failure> {
    let mut found = Vec::new();
    for word in words {
        if word == "-" {
            found.push(Source::Stdin);
        } else if word.starts_with("http://") || word.starts_with("https://") {
            found.push(Source::Url(word.clone()));
        } else {
            let path = PathBuf::from(word);
            let kind = fs::metadata(&path).map_err(|error| unreadable(&path, &error))?;
            if kind.is_dir() {
                let before = found.len();
                search(&path, Path::new(""), 0, &mut found)?;
                if found.len() == before {
                    let text = format!("{word}: the folder has no file with a known extension");
                    return Err(Failure::usage(text));
                }
            } else {
                let below = path.file_name().map(PathBuf::from).unwrap_or_default();
                found.push(Source::File { path, below });
            }
        }
    }
    Ok(found)
}

fn search(folder: &Path, below: &Path, depth: usize, found: &mut Vec<Source>) -> Result<(), Failure> {
    let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let mut entries: Vec<_> =
        entries.collect::<Result<_, _>>().map_err(|error| unreadable(folder, &error))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name());
        let kind = entry.file_type().map_err(|error| unreadable(&path, &error))?;
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() && depth < MAX_DEPTH {
            search(&path, &below.join(&name), depth + 1, found)?;
        } else if kind.is_file() && is_known(&path) {
            found.push(Source::File { path, below: below.join(&name) });
        }
        if found.len() > MAX_DOCUMENTS {
            return Err(Failure::usage(format!("more than {MAX_DOCUMENTS} documents"))
                .hint("convert the folders one by one"));
        }
    }
    Ok(())
}

fn is_known(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.and_then(Format::from_extension).is_some()
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_searched_for_known_extensions() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a.docx", "sub/b.pdf", "sub/c.exe", ".hidden/d.pdf", "e"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink("a.docx", folder.path().join("link.docx")).unwrap();
        let words = [folder.path().display().to_string(), "-".to_owned(), "https://h/x.pdf?y".to_owned()];
        let found = find(&words).unwrap();
        let below: Vec<_> = found.iter().map(|source| source.below().display().to_string()).collect();
        assert_eq!(below, ["a.docx", "sub/b.pdf", "stdin", "h_x.pdf_y"]);
        assert!(find(&["/nowhere/at/all".to_owned()]).is_err());
    }
}
