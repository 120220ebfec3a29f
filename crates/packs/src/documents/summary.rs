//! A summary of a converted document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trunkline_documents::{Document, outline};

/// Most headings that a summary lists.
const MAX_HEADINGS: usize = 100;
/// Longest title in a summary, in characters.
const MAX_TITLE: usize = 120;

/// Counts of a document, and its first headings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Name of the document
    pub name: String,
    /// Pages, slides or sheets; 0 for formats without pages
    pub pages: usize,
    /// Paragraphs, headings, list items and other texts
    pub texts: usize,
    pub headings: usize,
    pub tables: usize,
    pub pictures: usize,
    /// Characters of all texts
    pub characters: usize,
    /// The first headings; their position is the number of a section
    pub outline: Vec<OutlineEntry>,
}

/// A heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutlineEntry {
    /// 0 for the title, 1 for the highest section
    pub level: u32,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
}

impl Summary {
    pub(super) fn of(document: &Document) -> Self {
        let headings = outline(document);
        let entries = headings.iter().take(MAX_HEADINGS).map(|heading| OutlineEntry {
            level: heading.level,
            title: heading.title.chars().take(MAX_TITLE).collect(),
            page: heading.page,
        });
        Self {
            name: document.name.clone(),
            pages: document.pages.len(),
            texts: document.texts.len(),
            headings: headings.len(),
            tables: document.tables.len(),
            pictures: document.pictures.len(),
            characters: document.texts.iter().map(|text| text.text.chars().count()).sum(),
            outline: entries.collect(),
        }
    }
}
