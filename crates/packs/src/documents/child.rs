//! The child process: isolates itself, then does one piece of [`Work`].

use std::io::{self, BufRead, BufReader, Read, Write};

use trunkline_documents::{
    Document, Format, HtmlOptions, Limits, MarkdownOptions, NodeId, NodeKind, ReadOptions, html, markdown,
    page, preflight, read, recognised, section,
};
use trunkline_protocol::FaultKind;

use super::failure::DocumentFailure;
use super::ocr::Recognised;
use super::summary::Summary;
use super::work::{ExportFormat, ExportStyle, Header, Part, Work, Written};

/// The first argument of a process that is to call [`run`].
pub const CONVERT: &str = "__convert";

/// Exit status after a failure that stdout describes.
pub(super) const FAILED: u8 = 1;
/// Exit status if the process could not isolate itself or was started wrongly.
pub(super) const NOT_ISOLATED: u8 = 2;

/// Longest header.
const MAX_HEADER: u64 = 64 * 1024;
/// Stack of the thread that reads: deep documents make the readers recurse.
const STACK: usize = 64 << 20;

/// Does the work that `input` describes and writes the result to `output`. Returns the exit status.
/// The process must have no other thread.
pub fn run(input: impl Read, mut output: impl Write) -> u8 {
    let mut input = BufReader::new(input);
    let Some(header) = header(&mut input) else { return NOT_ISOLATED };
    if header.isolation().apply().is_err() {
        return NOT_ISOLATED;
    }
    let mut bytes = Vec::new();
    if input.read_to_end(&mut bytes).is_err() {
        return NOT_ISOLATED;
    }
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || work(&header, &bytes));
    // A panic in a reader is reported like an abort, by the exit status.
    let Some(done) = worker.ok().and_then(|worker| worker.join().ok()) else { return NOT_ISOLATED };
    let (status, bytes) = match done {
        Ok(bytes) => (0, bytes),
        Err(failure) => (FAILED, failure.report()),
    };
    match output.write_all(&bytes).and_then(|()| output.flush()) {
        Ok(()) => status,
        Err(_) => NOT_ISOLATED,
    }
}

fn header(input: &mut impl BufRead) -> Option<Header> {
    let mut line = Vec::new();
    io::Read::take(input, MAX_HEADER).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

fn work(header: &Header, bytes: &[u8]) -> Result<Vec<u8>, DocumentFailure> {
    match &header.work {
        Work::Convert { format, name, written } => {
            let format =
                Format::from_name(format).ok_or_else(|| DocumentFailure::unknown_format(name.as_deref()))?;
            let limits = Limits { file_bytes: header.file, ..Limits::default() };
            preflight(bytes, format, &limits)
                .map_err(|refused| DocumentFailure::new(FaultKind::FileTooLarge, refused.to_string()))?;
            let options = ReadOptions { name: name.clone(), ..ReadOptions::default() };
            let document =
                read(bytes, format, &options).map_err(|error| DocumentFailure::from_read(&error))?;
            Ok(described(&document, *written))
        }
        Work::Build { format, name, written } => {
            let format =
                Format::from_name(format).ok_or_else(|| DocumentFailure::unknown_format(name.as_deref()))?;
            let Recognised { hash, pages } = serde_json::from_slice(bytes)
                .map_err(|error| DocumentFailure::new(FaultKind::ConversionFailed, error.to_string()))?;
            let options = ReadOptions { name: name.clone(), ..ReadOptions::default() };
            let document = recognised(&pages, format, hash, &options)
                .map_err(|error| DocumentFailure::from_read(&error))?;
            Ok(described(&document, *written))
        }
        Work::Check { note } => {
            let mut document = Document::from_json(bytes).map_err(|error| {
                let message = format!("the server's answer is not a DoclingDocument: {error}");
                DocumentFailure::new(FaultKind::ConversionFailed, message)
            })?;
            remove_note(&mut document, note);
            if document.texts.is_empty() && document.tables.is_empty() && document.pictures.is_empty() {
                let message = "the server found no text, tables or pictures in the document";
                return Err(DocumentFailure::new(FaultKind::ConversionFailed, message)
                    .hint("a scanned document needs a server with OCR"));
            }
            Ok(described(&document, Written::JSON))
        }
        Work::Export { written, part } => {
            let document = Document::from_json(bytes).map_err(|error| {
                DocumentFailure::new(FaultKind::ExportFailed, format!("not a DoclingDocument: {error}"))
                    .hint("pass the JSON of a converted document, or the handle of one")
            })?;
            Ok(write(&part_of(document, *part)?, *written))
        }
    }
}

/// A line with the summary, then the document.
fn described(document: &Document, written: Written) -> Vec<u8> {
    let mut output = serde_json::to_vec(&Summary::of(document)).unwrap_or_default();
    output.push(b'\n');
    output.extend(write(document, written));
    output
}

fn write(document: &Document, written: Written) -> Vec<u8> {
    match written.to {
        ExportFormat::Markdown => {
            let options = match written.style {
                ExportStyle::Plain => MarkdownOptions::default(),
                ExportStyle::Reading => MarkdownOptions::for_reading(),
            };
            markdown(document, &options).into_bytes()
        }
        ExportFormat::Html => html(document, &HtmlOptions::default()).into_bytes(),
        ExportFormat::Json => document.to_json(),
    }
}

/// Removes the last text if it is the note. No other text changes its number by that.
fn remove_note(document: &mut Document, note: &str) {
    let is_last = document.texts.last().is_some_and(|text| text.text == note);
    let node = document.texts.len().checked_sub(1).map(|last| NodeId::new(NodeKind::Text, last));
    if let (true, Some(node)) = (is_last, node) {
        document.texts.pop();
        document.body.node.children.retain(|child| child.to != node);
        document.furniture.node.children.retain(|child| child.to != node);
    }
}

fn part_of(document: Document, part: Part) -> Result<Document, DocumentFailure> {
    let (found, missing) = match part {
        Part::Whole => return Ok(document),
        Part::Page(number) => (page(&document, number), format!("page {number}")),
        Part::Section(position) => (section(&document, position), format!("section {position}")),
    };
    found.ok_or_else(|| {
        let message = format!("the document has no {missing}; it has {} pages", document.pages.len());
        DocumentFailure::new(FaultKind::ResourceNotFound, message)
    })
}
