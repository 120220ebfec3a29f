//! Recognition of text in scanned pages and pictures, by `tesseract`.
//!
//! Both programs parse untrusted input: they get it on stdin, can write no file, read only system
//! directories and their own, and are killed at the end of the time limit or of the call. Landlock
//! refuses them TCP connections, too.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trunkline_documents::{Format, RecognisedPage};
use trunkline_process::{Command, Confinement, Ending, Finished, Keep, Limits, Network, Overflow, Reads};
use trunkline_protocol::FaultKind;

use super::failure::DocumentFailure;
use super::options::ConversionLimits;

/// Resolution at which pages are drawn, in dots per inch; tesseract recommends it.
const RESOLUTION: u32 = 300;
/// Largest picture of a page: A2 in shades of gray.
const MAX_PICTURE: usize = 64 << 20;
/// Largest description of a page.
const MAX_DESCRIPTION: usize = 8 << 20;
const MAX_STDERR: usize = 4 * 1024;
/// Exit status of `pdftoppm` for a page that does not exist, among other wrong arguments.
const NO_SUCH_PAGE: i32 = 99;
/// Directories with libraries and data of programs.
const SYSTEM: [&str; 8] = ["/usr", "/lib", "/lib64", "/etc", "/opt", "/nix", "/dev/null", "/dev/urandom"];

/// Recognition of text in pictures.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Ocr {
    #[default]
    Off,
    /// `tesseract` is not installed.
    Missing,
    With(OcrPrograms),
}

/// The programs and their settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OcrPrograms {
    pub tesseract: PathBuf,
    /// `pdftoppm`, which draws pages of PDF files; without it only pictures can be read.
    pub pdftoppm: Option<PathBuf>,
    /// Languages as tesseract names them, such as `eng+deu`.
    pub languages: String,
    /// Most pages of a document.
    pub pages: u32,
    /// Variables by which the programs find their libraries and data.
    pub variables: Vec<(String, String)>,
}

/// Recognised pages on their way to the child process that builds the document.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Recognised {
    pub(super) hash: u64,
    pub(super) pages: Vec<RecognisedPage>,
}

impl Ocr {
    /// The programs for a format, or the failure with the reason why there are none.
    pub(super) fn programs(
        &self,
        format: Format,
        failure: DocumentFailure,
    ) -> Result<&OcrPrograms, DocumentFailure> {
        let hint = match self {
            Self::With(programs) if format == Format::Image || programs.pdftoppm.is_some() => {
                return Ok(programs);
            }
            Self::With(_) => "install pdftoppm (poppler-utils), which draws the pages for tesseract",
            Self::Missing => {
                "install tesseract, and pdftoppm (poppler-utils) for PDF; or use docling-mcp as an upstream"
            }
            Self::Off => "set `documents.ocr` to \"auto\", or use docling-mcp as an upstream",
        };
        Err(failure.hint(hint))
    }
}

impl OcrPrograms {
    /// Recognises the text of all pages.
    pub(super) async fn recognise(
        &self,
        bytes: &[u8],
        format: Format,
        limits: &ConversionLimits,
    ) -> Result<Vec<RecognisedPage>, DocumentFailure> {
        let Some(pdftoppm) = self.pdftoppm.as_deref().filter(|_| format == Format::Pdf) else {
            return Ok(vec![self.page(bytes.to_vec(), limits).await?]);
        };
        let mut pages = Vec::new();
        while let Some(picture) = self.draw(pdftoppm, bytes, pages.len() + 1, limits).await? {
            if pages.len() >= self.pages as usize {
                let message =
                    format!("the document has more than the {} pages that are recognised", self.pages);
                return Err(DocumentFailure::new(FaultKind::FileTooLarge, message)
                    .hint("split the document, or raise `documents.ocrPages`"));
            }
            pages.push(self.page(picture, limits).await?);
        }
        Ok(pages)
    }

    /// Draws one page; `None` after the last one.
    async fn draw(
        &self,
        pdftoppm: &Path,
        bytes: &[u8],
        number: usize,
        limits: &ConversionLimits,
    ) -> Result<Option<Vec<u8>>, DocumentFailure> {
        let (number, resolution) = (number.to_string(), RESOLUTION.to_string());
        let words = ["-f", &number, "-l", &number, "-r", &resolution, "-gray", "-q", "-"];
        let finished = self.run(pdftoppm, &words, (bytes.to_vec(), MAX_PICTURE), limits).await?;
        match finished.ending {
            Ending::Code(0) if !finished.stdout.head.is_empty() => Ok(Some(finished.stdout.head)),
            Ending::Code(NO_SUCH_PAGE) if number != "1" => Ok(None),
            Ending::Overflow => Err(failed(format!("page {number} is too large to be recognised"))),
            _ => Err(broken(&finished, &format!("page {number} could not be drawn"))),
        }
    }

    /// Recognises the text in one picture.
    async fn page(
        &self,
        picture: Vec<u8>,
        limits: &ConversionLimits,
    ) -> Result<RecognisedPage, DocumentFailure> {
        let resolution = RESOLUTION.to_string();
        let words = ["stdin", "stdout", "--dpi", &resolution, "-l", &self.languages, "tsv"];
        let finished = self.run(&self.tesseract, &words, (picture, MAX_DESCRIPTION), limits).await?;
        match finished.ending {
            Ending::Code(0) => {
                let tsv = String::from_utf8_lossy(&finished.stdout.head).into_owned();
                Ok(RecognisedPage { tsv, resolution: RESOLUTION })
            }
            _ if String::from_utf8_lossy(&finished.stderr.head).contains("loading language") => {
                Err(failed(format!("tesseract lacks a language of `{}`", self.languages))
                    .hint("install its data, or change `documents.ocrLanguages`"))
            }
            _ => Err(broken(&finished, "tesseract could not read the picture")),
        }
    }

    async fn run(
        &self,
        program: &Path,
        words: &[&str],
        (input, output): (Vec<u8>, usize),
        limits: &ConversionLimits,
    ) -> Result<Finished, DocumentFailure> {
        let mut command = Command::new(program).args(words).envs(self.variables.iter().cloned());
        // One thread: concurrency is that of conversions.
        command = command.envs([("OMP_THREAD_LIMIT", "1")]);
        command.directory = Some(PathBuf::from("/"));
        command.confinement = Some(Confinement {
            writable: Vec::new(),
            reads: Reads::Only(self.readable(program)),
            network: Network::Refused,
        });
        let limits = Limits {
            deadline: limits.longest,
            stdout: Keep::head(output),
            stderr: Keep::ends(MAX_STDERR, MAX_STDERR),
            overflow: Overflow::Stop,
            memory: Some(limits.memory),
            file_size: Some(0),
            ..Limits::default()
        };
        command.run(&limits, input).await.map_err(|error| {
            failed(format!("{} could not be started", program.display())).detail(error.to_string())
        })
    }

    /// System directories, the program's own, and those in its variables.
    fn readable(&self, program: &Path) -> Vec<PathBuf> {
        let program = program.canonicalize().unwrap_or_else(|_| program.to_owned());
        let own = program.ancestors().nth(2).filter(|folder| folder.parent().is_some()).map(Path::to_owned);
        let named = self.variables.iter().flat_map(|(_, value)| value.split(':'));
        let named = named.filter(|path| path.starts_with('/') && path.len() > 1);
        SYSTEM.into_iter().chain(named).map(PathBuf::from).chain(own).collect()
    }
}

fn broken(finished: &Finished, message: &str) -> DocumentFailure {
    let told = String::from_utf8_lossy(&finished.stderr.head).into_owned();
    failed(message)
        .hint("the document may be damaged; print it to a new file in its program")
        .detail(format!("the program {}: {told}", finished.ending))
}

fn failed(message: impl Into<String>) -> DocumentFailure {
    DocumentFailure::new(FaultKind::ConversionFailed, message)
}
