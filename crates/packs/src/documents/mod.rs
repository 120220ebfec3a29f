//! The documents pack: converts documents to `DoclingDocument` and exports them as Markdown, HTML
//! and JSON.
//!
//! The readers are parsers of untrusted input that can abort or hang. Every conversion and export
//! therefore runs in a child process of our own program ([`Converter`]), which isolates itself
//! before it reads the document ([`child`]). The result is kept under a handle that only its caller
//! can use ([`Handles`]), because a document can be many times larger than its file.

pub mod child;
mod convert;
mod convert_url;
mod converter;
mod docling_mcp;
mod engine;
mod export;
mod failure;
mod fetch_url;
mod handles;
mod input;
mod ocr;
mod options;
mod pack;
mod resources;
mod summary;
mod work;

pub use convert_url::format as format_of_url;
pub use converter::{Converted, Converter, SourceFile};
pub use docling_mcp::{AdaptedConnect, DoclingMcp, ExchangeFolder};
pub use engine::Engine;
pub use failure::DocumentFailure;
pub use fetch_url::{FetchUrl, FetchedUrl};
pub use handles::Handles;
pub use input::{format_of_file, tool_for};
pub use ocr::{Ocr, OcrPrograms};
pub use options::{ConversionLimits, DocumentsOptions, KeepingLimits};
pub use pack::{Pack, pack};
pub use summary::{OutlineEntry, Summary};
pub use work::{ExportFormat, ExportStyle, Part, Work, Written};
