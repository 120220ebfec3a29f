//! The document of a call: a file, base64 content, JSON or a handle.

use std::io::Read;

use base64::{Engine, prelude::BASE64_STANDARD};
use trunkline_documents::Format;
use trunkline_protocol::FaultKind;
use trunkline_toolbox::ToolError;

use super::failure::DocumentFailure;
use crate::filesystem::credentials;
use crate::sandbox::{AccessError, Purpose, Sandbox};

/// A document to convert.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) name: Option<String>,
    pub(super) bytes: Vec<u8>,
}

impl Source {
    /// Reads a file below the roots.
    pub(super) fn read(sandbox: &Sandbox, path: &str, limit: u64) -> Result<Self, ToolError> {
        let spot = sandbox.spot(path, Purpose::Read).map_err(|error| refused(&error))?;
        let file = spot.open_file().map_err(|error| refused(&error))?;
        let (dir, name) = spot.entry().map_err(|error| refused(&error))?;
        credentials::refuse(dir, name, &file)?;
        let label = spot.label();
        let unreadable = |error: std::io::Error| {
            ToolError::known(FaultKind::FileUnreadable, format!("`{label}` cannot be read"))
                .detail(error.to_string())
        };
        let size = file.metadata().map_err(unreadable)?.len();
        let mut bytes = Vec::new();
        if size <= limit {
            file.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        }
        let read = size.max(bytes.len() as u64);
        if read > limit {
            return Err(DocumentFailure::too_large(read, limit).into());
        }
        let name = label.rsplit('/').next().map(str::to_owned);
        Ok(Self { name, bytes })
    }

    /// Decodes base64 content.
    pub(super) fn decode(content: &str, name: Option<String>, limit: u64) -> Result<Self, ToolError> {
        let compact: String = content.split_ascii_whitespace().collect();
        let size = compact.len() as u64 / 4 * 3;
        if size > limit.saturating_add(2) {
            return Err(DocumentFailure::too_large(size, limit).into());
        }
        let bytes = BASE64_STANDARD.decode(compact).map_err(|error| {
            ToolError::known(FaultKind::FileUnreadable, format!("`content` is not base64: {error}"))
                .hint("encode the file's bytes as base64, or pass its `path`")
        })?;
        Ok(Self { name, bytes })
    }

    /// The format, by content and then by name. It must be `expected`, if given.
    pub(super) fn format(&self, expected: Option<Format>) -> Result<Format, DocumentFailure> {
        let found = format_of_file(self.name.as_deref(), &self.bytes)?;
        match expected {
            Some(expected) if expected != found => {
                let message = format!(
                    "expected a {} file, but the content is {}",
                    expected.name().to_uppercase(),
                    found.name().to_uppercase()
                );
                Err(DocumentFailure::new(FaultKind::FileUnsupported, message)
                    .hint(format!("use {}", tool_for(found))))
            }
            _ => Ok(found),
        }
    }
}

/// The format of a file, by content and then by name.
pub fn format_of_file(name: Option<&str>, bytes: &[u8]) -> Result<Format, DocumentFailure> {
    if bytes.is_empty() {
        let name = name.unwrap_or("the content");
        return Err(DocumentFailure::new(FaultKind::FileUnsupported, format!("{name} has no bytes")));
    }
    Format::detect(name, bytes).ok_or_else(|| DocumentFailure::unknown_format(name))
}

/// The tool that converts a format.
pub fn tool_for(format: Format) -> &'static str {
    match format {
        Format::Pdf => "convert_pdf",
        Format::Docx => "convert_docx",
        Format::Xlsx => "convert_xlsx",
        Format::Pptx => "convert_pptx",
        _ => "convert_document",
    }
}

fn refused(error: &AccessError) -> ToolError {
    let kind = match error {
        AccessError::Missing { .. } => FaultKind::FileNotFound,
        _ => FaultKind::FileUnreadable,
    };
    ToolError::known(kind, error.to_string()).hint(error.hint())
}
