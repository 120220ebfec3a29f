//! Cheap checks before a file is read: sizes, ratios and counts that no honest file has.
//!
//! They need little time and memory whatever the input is, and refuse the files that are known to
//! make a reader hang or use all memory. They are no replacement for a process with limits.

use crate::Format;

/// The limits of [`preflight()`].
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of the file.
    pub file_bytes: u64,
}

/// Reasons why a file is not given to a reader.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum Refused {
    #[error("the file has {bytes} bytes; at most {limit} are allowed")]
    FileBytes { bytes: u64, limit: u64 },
}

/// Checks a file before [`crate::read`].
pub fn preflight(bytes: &[u8], _format: Format, limits: &Limits) -> Result<(), Refused> {
    let length = bytes.len() as u64;
    if length > limits.file_bytes {
        return Err(Refused::FileBytes { bytes: length, limit: limits.file_bytes });
    }
    Ok(())
}

impl Default for Limits {
    fn default() -> Self {
        Self { file_bytes: 100 << 20 }
    }
}
