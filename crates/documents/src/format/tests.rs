use super::*;

#[test]
fn every_format_has_its_own_row_and_name() {
    for format in Format::all() {
        assert_eq!(format.facts().format, format);
        assert_eq!(Format::from_name(format.name()), Some(format));
        for extension in format.extensions() {
            assert_eq!(Format::from_extension(extension), Some(format), "{extension}");
        }
    }
}

#[test]
fn content_comes_before_the_extension() {
    assert_eq!(Format::detect(Some("notes.docx"), b"%PDF-1.7\n"), Some(Format::Pdf));
    assert_eq!(Format::detect(Some("page.txt"), b"<!DOCTYPE html><p>x"), Some(Format::Html));
    assert_eq!(Format::detect(None, b"{\\rtf1 x}"), Some(Format::Rtf));
}

#[test]
fn the_extension_decides_between_text_formats() {
    assert_eq!(Format::detect(Some("a.csv"), b"a,b\n1,2\n"), Some(Format::Csv));
    assert_eq!(Format::detect(Some("a.md"), b"# a\n"), Some(Format::Markdown));
    assert_eq!(Format::detect(Some("a.unknown"), b"plain words\n"), Some(Format::Text));
    assert_eq!(Format::detect(None, b"\x00\x01\x02\x03"), None);
}

#[test]
fn text_that_is_named_like_a_package_is_text() {
    assert_eq!(Format::detect(Some("a.docx"), b"plain words\n"), Some(Format::Text));
    assert_eq!(Format::detect(Some("a.docx"), b"\x00\xFFbroken"), Some(Format::Docx));
}
