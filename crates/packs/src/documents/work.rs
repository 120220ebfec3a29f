//! A piece of work for the child process.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trunkline_process::Isolation;

/// The work of one child process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Reads a file. The output is a line with the [`Summary`](super::Summary), then the document.
    Convert {
        /// Name of the [`Format`](trunkline_documents::Format).
        format: String,
        name: Option<String>,
        written: Written,
    },
    /// Builds a document from recognised pages. The output is that of a conversion.
    Build { format: String, name: Option<String>, written: Written },
    /// Reads a document whose JSON is the input, and removes a text of this content from its end.
    /// The output is that of a conversion.
    Check { note: String },
    /// Writes a document whose JSON is the input.
    Export { written: Written, part: Part },
}

/// The form in which a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    pub to: ExportFormat,
    pub style: ExportStyle,
}

impl Written {
    /// The JSON of the document.
    pub(super) const JSON: Self = Self { to: ExportFormat::Json, style: ExportStyle::Plain };
}

/// A format that documents are exported to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    Markdown,
    Html,
    Json,
}

/// The style of Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportStyle {
    /// As docling-core exports a document.
    #[default]
    Plain,
    /// With the names of sheets, and comments on cells.
    Reading,
}

/// A part of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Whole,
    /// A page, slide or sheet by its number.
    Page(i64),
    /// The section of a heading, by its position in the outline.
    Section(usize),
}

/// The first line of the child's input; the document follows.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) work: Work,
    pub(super) memory: u64,
    pub(super) cpu_seconds: u64,
    pub(super) file: u64,
}

impl Header {
    pub(super) fn isolation(&self) -> Isolation {
        Isolation { memory: self.memory, cpu: Duration::from_secs(self.cpu_seconds) }
    }
}

impl ExportFormat {
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            Self::Html => "text/html",
            Self::Json => "application/json",
        }
    }

    /// File name extension.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Json => "json",
        }
    }
}
