//! Settings of document conversion.

use crate::keys::kind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Conversion of documents: limits of the process that converts, of kept documents, and of URLs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Documents {
    /// Maximum size of a file to convert, in bytes.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub file_bytes: u64,
    /// Maximum address space of the process that converts one document, in bytes.
    #[schemars(range(min = 134_217_728, max = 68_719_476_736_u64))]
    pub memory_bytes: u64,
    /// Maximum size of a converted or exported document, in bytes.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub output_bytes: u64,
    /// Maximum size of the JSON that the answer of a conversion contains, in bytes. Larger
    /// documents are exported, or read in parts.
    #[schemars(range(min = 0, max = 16_777_216))]
    pub inline_bytes: u64,
    /// Maximum number of conversions at the same time.
    #[schemars(range(min = 1, max = 1024))]
    pub concurrency: u32,
    /// Maximum number of conversions of one caller at the same time; callers that wait take turns.
    /// `null`: all but one of `concurrency`, so that no caller has all of them.
    #[schemars(range(min = 1, max = 1024))]
    pub concurrency_per_caller: Option<u32>,
    /// Maximum time of a conversion. Files up to 1 MiB get at most 30 s, up to 10 MiB at most
    /// 60 s, up to 50 MiB at most 180 s.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1000, "maximum" = 3_600_000))]
    pub timeout: Duration,
    /// Recognition of text in scanned PDF files and pictures.
    pub ocr: OcrSetting,
    /// Languages that tesseract recognises, as it names them: `eng+deu`.
    #[schemars(length(min = 1, max = 256))]
    pub ocr_languages: String,
    /// Maximum number of pages whose text is recognised; longer documents are refused.
    #[schemars(range(min = 1, max = 10_000))]
    pub ocr_pages: u32,
    /// Time for which a converted document is kept.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 1000, "maximum" = 604_800_000))]
    pub keep: Duration,
    /// Maximum compressed size of all documents that one caller keeps, in bytes; the oldest are
    /// evicted.
    #[schemars(range(min = 1024, max = 1_099_511_627_776_u64))]
    pub kept_bytes_per_caller: u64,
    /// Maximum compressed size of all kept documents, in bytes; further conversions are refused.
    #[schemars(range(min = 1024, max = 1_099_511_627_776_u64))]
    pub kept_bytes: u64,
    /// Fetching of URLs that callers chose.
    pub fetch: DocumentFetch,
}

/// Recognition of text in pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OcrSetting {
    /// With `tesseract` if it is installed, and `pdftoppm` for PDF files.
    Auto,
    /// Never.
    Off,
}

/// Fetching of URLs that callers chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentFetch {
    /// Hosts and networks that may be fetched although they are not public: `wiki.intranet`,
    /// `*.intranet`, `10.1.0.0/16`.
    #[schemars(schema_with = "kind::names")]
    pub allow: Vec<String>,
    /// Maximum size of the content, as received and decompressed, in bytes.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub bytes: u64,
    /// Maximum time without the head or a further 16 KiB of the content.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 600_000))]
    pub silence: Duration,
    /// Maximum time of a fetch, with its redirects. A call of `convert_url` has 180 s for the
    /// fetch and the conversion.
    #[serde(with = "kind")]
    #[schemars(schema_with = "kind::time", extend("minimum" = 100, "maximum" = 600_000))]
    pub timeout: Duration,
}
