//! The hostile files that hang or abort a reader, each refused by name.

use super::*;
use std::io::{Cursor, Write};
use zip::{ZipWriter, write::SimpleFileOptions};

fn package(part: &str, write: impl FnOnce(&mut dyn Write)) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file(part, SimpleFileOptions::default()).unwrap();
    write(&mut writer);
    writer.finish().unwrap().into_inner()
}

#[track_caller]
fn refused(bytes: &[u8], format: Format) -> String {
    preflight(bytes, format, &Limits::default()).unwrap_err().to_string()
}

#[test]
fn a_cell_over_two_thousand_million_columns_is_refused() {
    let bytes = package("word/document.xml", |part| {
        part.write_all(b"<w:tcPr><w:gridSpan w:val=\"2000000000\"/></w:tcPr>").unwrap();
    });
    let expected = "word/document.xml has a cell that spans 2000000000 rows or columns; \
                    at most 1000 are allowed";
    assert_eq!(refused(&bytes, Format::Docx), expected);
}

#[test]
fn a_span_of_more_digits_than_a_number_has_is_refused() {
    let bytes = package("ppt/slides/slide1.xml", |part| {
        part.write_all(b"<a:tc gridSpan='99999999999999999999999'>").unwrap();
    });
    assert!(refused(&bytes, Format::Pptx).contains("has a cell that spans"));
}

#[test]
fn merging_a_whole_sheet_is_refused() {
    let bytes = package("xl/worksheets/sheet1.xml", |part| {
        part.write_all(b"<mergeCells><mergeCell ref=\"A1:XFD1048576\"/>").unwrap();
    });
    let expected = "xl/worksheets/sheet1.xml merges more than 1000000 cells";
    assert_eq!(refused(&bytes, Format::Xlsx), expected);
}

#[test]
fn thousands_of_overlapping_merges_are_refused() {
    let bytes = package("xl/worksheets/sheet1.xml", |part| {
        for row in 1..=2000 {
            write!(part, "<mergeCell ref=\"A{row}:ZZ{}\"/>", row + 1000).unwrap();
        }
    });
    assert!(refused(&bytes, Format::Xlsx).contains("merges more than"));
}

#[test]
fn a_tag_with_very_many_attributes_is_refused() {
    let mut page = b"<!DOCTYPE html><p ".to_vec();
    for index in 0..300_000 {
        write!(page, "a{index}=1 ").unwrap();
    }
    page.extend(b">x</p>");
    assert_eq!(refused(&page, Format::Html), "a tag has more than 1000 attributes");
    let honest = b"<p title='a b = c > d' class=x>a < b and c > d ".repeat(5000);
    assert_eq!(preflight(&honest, Format::Html, &Limits::default()), Ok(()));
}

#[test]
fn ten_million_paragraphs_in_a_megabyte_are_refused() {
    let bytes = package("word/document.xml", |part| {
        let many = b"<w:p/>".repeat(10_000);
        for _ in 0..1000 {
            part.write_all(&many).unwrap();
        }
    });
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    let expected = "word/document.xml has more than 2000000 paragraphs, runs, rows or cells";
    assert_eq!(refused(&bytes, Format::Docx), expected);
}

#[test]
fn a_part_that_inflates_without_end_is_refused() {
    let bytes = package("word/media/image1.png", |part| {
        part.write_all(&vec![0; 8 << 20]).unwrap();
    });
    assert_eq!(preflight(&bytes, Format::Docx, &Limits::default()), Ok(()));
    let limits = Limits { ratio_from_bytes: 8 << 20, ..Limits::default() };
    let reason = preflight(&bytes, Format::Docx, &limits).unwrap_err();
    let expected = "word/media/image1.png inflates to more than 500 times its size";
    assert_eq!(reason.to_string(), expected);
}

#[test]
fn z02_parts_that_lead_elsewhere_or_occur_twice_are_refused() {
    for name in ["../../evil.xml", "word/../../evil.xml", "word\\..\\evil.xml"] {
        let bytes = package(name, |part| part.write_all(b"<x/>").unwrap());
        assert!(refused(&bytes, Format::Docx).contains("leads elsewhere"), "{name}");
    }
    for mode in [0o120_777, 0o020_644, 0o104_755] {
        assert!(package::is_special(mode), "{mode:o}");
    }
    assert!(!package::is_special(0o100_644) && !package::is_special(0o644));
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for name in ["word/a.xml", "word/b.xml"] {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(b"<x/>").unwrap();
    }
    let mut twice = writer.finish().unwrap().into_inner();
    for at in 0..twice.len() - 10 {
        if &twice[at..at + 10] == b"word/b.xml" {
            twice[at + 5] = b'a';
        }
    }
    assert_eq!(refused(&twice, Format::Docx), "the package has a part twice");
}

#[test]
fn nested_arrays_of_a_pdf_are_refused() {
    let mut bytes = b"%PDF-1.7\n1 0 obj\n".to_vec();
    bytes.extend(b"[".repeat(200_000));
    let expected = "arrays or dictionaries are nested deeper than 500 levels";
    assert_eq!(refused(&bytes, Format::Pdf), expected);
    let content = [b"%PDF-1.7\nstream\n".to_vec(), b"[ ".repeat(200_000)].concat();
    assert_eq!(refused(&content, Format::Pdf), expected);
    // The bytes of a compressed stream are noise, here with more opening brackets than closing.
    let noise = b"[a[b]".repeat(200_000);
    let honest = [b"%PDF-1.7\n<< /Length 9 >> stream\n", noise.as_slice(), b"endstream"].concat();
    assert_eq!(preflight(&honest, Format::Pdf, &Limits::default()), Ok(()));
}

#[test]
fn sizes_and_counts_are_limited() {
    let limits = Limits { file_bytes: 3, ..Limits::default() };
    let reason = preflight(b"1234", Format::Text, &limits).unwrap_err();
    assert_eq!(reason.to_string(), "the file has 4 bytes; at most 3 are allowed");
    let bytes = package("word/document.xml", |part| part.write_all(&[b' '; 1000]).unwrap());
    let limits = Limits { inflated_bytes: 999, ..Limits::default() };
    let reason = preflight(&bytes, Format::Docx, &limits).unwrap_err();
    assert_eq!(reason, Refused::InflatedBytes { limit: 999 });
    let many = [b"PK\x03\x04".to_vec(), b"PK\x01\x02".repeat(20_001)].concat();
    assert_eq!(refused(&many, Format::Docx), "the package has more than 20000 parts");
}
