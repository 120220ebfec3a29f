//! Options set by the operator.

use std::{path::PathBuf, sync::Arc, time::Duration};

use trunkline_store::Store;

use super::engine::Engine;
use super::fetch_url::FetchUrl;
use super::ocr::Ocr;
use crate::sandbox::{Protected, Roots};

const MIB: u64 = 1024 * 1024;

/// Options of the pack.
#[derive(Debug, Clone)]
pub struct DocumentsOptions {
    /// The directories whose files may be converted.
    pub roots: Roots,
    pub protected: Protected,
    /// The program whose [child](super::child) converts.
    pub program: PathBuf,
    pub engine: Engine,
    pub ocr: Ocr,
    pub conversion: ConversionLimits,
    pub keeping: KeepingLimits,
    /// Keeps converted documents.
    pub store: Arc<dyn Store>,
    /// Fetches URLs. Without it, `convert_url` is not offered.
    pub fetch: Option<Arc<dyn FetchUrl>>,
}

/// Limits of one conversion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionLimits {
    /// Bytes of a file.
    pub file: u64,
    /// Bytes of address space of the child.
    pub memory: u64,
    /// Bytes of a converted or exported document.
    pub output: usize,
    /// Conversions at the same time, in the whole process.
    pub concurrency: usize,
    /// Conversions of one caller at the same time; `None` for all but one of `concurrency`.
    pub per_caller: Option<usize>,
    /// Longest conversion of any file.
    pub longest: Duration,
}

/// Limits of kept documents. Their compressed size counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepingLimits {
    /// Bytes of JSON that an answer contains; larger documents are read in parts.
    pub inline: usize,
    /// Time for which a document is kept.
    pub lifetime: Duration,
    /// Bytes that one caller keeps; the oldest documents are evicted first.
    pub per_caller: u64,
    /// Bytes that all callers keep.
    pub total: u64,
}

/// Time limits of a conversion by the size of its file: each for files up to a size.
const BY_SIZE: [(u64, Duration); 3] =
    [(MIB, Duration::from_secs(30)), (10 * MIB, Duration::from_mins(1)), (50 * MIB, Duration::from_mins(3))];

impl ConversionLimits {
    /// Time limit of an export.
    pub const EXPORT: Duration = Duration::from_mins(1);
    /// Time limit of a call that fetches and converts a URL.
    pub const URL: Duration = Duration::from_mins(3);

    /// Time limit of a conversion, by the size of the file.
    pub fn time(&self, bytes: u64) -> Duration {
        let by_size = BY_SIZE.iter().find(|(most, _)| bytes <= *most).map(|(_, time)| *time);
        by_size.unwrap_or(self.longest).min(self.longest)
    }
}

impl Default for ConversionLimits {
    fn default() -> Self {
        Self {
            file: 100 * MIB,
            memory: 1024 * MIB,
            output: 64 << 20,
            concurrency: 2,
            per_caller: None,
            longest: Duration::from_mins(5),
        }
    }
}

impl Default for KeepingLimits {
    fn default() -> Self {
        Self { inline: 256 << 10, lifetime: Duration::from_hours(1), per_caller: 64 * MIB, total: 256 * MIB }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_files_get_more_time() {
        let limits = ConversionLimits::default();
        let seconds = [0, MIB, MIB + 1, 10 * MIB, 50 * MIB, 80 * MIB].map(|size| limits.time(size).as_secs());
        assert_eq!(seconds, [30, 30, 60, 60, 180, 300]);
        let short = ConversionLimits { longest: Duration::from_secs(20), ..limits };
        assert_eq!(short.time(80 * MIB).as_secs(), 20);
    }
}
