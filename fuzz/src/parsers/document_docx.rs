//! The reader of DOCX: the input is the part with the text.

use super::documents::{package, reads, relationships};
use trunkline_documents::Format;

pub fn holds(data: &[u8]) {
    let root = relationships("word/document.xml", "officeDocument");
    let parts: [(&str, &[u8]); 3] =
        [("[Content_Types].xml", b"<Types/>"), ("_rels/.rels", &root), ("word/document.xml", data)];
    reads(&package(&parts), Format::Docx);
}
