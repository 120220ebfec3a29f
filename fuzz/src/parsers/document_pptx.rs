//! The reader of PPTX: the input is a slide.

use super::documents::{package, reads, relationships};
use trunkline_documents::Format;

const PRESENTATION: &[u8] = b"<p:presentation \
    xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\" \
    xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\">\
    <p:sldIdLst><p:sldId id=\"256\" r:id=\"rId1\"/></p:sldIdLst></p:presentation>";

pub fn holds(data: &[u8]) {
    let root = relationships("ppt/presentation.xml", "officeDocument");
    let slides = relationships("slides/slide1.xml", "slide");
    let parts: [(&str, &[u8]); 5] = [
        ("[Content_Types].xml", b"<Types/>"),
        ("_rels/.rels", &root),
        ("ppt/presentation.xml", PRESENTATION),
        ("ppt/_rels/presentation.xml.rels", &slides),
        ("ppt/slides/slide1.xml", data),
    ];
    reads(&package(&parts), Format::Pptx);
}
