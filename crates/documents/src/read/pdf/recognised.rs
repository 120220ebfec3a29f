//! Builds a document from text that was recognised in pictures of pages.

use super::{
    Kind, PdfBlock, builder::Builder, cells::Line, cells::PageCells, furniture, headings, lines, lists,
};
use crate::read::{ReadError, ReadOptions};
use crate::{Document, Format};
use serde::{Deserialize, Serialize};

/// A page as tesseract describes it: a table of words with their boxes (TSV).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecognisedPage {
    pub tsv: String,
    /// Resolution of the picture, in dots per inch.
    pub resolution: u32,
}

/// Boxes around recognised lines differ with their letters, so a heading must be clearly larger.
const LARGER: f32 = 1.35;
/// Words below this confidence of tesseract, in percent, are dropped as noise.
const MIN_CONFIDENCE: f32 = 20.0;
/// Most words of a page that are read.
const MAX_WORDS: usize = 50_000;

/// Builds a document from OCR pages. `hash` becomes the `binary_hash` of its origin.
pub fn recognised(
    pages: &[RecognisedPage],
    format: Format,
    hash: u64,
    options: &ReadOptions,
) -> Result<Document, ReadError> {
    let mut builder = Builder::of(format, hash, options);
    let (mut blocks, mut cells) = (Vec::new(), Vec::new());
    for (number, page) in (1..).zip(pages) {
        let read = PageOfWords::read(page);
        builder.page(i64::from(number), read.width, read.height);
        let on_page = PageCells::of_lines(read.paragraphs.iter().flatten());
        for paragraph in read.paragraphs {
            let parts = lines::split(paragraph, &on_page, &[]);
            blocks.extend(parts.iter().map(|lines| block(number, read.height, lines)));
        }
        cells.push(on_page);
    }
    if blocks.is_empty() {
        return Err(ReadError::NothingRecognised);
    }
    headings::mark(&mut blocks, &cells, LARGER);
    furniture::mark(&mut blocks, pages.len());
    for block in &mut blocks {
        if let Kind::Text { text, .. } = &block.kind
            && let Some((marker, text)) = lists::bullet(text).or_else(|| lists::numbered(text))
        {
            block.kind = Kind::Item { marker, text };
        }
    }
    builder.blocks(blocks);
    Ok(builder.finish())
}

fn block(page: u32, page_height: f32, lines: &[Line]) -> PdfBlock {
    let mut heights: Vec<f32> = lines.iter().map(|line| line.bounds[3] - line.bounds[1]).collect();
    heights.sort_by(f32::total_cmp);
    PdfBlock {
        page,
        page_height,
        kind: Kind::Text { text: lines::join(lines), bold: false, hint: false },
        bounds: lines::bounds(lines),
        line_height: heights.get(heights.len() / 2).copied(),
        lines: lines.len(),
        furniture: None,
        replaced: Vec::new(),
    }
}

/// The words of a page by paragraphs and lines, in points.
struct PageOfWords {
    width: f32,
    height: f32,
    paragraphs: Vec<Vec<Line>>,
}

impl PageOfWords {
    /// Reads the rows `level page block paragraph line word left top width height confidence text`.
    fn read(page: &RecognisedPage) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "resolutions are small numbers")]
        let points = 72.0 / page.resolution.max(1) as f32;
        let mut read = Self { width: 0.0, height: 0.0, paragraphs: Vec::new() };
        let mut place = ("", "", "");
        for row in page.tsv.lines().skip(1).take(MAX_WORDS) {
            let fields: Vec<&str> = row.split('\t').collect();
            let [level, _, block, paragraph, line, _, left, top, width, height, confidence, text] =
                fields[..]
            else {
                continue;
            };
            let number = |text: &str| text.parse::<f32>().unwrap_or_default();
            let [left, top, width, height] = [left, top, width, height].map(|text| number(text) * points);
            if level == "1" {
                (read.width, read.height) = (width, height);
            }
            if level != "5" || number(confidence) < MIN_CONFIDENCE || text.trim().is_empty() {
                continue;
            }
            let word = Line { text: text.trim().to_owned(), bounds: [left, top, left + width, top + height] };
            let now = (block, paragraph, line);
            let same_paragraph = (now.0, now.1) == (place.0, place.1);
            match read.paragraphs.last_mut().filter(|_| same_paragraph) {
                Some(lines) => match lines.last_mut().filter(|_| now == place) {
                    Some(line) => add(line, &word),
                    None => lines.push(word),
                },
                None => read.paragraphs.push(vec![word]),
            }
            place = now;
        }
        read
    }
}

fn add(line: &mut Line, word: &Line) {
    line.text.push(' ');
    line.text.push_str(&word.text);
    let (a, b) = (line.bounds, word.bounds);
    line.bounds = [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MarkdownOptions, markdown};

    const HEAD: &str =
        "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext";

    /// A page with lines of (block, top, height, words).
    fn page(lines: &[(u32, u32, u32, &str)]) -> RecognisedPage {
        let mut tsv = format!("{HEAD}\n1\t1\t0\t0\t0\t0\t0\t0\t2550\t3300\t-1\t\n");
        for (number, (block, top, height, words)) in lines.iter().enumerate() {
            for (word, text) in words.split(' ').enumerate() {
                let left = 300 + word * 150;
                let row =
                    format!("5\t1\t{block}\t1\t{number}\t{word}\t{left}\t{top}\t140\t{height}\t95\t{text}\n");
                tsv.push_str(&row);
            }
        }
        RecognisedPage { tsv, resolution: 300 }
    }

    #[test]
    fn paragraphs_headings_and_items_are_found() {
        let body = "words that fill a line of the body up to here";
        let pages = [page(&[
            (1, 400, 80, "A large heading"),
            (2, 600, 40, body),
            (2, 660, 40, body),
            (3, 800, 40, "• first item"),
            (4, 900, 40, "2. second item"),
        ])];
        let options = ReadOptions { name: Some("scan.pdf".to_owned()), ..ReadOptions::default() };
        let document = recognised(&pages, Format::Pdf, 7, &options).unwrap();
        let text = markdown(&document, &MarkdownOptions::default());
        let expected = format!("## A large heading\n\n{body} {body}\n\n- first item\n2. second item");
        assert_eq!(text.trim(), expected);
        assert_eq!(document.origin.unwrap().binary_hash, 7);
        let left = document.texts[0].prov[0].bbox.l.as_f64().unwrap();
        assert!((left - 72.0).abs() < 0.5, "{left}");
    }

    #[test]
    fn specks_and_malformed_rows_are_no_text() {
        let mut dirty = page(&[]);
        dirty.tsv += "5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t3.5\t~\nnot a row\n5\t1\n";
        let refused = recognised(&[dirty], Format::Image, 0, &ReadOptions::default()).unwrap_err();
        assert!(matches!(refused, ReadError::NothingRecognised), "{refused}");
    }
}
