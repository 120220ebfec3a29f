//! Failures of conversions and exports.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trunkline_documents::{Format, ReadError};
use trunkline_protocol::FaultKind;
use trunkline_toolbox::ToolError;

/// A failed conversion or export, with its row of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DocumentFailure {
    pub kind: FaultKind,
    pub message: String,
    pub hint: Option<String>,
    /// For the log only.
    pub detail: Option<String>,
    pub(super) cause: Option<Cause>,
}

/// A cause that the server can do something about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Cause {
    /// The text is in pictures.
    NoTextLayer,
}

/// A failure as the child process reports it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReportedFailure {
    code: String,
    message: String,
    hint: Option<String>,
    cause: Option<Cause>,
}

impl DocumentFailure {
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, detail: None, cause: None }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(super) fn timed_out(kind: FaultKind, limit: Duration) -> Self {
        let message = format!("the document took longer than the {} s allowed", limit.as_secs());
        Self::new(kind, message).hint("split the document, or raise `documents.timeout`")
    }

    pub(super) fn too_large(bytes: u64, limit: u64) -> Self {
        Self::new(
            FaultKind::FileTooLarge,
            format!("the document has {bytes} bytes, more than the {limit} allowed"),
        )
        .hint("use a smaller file, or raise `documents.fileBytes`")
    }

    pub(super) fn unknown_format(name: Option<&str>) -> Self {
        let name = name.unwrap_or("the content");
        Self::new(FaultKind::FileUnsupported, format!("the format of {name} is not known"))
            .hint(format!("expected one of: {}", formats()))
    }

    pub(super) fn from_read(error: &ReadError) -> Self {
        let kind = match error {
            ReadError::NoBytes | ReadError::Unsupported { .. } | ReadError::Encrypted => {
                FaultKind::FileUnsupported
            }
            ReadError::TooLarge(_) => FaultKind::FileTooLarge,
            _ => FaultKind::ConversionFailed,
        };
        let failure = Self::new(kind, error.to_string());
        match error {
            ReadError::NoBytes => failure.hint("the file may not have been written completely"),
            ReadError::Encrypted => failure
                .hint("save it without a password first; tools take none, because a model would see it"),
            ReadError::NoTextLayer => Self { cause: Some(Cause::NoTextLayer), ..failure },
            ReadError::NothingRecognised => {
                failure.hint("scan it again with more contrast, or set `documents.ocrLanguages`")
            }
            _ => failure,
        }
    }

    pub(super) fn report(&self) -> Vec<u8> {
        let report = ReportedFailure {
            code: self.kind.entry().code.to_owned(),
            message: self.message.clone(),
            hint: self.hint.clone(),
            cause: self.cause,
        };
        serde_json::to_vec(&report).unwrap_or_default()
    }

    /// The failure that a child reported; `None` if it is not a report.
    pub(super) fn from_report(bytes: &[u8]) -> Option<Self> {
        let report: ReportedFailure = serde_json::from_slice(bytes).ok()?;
        let kinds = [
            FaultKind::FileUnsupported,
            FaultKind::FileTooLarge,
            FaultKind::ConversionFailed,
            FaultKind::ExportFailed,
            FaultKind::ResourceNotFound,
        ];
        let kind = kinds.into_iter().find(|kind| kind.entry().code == report.code)?;
        Some(Self { kind, message: report.message, hint: report.hint, detail: None, cause: report.cause })
    }
}

/// The names of all formats.
fn formats() -> String {
    Format::all().map(Format::name).collect::<Vec<_>>().join(", ")
}

impl From<DocumentFailure> for ToolError {
    fn from(failure: DocumentFailure) -> Self {
        let mut error = match failure.kind {
            FaultKind::ResourceNotFound => Self::not_found(failure.message),
            kind => Self::known(kind, failure.message),
        };
        if let Some(hint) = failure.hint {
            error = error.hint(hint);
        }
        if let Some(detail) = failure.detail {
            error = error.detail(detail);
        }
        error
    }
}
