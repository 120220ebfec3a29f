use crate::read::{ReadError, ReadOptions, read};
use crate::{Document, Format, MarkdownOptions, markdown};

/// A line of text: font (`F1` is plain, `F2` bold), size, left edge, distance from the bottom.
type Line<'a> = (&'a str, u32, u32, u32, &'a str);

fn pdf(pages: &[&[Line]]) -> Vec<u8> {
    drawn(pages, "")
}

/// A PDF file with pages of lines, and a drawing on each.
fn drawn(pages: &[&[Line]], drawing: &str) -> Vec<u8> {
    let font =
        |name| format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>");
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 5 + page * 2)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
        font("Helvetica"),
        font("Helvetica-Bold"),
    ];
    for (index, lines) in pages.iter().enumerate() {
        let line = |(font, size, x, y, text): &Line| {
            format!("BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n")
        };
        let content = lines.iter().map(line).collect::<Vec<_>>().concat() + drawing;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>",
            6 + index * 2
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}endstream", content.len()));
    }
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend(format!("{} 0 obj\n{object}\nendobj\n", index + 1).bytes());
    }
    let start = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    file.extend(places.iter().flat_map(|place| format!("{place:010} 00000 n \n").into_bytes()));
    let trailer = format!("trailer << /Size {} /Root 1 0 R >>", objects.len() + 1);
    file.extend(format!("{trailer}\nstartxref\n{start}\n%%EOF\n").bytes());
    file
}

fn parsed(pages: &[&[Line]]) -> Document {
    parsed_bytes(&pdf(pages))
}

fn parsed_bytes(bytes: &[u8]) -> Document {
    let options = ReadOptions { name: Some("report.pdf".to_owned()), ..ReadOptions::default() };
    let document = read(bytes, Format::Pdf, &options).unwrap();
    Document::from_json(&document.to_json()).unwrap()
}

const BODY: [Line; 3] = [
    ("F1", 12, 60, 640, "The first line of a paragraph that goes on over the whole width of the page,"),
    ("F1", 12, 60, 626, "then continues on a second line with many more words until the right margin"),
    ("F1", 12, 60, 612, "and ends on a third."),
];

#[test]
fn large_lines_become_headings_and_lines_a_paragraph() {
    let heading = ("F2", 20, 60, 680, "Annual Report");
    let document = parsed(&[&[&[heading][..], &BODY].concat()]);
    let written = markdown(&document, &MarkdownOptions::default());
    assert_eq!(
        written,
        "## Annual Report\n\nThe first line of a paragraph that goes on over the whole width of the \
         page, then continues on a second line with many more words until the right margin and \
         ends on a third."
    );
    assert_eq!(document.name, "report");
}

#[test]
fn texts_have_boxes_measured_from_the_bottom() {
    let document = parsed(&[&[&[("F2", 20, 60, 680, "Annual Report")][..], &BODY].concat()]);
    let place = &document.texts[0].prov[0];
    let edge = |number: &serde_json::Number| number.as_f64().unwrap();
    assert_eq!(place.page_no, 1);
    assert!((edge(&place.bbox.l) - 60.0).abs() < 3.0, "{place:?}");
    assert!(edge(&place.bbox.b) < 681.0 && edge(&place.bbox.t) > 690.0, "{place:?}");
    assert_eq!(document.pages[&1].size["height"], 800.0);
}

#[test]
fn bullets_become_nested_lists() {
    let lines = [
        ("F1", 12, 60, 580, "\\225 first item"),
        ("F1", 12, 60, 566, "\\225 second item"),
        ("F1", 12, 80, 552, "\\225 nested item"),
        ("F1", 12, 60, 538, "\\225 third item"),
    ];
    let document = parsed(&[&[&BODY[..], &lines].concat()]);
    let written = markdown(&document, &MarkdownOptions::default());
    let list = "- first item\n- second item\n    - nested item\n- third item";
    assert!(written.ends_with(list), "{written}");
}

#[test]
fn repeated_lines_at_the_edge_are_furniture() {
    let page = |number| {
        let footer = ("F1", 12, 280, 30, number);
        [&[("F1", 12, 60, 770, "Confidential draft")][..], &BODY, &[footer]].concat()
    };
    let pages = [page("Page 1"), page("Page 2"), page("Page 3")];
    let document = parsed(&[&pages[0], &pages[1], &pages[2]]);
    let written = markdown(&document, &MarkdownOptions::default());
    assert!(!written.contains("Confidential") && !written.contains("Page"), "{written}");
    let headers = document.texts.iter().filter(|text| text.label == "page_header");
    assert_eq!(headers.count(), 3);
}

/// Strokes and thin filled shapes draw three columns and two rows at the end of the page.
const GRID: &str = "q 1 0 0 1 60 0 cm 0 60 m 300 60 l S 0 80 300 0.5 re f 0 100 m 300 100 l S \
    0 60 m 0 100 l S 100 60 0.5 40 re f 200 60 m 200 100 l S 300 60 m 300 100 l S Q ";

#[test]
fn a_table_goes_on_over_pages_without_its_repeated_header() {
    let row = |y, texts: [&'static str; 3]| {
        [("F1", 10, 65, y, texts[0]), ("F1", 10, 165, y, texts[1]), ("F1", 10, 265, y, texts[2])]
    };
    let header = || row(85, ["Name", "Size", "Note"]);
    let first = [&BODY[..], &header(), &row(65, ["left", "12", ""])].concat();
    let second = [&header()[..], &row(65, ["right", "7", "last"])].concat();
    let document = parsed_bytes(&drawn(&[&first, &second], GRID));
    let written = markdown(&document, &MarkdownOptions::default());
    let rows: Vec<String> =
        written.lines().filter(|line| line.starts_with('|')).map(|line| line.replace(' ', "")).collect();
    assert_eq!(rows.len(), 4, "{written}");
    assert_eq!(
        [&*rows[0], &rows[2], &rows[3]],
        ["|Name|Size|Note|", "|left|12||", "|right|7|last|"],
        "{written}"
    );
    assert!(!written.contains("Name Size"), "{written}");
}

#[test]
fn a_file_without_text_says_what_to_do() {
    let error = read(&pdf(&[&[]]), Format::Pdf, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, ReadError::NoTextLayer), "{error}");
    assert!(error.to_string().contains("only pictures of text"), "{error}");
    let error = read(b"%PDF-1.7 cut off", Format::Pdf, &ReadOptions::default()).unwrap_err();
    assert!(!error.to_string().is_empty());
}

#[test]
fn a_row_that_no_page_goes_on_with_stays_as_text() {
    let first = [("F1", 12, 60, 700, "Prepared for the board"), ("F1", 12, 420, 700, "Zurich office")];
    let page: Vec<Line> = first.into_iter().chain(BODY).collect();
    let text = markdown(&parsed(&[&page]), &MarkdownOptions::default());
    assert!(text.contains("Prepared for the board") && text.contains("Zurich office"), "{text}");
}
