//! Tool search: finds the tools that fit a question, among thousands, without a model.
//!
//! The ranking is BM25 over weighted fields, in memory and deterministic. A question's words are
//! stemmed; unknown words are read as misspellings, abbreviations, compounds or words of another
//! language. The tables of `src/tables` are general: none has an entry for a particular server.
//!
//! There is no `tantivy` here: an index of thousands of short documents fits in a few megabytes,
//! and the expansion of words has to see the scores of each field.

mod document;
mod index;
mod query;
mod ranking;
mod spelling;
mod stem;
mod vocabulary;
mod weights;
mod words;

pub use document::{Argument, Document};
pub use index::Index;
pub use ranking::Hit;
