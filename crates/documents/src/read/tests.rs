use super::*;
use crate::testing::{document, picture};
use crate::{MarkdownOptions, markdown};
use serde_json::json;
use std::io::{Cursor, Write};
use zip::{ZipWriter, write::SimpleFileOptions};

fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A workbook with a date, a percentage and a text that looks like a date.
fn workbook() -> Vec<u8> {
    workbook_of(
        "<c r=\"A1\" t=\"inlineStr\"><is><t>2024-01-24</t></is></c>\
         <c r=\"B1\" s=\"1\"><v>45315</v></c><c r=\"C1\" s=\"2\"><v>0.125</v></c>",
    )
}

fn workbook_of(cells: &str) -> Vec<u8> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let relations = "http://schemas.openxmlformats.org/package/2006/relationships";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let types = "http://schemas.openxmlformats.org/package/2006/content-types";
    package(&[
        ("[Content_Types].xml", &format!("<Types xmlns=\"{types}\"/>")),
        (
            "_rels/.rels",
            &format!(
                "<Relationships xmlns=\"{relations}\"><Relationship Id=\"r\" \
                 Type=\"{office}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            &format!(
                "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets>\
                 <sheet name=\"Costs\" sheetId=\"1\" r:id=\"s\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            &format!(
                "<Relationships xmlns=\"{relations}\">\
                 <Relationship Id=\"s\" Type=\"{office}/worksheet\" Target=\"worksheets/sheet1.xml\"/>\
                 <Relationship Id=\"t\" Type=\"{office}/styles\" Target=\"styles.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/styles.xml",
            &format!(
                "<?xml version=\"1.0\"?><styleSheet xmlns=\"{main}\"><cellXfs><xf numFmtId=\"0\"/>\
                 <xf numFmtId=\"14\"/><xf numFmtId=\"9\"/></cellXfs></styleSheet>"
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            &format!(
                "<worksheet xmlns=\"{main}\"><sheetData><row r=\"1\">{cells}</row></sheetData>\
                 </worksheet>"
            ),
        ),
    ])
}

fn cells(options: &ReadOptions) -> Vec<String> {
    let bytes = workbook();
    assert_eq!(Format::detect(None, &bytes), Some(Format::Xlsx));
    let document = read(&bytes, Format::Xlsx, options).unwrap();
    document.tables[0].data.table_cells.iter().map(|cell| cell.text.clone()).collect()
}

#[test]
fn cells_have_their_values_or_the_form_that_is_displayed() {
    let values = cells(&ReadOptions::default());
    assert_eq!(values, ["2024-01-24", "2024-01-24 00:00:00", "0.125"]);
    let displayed = cells(&ReadOptions { cells: CellText::Displayed, ..ReadOptions::default() });
    assert_eq!(displayed, ["2024-01-24", "2024-01-24", "13%"]);
}

#[test]
fn the_document_is_named_after_its_file() {
    let options = ReadOptions { name: Some("notes.html".to_owned()), ..ReadOptions::default() };
    let page = b"<!DOCTYPE html><h1>Title</h1><p>Words <b>in bold</b></p><ul><li>one</ul>";
    let document = read(page, Format::Html, &options).unwrap();
    assert_eq!(document.name, "notes");
    let written = markdown(&document, &MarkdownOptions::default());
    assert_eq!(written, "# Title\n\nWords **in bold**\n\n- one");
}

#[test]
fn text_after_a_code_span_is_no_part_of_it() {
    let written = |text: &str| {
        let document = read(text.as_bytes(), Format::Markdown, &ReadOptions::default()).unwrap();
        let code: Vec<String> =
            document.texts.iter().filter(|text| text.label == "code").map(|text| text.text.clone()).collect();
        (code.join("|"), markdown(&document, &MarkdownOptions::default()))
    };
    for text in
        ["First line\n`span` and more.", "First line  \n`span` and more.", "> First line\n> `span` and more."]
    {
        let (code, whole) = written(text);
        assert_eq!(code, "span", "{text:?}");
        assert_eq!(whole, "First line `span` and more.", "{text:?}");
    }
    // A fence is no span, and an indented line is code as it stands.
    let (code, _) = written("Text\n\n```\na\n`b` c\n```\n\n    x\n    `y` z");
    assert_eq!(code, "a\n`b` c|x\n`y` z");
}

#[test]
fn alternative_text_is_dropped_and_other_findings_stay() {
    let meta = json!({"description": {"text": "Picture 1"},
                      "classification": {"predictions": [{"class_name": "map"}]}});
    let mut document = document(&[picture(None, &meta)]);
    office::drop_alt_text(&mut document);
    let written = markdown(&document, &MarkdownOptions::default());
    assert_eq!(written, "<!-- image -->\n\nMap");
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let error = |bytes: &[u8], format| read(bytes, format, &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(error(b"", Format::Docx), "the file has no bytes");
    assert!(error(b"PK\x03\x04 cut off", Format::Docx).starts_with("not a readable docx file"));
    assert!(error(b"<!DOCTYPE html><p> </p>", Format::Html).starts_with("no text was found"));
    assert!(error(b"\x89PNG\r\n", Format::Image).starts_with("no text layer"));
}

#[test]
#[cfg(debug_assertions)]
fn a_panic_of_a_reader_is_an_error() {
    // The reference of this cell overflows calamine's arithmetic, which a debug build checks.
    let bytes = workbook_of("<c r=\"18446744073709551616A1\"><v>1.5</v></c>");
    let error = read(&bytes, Format::Xlsx, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("its reader failed on the content"), "{error}");
}
