//! Runs work in child processes.

use std::{path::PathBuf, sync::Arc, time::Duration};

use trunkline_documents::{Format, binary_hash};
use trunkline_process::{Command, Ending, Finished, Keep, Limits, Overflow, SetBy};
use trunkline_protocol::FaultKind;
use trunkline_resilience::{FairSlot, FairSlots, timeout};

use super::child::{CONVERT, FAILED};
use super::failure::{Cause, DocumentFailure};
use super::ocr::{Ocr, OcrPrograms, Recognised};
use super::options::ConversionLimits;
use super::summary::Summary;
use super::work::{Header, Part, Work, Written};

/// Bytes of a child's stderr that are kept for the log.
const STDERR: usize = 4 * 1024;

/// Variables that bound the third-party readers and the allocator from within.
const VARIABLES: [(&str, &str); 3] = [
    ("DOCLING_RS_MAX_TABLE_CELLS", "1000000"),
    ("DOCLING_RS_MAX_TOTAL_TABLE_CELLS", "5000000"),
    // The allocator otherwise reserves more address space than a child may have.
    ("MIMALLOC_ARENA_RESERVE", "32MiB"),
];

/// Signals of a process that used too much: CPU time, or memory in a way that ends it.
const SIGXCPU: i32 = 24;
const SIGKILL: i32 = 9;

/// Converts and exports documents in child processes, a few at a time. Dropping a future kills its
/// child.
///
/// All work needs a slot, which is to be acquired before a document is read: documents that wait
/// would fill the memory. Methods take it as proof that it is held.
#[derive(Debug)]
pub struct Converter {
    program: PathBuf,
    limits: ConversionLimits,
    ocr: Ocr,
    slots: Arc<FairSlots>,
}

/// A file to convert.
#[derive(Debug, Clone, Copy)]
pub struct SourceFile<'a> {
    pub bytes: &'a [u8],
    pub format: Format,
    /// Its name, if it has one.
    pub name: Option<&'a str>,
}

/// A converted document.
#[derive(Debug, Clone)]
pub struct Converted {
    pub summary: Summary,
    /// The JSON of the document.
    pub json: Vec<u8>,
}

impl Converter {
    /// `program` must call [`child::run`](super::child::run) if its first argument is [`CONVERT`].
    pub fn new(program: PathBuf, limits: ConversionLimits, ocr: Ocr) -> Self {
        let slots = FairSlots::new(limits.concurrency, limits.per_caller);
        Self { program, limits, ocr, slots }
    }

    pub fn limits(&self) -> &ConversionLimits {
        &self.limits
    }

    /// Waits for a slot.
    pub async fn slot(&self, caller: &str) -> FairSlot {
        self.slots.acquire(caller).await
    }

    /// Converts a file to the JSON of a document.
    pub async fn convert(&self, slot: &FairSlot, file: SourceFile<'_>) -> Result<Converted, DocumentFailure> {
        let (summary, json) = self.convert_to(slot, file, Written::JSON).await?;
        Ok(Converted { summary, json })
    }

    /// Converts a file and writes the document, in one process.
    pub async fn convert_to(
        &self,
        _slot: &FairSlot,
        file: SourceFile<'_>,
        written: Written,
    ) -> Result<(Summary, Vec<u8>), DocumentFailure> {
        let size = file.bytes.len() as u64;
        if size > self.limits.file {
            return Err(DocumentFailure::too_large(size, self.limits.file));
        }
        let (format, name) = (file.format.name().to_owned(), file.name.map(str::to_owned));
        let work = Work::Convert { format: format.clone(), name: name.clone(), written };
        match self.converted(work, file.bytes).await {
            Err(failure) if failure.cause == Some(Cause::NoTextLayer) => {
                let programs = self.ocr.programs(file.format, failure)?;
                let pages = self.recognise(programs, file).await?;
                self.converted(Work::Build { format, name, written }, &pages).await
            }
            converted => converted,
        }
    }

    /// The text in pictures, as input of [`Work::Build`].
    async fn recognise(
        &self,
        programs: &OcrPrograms,
        file: SourceFile<'_>,
    ) -> Result<Vec<u8>, DocumentFailure> {
        let longest = self.limits.longest;
        let pages = timeout(longest, programs.recognise(file.bytes, file.format, &self.limits))
            .await
            .unwrap_or_else(|| Err(DocumentFailure::timed_out(FaultKind::ConversionFailed, longest)))?;
        let recognised = Recognised { hash: binary_hash(file.bytes), pages };
        Ok(serde_json::to_vec(&recognised).unwrap_or_default())
    }

    /// Reads the JSON of a document that another program wrote, without the text `note` at its end.
    pub(super) async fn check(
        &self,
        _slot: &FairSlot,
        json: &[u8],
        note: String,
    ) -> Result<Converted, DocumentFailure> {
        let (summary, json) = self.converted(Work::Check { note }, json).await?;
        Ok(Converted { summary, json })
    }

    async fn converted(&self, work: Work, bytes: &[u8]) -> Result<(Summary, Vec<u8>), DocumentFailure> {
        let time = self.limits.time(bytes.len() as u64);
        let output = self.run(work, bytes, time, FaultKind::ConversionFailed).await?;
        let broken = || DocumentFailure::new(FaultKind::ConversionFailed, "the converter answered nonsense");
        let end = output.iter().position(|byte| *byte == b'\n').ok_or_else(broken)?;
        let summary = serde_json::from_slice(&output[..end]).map_err(|_| broken())?;
        let mut document = output;
        document.drain(..=end);
        Ok((summary, document))
    }

    /// Writes a document, or a part of it, in another format.
    pub async fn export(
        &self,
        _slot: &FairSlot,
        json: &[u8],
        written: Written,
        part: Part,
    ) -> Result<String, DocumentFailure> {
        let work = Work::Export { written, part };
        let output = self.run(work, json, ConversionLimits::EXPORT, FaultKind::ExportFailed).await?;
        String::from_utf8(output)
            .map_err(|_| DocumentFailure::new(FaultKind::ExportFailed, "the export is not UTF-8"))
    }

    async fn run(
        &self,
        work: Work,
        bytes: &[u8],
        time: Duration,
        kind: FaultKind,
    ) -> Result<Vec<u8>, DocumentFailure> {
        let cannot =
            |detail: String| DocumentFailure::new(kind, "the converter could not be started").detail(detail);
        let cpu_seconds = time.as_secs().max(1);
        let header = Header { work, memory: self.limits.memory, cpu_seconds, file: self.limits.file };
        let mut input = serde_json::to_vec(&header).map_err(|error| cannot(error.to_string()))?;
        input.push(b'\n');
        input.extend_from_slice(bytes);
        let mut command = Command::new(self.program.as_os_str()).args([CONVERT]).envs(VARIABLES);
        command.directory = Some(PathBuf::from("/"));
        let limits = Limits {
            deadline: time,
            stdout: Keep::head(self.limits.output),
            stderr: Keep::ends(STDERR, STDERR),
            overflow: Overflow::Stop,
            // It isolates itself before it reads the document.
            set_by: SetBy::Program,
            ..Limits::default()
        };
        let finished = command.run(&limits, input).await.map_err(|error| cannot(error.to_string()))?;
        self.outcome(finished, time, kind)
    }

    fn outcome(
        &self,
        finished: Finished,
        time: Duration,
        kind: FaultKind,
    ) -> Result<Vec<u8>, DocumentFailure> {
        let Finished { ending, stdout, stderr, .. } = finished;
        let told = String::from_utf8_lossy(&stderr.head).into_owned();
        match ending {
            Ending::Code(0) => return Ok(stdout.head),
            Ending::Code(code) if code == i32::from(FAILED) => {
                if let Some(failure) = DocumentFailure::from_report(&stdout.head) {
                    return Err(failure);
                }
            }
            Ending::Overflow => {
                let limit = self.limits.output;
                let message = format!("the converted document is larger than the {limit} bytes allowed");
                return Err(DocumentFailure::new(FaultKind::FileTooLarge, message)
                    .hint("split the document, or raise `documents.outputBytes`"));
            }
            Ending::Deadline | Ending::Signal(SIGXCPU | SIGKILL) => {
                return Err(DocumentFailure::timed_out(kind, time).detail(told));
            }
            _ if told.contains("memory allocation of") => {
                let limit = self.limits.memory >> 20;
                let message = format!("the document needs more than the {limit} MB of memory allowed");
                return Err(DocumentFailure::new(kind, message)
                    .hint("split the document, or raise `documents.memoryBytes`")
                    .detail(told));
            }
            _ => {}
        }
        let message = "the converter ended early: the document is damaged, or made to break it";
        Err(DocumentFailure::new(kind, message)
            .hint("open the document in its program and save it again")
            .detail(format!("the child {ending}: {told}")))
    }
}
