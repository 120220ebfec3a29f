//! The JSON of documents: one that is accepted is written without change, and every writer ends.

use super::documents::check;
use trunkline_documents::Document;

pub fn holds(data: &[u8]) {
    if let Ok(document) = Document::from_json(data) {
        check(&document);
    }
}
