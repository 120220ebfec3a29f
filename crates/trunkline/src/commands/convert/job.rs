//! One document of a run: read, converted, written.

use super::sources::Source;
use crate::terminal::Teller;
use serde::Serialize;
use std::{
    collections::HashMap,
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};
use trunkline_packs::documents::{DocumentFailure, ExportFormat};
use trunkline_protocol::FaultKind;

/// Converts documents.
pub(super) trait Convert {
    /// Largest file.
    fn largest(&self) -> u64;

    async fn file(
        &self,
        bytes: Vec<u8>,
        name: Option<&str>,
        to: ExportFormat,
    ) -> Result<String, DocumentFailure>;

    async fn url(&self, url: &str, to: ExportFormat) -> Result<String, DocumentFailure>;
}

/// A document, and the place where its conversion goes.
#[derive(Debug)]
pub(super) struct Job {
    source: Source,
    /// `None`: standard output.
    target: Option<PathBuf>,
    /// Number of folders of the target that are below the one that the user named.
    depth: usize,
    to: ExportFormat,
    force: bool,
}

/// The outcome of one document.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<PathBuf>,
    pub(super) status: Status,
    /// Bytes written.
    pub(super) bytes: usize,
    pub(super) milliseconds: u128,
    /// Code of the catalogue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    /// The converted document, if it is not written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Converted,
    /// Its converted document is newer than itself.
    Skipped,
    Failed,
}

/// Counts finished documents for the progress bar.
pub(super) struct Progress {
    teller: Teller,
    done: AtomicUsize,
    total: usize,
}

impl Job {
    /// The jobs of a run. Two sources that differ only in their extension keep it in the names of
    /// their targets.
    pub(super) fn of(sources: Vec<Source>, out: Option<&Path>, to: ExportFormat, force: bool) -> Vec<Self> {
        let mut stems: HashMap<PathBuf, usize> = HashMap::new();
        for source in &sources {
            *stems.entry(source.below().with_extension("")).or_default() += 1;
        }
        let job = |source: Source| {
            let below = source.below();
            let is_alone = stems.get(&below.with_extension("")) == Some(&1);
            let name = if is_alone && matches!(source, Source::File { .. }) {
                below.with_extension(to.extension())
            } else {
                let name = below.file_name().unwrap_or_default().to_string_lossy().into_owned();
                below.with_file_name(format!("{name}.{}", to.extension()))
            };
            let depth = name.components().count().saturating_sub(1);
            Self { target: out.map(|out| out.join(name)), depth, source, to, force }
        };
        sources.into_iter().map(job).collect()
    }

    pub(super) async fn run(self, convert: &impl Convert) -> Outcome {
        let started = Instant::now();
        let mut outcome = Outcome {
            source: self.source.label(),
            target: self.target.clone(),
            status: Status::Skipped,
            bytes: 0,
            milliseconds: 0,
            code: None,
            message: None,
            content: None,
        };
        if self.is_done() {
            return outcome;
        }
        match self.convert(convert).await {
            Ok(text) => {
                outcome.status = Status::Converted;
                outcome.bytes = text.len();
                outcome.content = self.target.is_none().then_some(text);
            }
            Err(failure) => {
                outcome.status = Status::Failed;
                outcome.code = Some(failure.kind.entry().code);
                let hint = failure.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                outcome.message = Some(failure.message + &hint);
            }
        }
        outcome.milliseconds = started.elapsed().as_millis();
        outcome
    }

    /// True if the target is newer than the source.
    fn is_done(&self) -> bool {
        let (Source::File { path, .. }, Some(target), false) = (&self.source, &self.target, self.force)
        else {
            return false;
        };
        let changed = |path: &Path| fs::metadata(path).and_then(|facts| facts.modified()).ok();
        changed(target).zip(changed(path)).is_some_and(|(target, source)| target >= source)
    }

    async fn convert(&self, convert: &impl Convert) -> Result<String, DocumentFailure> {
        let text = match &self.source {
            Source::Url(url) => convert.url(url, self.to).await?,
            Source::File { path, .. } => {
                let file = fs::File::open(path).map_err(|error| unreadable(&error))?;
                let bytes = read(file, convert.largest())?;
                let name = path.file_name().and_then(|name| name.to_str());
                convert.file(bytes, name, self.to).await?
            }
            Source::Stdin => {
                let bytes = read(io::stdin().lock(), convert.largest())?;
                convert.file(bytes, None, self.to).await?
            }
        };
        if let Some(target) = &self.target {
            write(target, self.depth, &text).map_err(|error| {
                let message = format!("{} cannot be written: {error}", target.display());
                DocumentFailure::new(FaultKind::ExportFailed, message)
            })?;
        }
        Ok(text)
    }
}

impl Progress {
    pub(super) fn new(teller: Teller, total: usize) -> Self {
        Self { teller, done: AtomicUsize::new(0), total }
    }

    pub(super) fn done(&self, outcome: &Outcome) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.teller.say(&outcome.source, Some((done, self.total)));
    }
}

fn read(source: impl Read, largest: u64) -> Result<Vec<u8>, DocumentFailure> {
    let mut bytes = Vec::new();
    source.take(largest.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > largest {
        let message = format!("the document has more than the {largest} bytes allowed");
        return Err(
            DocumentFailure::new(FaultKind::FileTooLarge, message).hint("raise `documents.fileBytes`")
        );
    }
    Ok(bytes)
}

/// Writes a file that exists only when it is complete. A stranger's project may have links where
/// the converted documents go, so none is followed below the folder that the user named.
fn write(target: &Path, depth: usize, text: &str) -> io::Result<()> {
    if let Some(link) = target.ancestors().skip(1).take(depth).find(|folder| folder.is_symlink()) {
        return Err(io::Error::other(format!("{} is a link, which is not followed", link.display())));
    }
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let draft = folder.join(format!(".{}.part", uuid::Uuid::new_v4().simple()));
    let written = fs::File::create_new(&draft)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&draft, target));
    if written.is_err() {
        // Nothing else can be done about a draft that cannot be removed.
        fs::remove_file(&draft).ok();
    }
    written
}

fn unreadable(error: &io::Error) -> DocumentFailure {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => FaultKind::FileNotFound,
        _ => FaultKind::FileUnreadable,
    };
    DocumentFailure::new(kind, format!("the file cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn k02_links_in_the_target_folder_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (out, outside) = (place.path().join("out"), place.path().join("outside"));
        fs::create_dir_all(&out).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("rc"), "mine").unwrap();
        symlink(&outside, out.join("sub")).unwrap();
        symlink(outside.join("rc"), out.join(format!(".a.md.{}.part", std::process::id()))).unwrap();
        symlink(outside.join("rc"), out.join("a.md")).unwrap();
        write(&out.join("a.md"), 0, "theirs").unwrap();
        assert!(write(&out.join("sub/b.md"), 1, "theirs").unwrap_err().to_string().contains("is a link"));
        assert!(write(&out.join("sub/deep/b.md"), 2, "theirs").is_err());
        assert_eq!(fs::read_to_string(outside.join("rc")).unwrap(), "mine");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(out.join("a.md")).unwrap(), "theirs");
    }
}
