//! The output and report files of a run, which the parsers read.

use std::{
    fs::{self, File},
    io::Read,
    path::Path,
    time::SystemTime,
};

use super::super::log_text::plain;
use trunkline_process::Captured;

/// Maximum number of report files read.
const FILES: usize = 500;

/// Maximum size of one report file; below: of all report files.
const FILE_SIZE: u64 = 2 * 1024 * 1024;
const ALL_FILES: usize = 16 * 1024 * 1024;

/// Maximum depth of the search for report files; below: maximum number of directories.
const DEPTH: usize = 8;
const DIRECTORIES: usize = 5000;

/// The output and report files of a run.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Evidence {
    pub(in super::super) stdout: String,
    pub(in super::super) stderr: String,
    /// The texts of its report files.
    pub(in super::super) files: Vec<String>,
}

impl Evidence {
    pub(in super::super) fn new(stdout: &Captured, stderr: &Captured) -> Self {
        Self { stdout: plain(&stdout.text()), stderr: plain(&stderr.text()), files: Vec::new() }
    }

    /// Adds the XML files below `directory` that were modified after `since`. With `ending`, only
    /// those below a directory whose path has that suffix.
    pub(in super::super) fn add_reports(
        &mut self,
        directory: &Path,
        ending: Option<&str>,
        since: SystemTime,
    ) {
        let mut open = vec![(directory.to_owned(), 0)];
        let mut looked_into = 0;
        while let Some((directory, depth)) = open.pop() {
            looked_into += 1;
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            if looked_into > DIRECTORIES {
                return;
            }
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                let path = entry.path();
                let hidden = entry.file_name().to_string_lossy().starts_with('.');
                if kind.is_dir() && depth < DEPTH && !hidden && entry.file_name() != "node_modules" {
                    open.push((path, depth + 1));
                } else if kind.is_file() && is_report(&path, ending) && is_new(&path, since) {
                    self.add_file(&path);
                }
            }
        }
    }

    fn add_file(&mut self, path: &Path) {
        let read: usize = self.files.iter().map(String::len).sum();
        if self.files.len() >= FILES || read >= ALL_FILES {
            return;
        }
        let mut bytes = Vec::new();
        if let Ok(file) = File::open(path)
            && file.take(FILE_SIZE).read_to_end(&mut bytes).is_ok()
        {
            self.files.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}

fn is_report(path: &Path, ending: Option<&str>) -> bool {
    let is_xml = path.extension().is_some_and(|extension| extension == "xml" || extension == "trx");
    is_xml && ending.is_none_or(|ending| path.ancestors().skip(1).any(|part| part.ends_with(ending)))
}

/// True if the file was modified after `since`, with a tolerance for coarse file system clocks.
fn is_new(path: &Path, since: SystemTime) -> bool {
    let written = fs::metadata(path).and_then(|file| file.modified());
    written.is_ok_and(|written| written + std::time::Duration::from_secs(2) >= since)
}
