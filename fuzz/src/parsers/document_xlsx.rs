//! The reader of XLSX: the input is a sheet.

use super::documents::{package, reads, relationships};
use trunkline_documents::Format;

const WORKBOOK: &[u8] = b"<workbook \
    xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
    xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\">\
    <sheets><sheet name=\"a\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>";

pub fn holds(data: &[u8]) {
    let root = relationships("xl/workbook.xml", "officeDocument");
    let sheets = relationships("worksheets/sheet1.xml", "worksheet");
    let parts: [(&str, &[u8]); 5] = [
        ("[Content_Types].xml", b"<Types/>"),
        ("_rels/.rels", &root),
        ("xl/workbook.xml", WORKBOOK),
        ("xl/_rels/workbook.xml.rels", &sheets),
        ("xl/worksheets/sheet1.xml", data),
    ];
    reads(&package(&parts), Format::Xlsx);
}
