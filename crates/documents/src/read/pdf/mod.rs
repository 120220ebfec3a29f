//! Reads PDF files: structure from `unpdf`, boxes and right-to-left text from docling's parser,
//! tables, headings, lists and furniture by our own rules.

mod builder;
mod cells;
mod furniture;
mod headings;
mod lines;
mod lists;
mod recognised;
mod table;

use super::{ReadError, ReadOptions, office};
use crate::{Document, Format};
use builder::Builder;
use cells::PageCells;
pub use recognised::{RecognisedPage, recognised};
use table::{FoundTable, PageRules};
use unicode_bidi::{BidiClass, bidi_class};
use unpdf::{Block, ErrorKind, InlineContent, Paragraph, ParseOptions};

/// From this share of right-to-left letters on, docling's own order of text is used.
const RTL_PERCENT: usize = 30;

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Result<Document, ReadError> {
    let cells = PageCells::of_document(bytes, options.password.as_deref());
    if is_right_to_left(&cells) {
        return office::read(bytes, Format::Pdf, options);
    }
    let mut parse = ParseOptions::new().lenient().sequential();
    if let Some(password) = &options.password {
        parse = parse.with_password(password);
    }
    let parsed = unpdf::parse_bytes_with_options(bytes, parse).map_err(|error| explain(&error))?;
    let rules = PageRules::of_document(bytes, options.password.as_deref());
    let mut blocks = Vec::new();
    for page in &parsed.pages {
        let index = page.number as usize - 1;
        let mut cells = cells.get(index).cloned().unwrap_or_default();
        let rules = rules.get(index).cloned().unwrap_or_default();
        let tables = table::find(&rules, &cells.words(), page.height);
        let elements = page.elements.iter();
        let found = elements.flat_map(|element| self::blocks(element, page, &mut cells, &tables)).collect();
        blocks.extend(table::place(found, &tables, page));
    }
    table::settle_rows(&mut blocks);
    headings::mark(&mut blocks, &cells, headings::LARGER);
    furniture::mark(&mut blocks, parsed.pages.len());
    table::join_continued(&mut blocks);
    let mut builder = Builder::of(Format::Pdf, binary_hash(bytes), options);
    for page in &parsed.pages {
        builder.page(i64::from(page.number), page.width, page.height);
    }
    builder.blocks(blocks);
    Ok(builder.finish())
}

/// FNV-1a: names the file in `binary_hash`, and protects nothing.
pub fn binary_hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A part of a page on its way into the document.
#[derive(Debug, Clone)]
pub(super) struct PdfBlock {
    page: u32,
    page_height: f32,
    kind: Kind,
    /// Left, top, right and bottom, from the top of the page; unknown if the text was not found.
    bounds: Option<[f32; 4]>,
    /// The height of its lines of text.
    line_height: Option<f32>,
    lines: usize,
    furniture: Option<furniture::Place>,
    /// The blocks in whose place a table stands.
    replaced: Vec<PdfBlock>,
}

#[derive(Debug, Clone)]
enum Kind {
    Text { text: String, bold: bool, hint: bool },
    Heading(String),
    Item { marker: String, text: String },
    Code(String),
    Table(FoundTable),
}

fn blocks(
    element: &Block,
    page: &unpdf::Page,
    cells: &mut PageCells,
    tables: &[FoundTable],
) -> Vec<PdfBlock> {
    let (kind, found) = match element {
        Block::Paragraph(paragraph) => return paragraphs(paragraph, page, cells, tables),
        Block::Table(table) => {
            let Some(table) = FoundTable::of_unpdf(table) else { return Vec::new() };
            let found = cells.find_words(&table.text());
            if let Some(found) = &found {
                cells.take_lines(found.bounds);
            }
            (Kind::Table(table), found)
        }
        Block::Code { content } => (Kind::Code(content.clone()), cells.find(content)),
        _ => return Vec::new(),
    };
    vec![PdfBlock::new(page, kind, found.as_ref())]
}

/// A paragraph, split where its lines show that it is more than one.
fn paragraphs(
    paragraph: &Paragraph,
    page: &unpdf::Page,
    cells: &mut PageCells,
    tables: &[FoundTable],
) -> Vec<PdfBlock> {
    let text = plain(paragraph);
    if text.is_empty() {
        return Vec::new();
    }
    let bold = bold_characters(paragraph);
    let hint = paragraph.style.heading_level.is_some();
    let marker = lists::marker(paragraph, &text);
    let with_marker = marker.as_ref().map(|(marker, text)| format!("{marker}{text}"));
    let found = with_marker.and_then(|text| cells.find(&text)).or_else(|| cells.find(&text));
    let parts = found.as_ref().map(|found| lines::split(found.lines.clone(), cells, tables));
    let parts = parts.unwrap_or_default();
    let of = |marker: Option<(String, String)>, text: String, bold: bool| match marker {
        Some((marker, text)) => Kind::Item { marker, text },
        None => Kind::Text { text, bold, hint },
    };
    if parts.len() < 2 {
        let first = parts.first().and_then(|lines| lists::bullet(&lines[0].text));
        // The bullet is in the line, while the text has lost it.
        let marker = marker.or_else(|| first.map(|_| ("-".to_owned(), text.clone())));
        return vec![PdfBlock::new(page, of(marker, text, is_bold(&bold)), found.as_ref())];
    }
    let is_list = marker.is_some();
    let mut at = 0;
    let part = |lines: &Vec<cells::Line>| {
        let from = at.min(bold.len());
        at += lines.iter().map(|line| cells::key(&line.text).chars().count()).sum::<usize>();
        let bold = is_bold(&bold[from..at.min(bold.len())]);
        let text = lines::join(lines);
        let marker = lists::bullet(&text);
        let marker = marker.or_else(|| if is_list { lists::numbered(&text) } else { None });
        let block = PdfBlock::new(page, of(marker, text, bold), found.as_ref());
        PdfBlock { bounds: lines::bounds(lines), lines: lines.len(), ..block }
    };
    parts.iter().map(part).collect()
}

impl PdfBlock {
    fn new(page: &unpdf::Page, kind: Kind, found: Option<&cells::Found>) -> Self {
        Self {
            page: page.number,
            page_height: page.height,
            kind,
            bounds: found.map(|found| found.bounds),
            line_height: found.map(|found| found.line_height),
            lines: found.map_or(1, |found| found.lines.len()),
            furniture: None,
            replaced: Vec::new(),
        }
    }

    /// True if it stands where headers and footers are.
    fn is_in_margin(&self) -> bool {
        let margin = furniture::MARGIN * self.page_height;
        self.bounds.is_some_and(|bounds| bounds[3] < margin || bounds[1] > self.page_height - margin)
    }
}

/// The text of a paragraph on one line.
fn plain(paragraph: &Paragraph) -> String {
    let mut text = String::new();
    for content in &paragraph.content {
        match content {
            InlineContent::Text(run) => text.push_str(&run.text),
            InlineContent::Link { text: link, .. } => text.push_str(link),
            InlineContent::LineBreak => text.push(' '),
            InlineContent::Image { .. } => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// For each character of a paragraph without its spaces: true if it is bold.
fn bold_characters(paragraph: &Paragraph) -> Vec<bool> {
    let mut bold = Vec::new();
    for content in &paragraph.content {
        let (text, is_bold) = match content {
            InlineContent::Text(run) => (&run.text, run.style.bold),
            InlineContent::Link { text, style, .. } => (text, style.bold),
            InlineContent::LineBreak | InlineContent::Image { .. } => continue,
        };
        bold.extend(cells::key(text).chars().map(|_| is_bold));
    }
    bold
}

fn is_bold(characters: &[bool]) -> bool {
    !characters.is_empty() && characters.iter().all(|bold| *bold)
}

fn is_right_to_left(pages: &[PageCells]) -> bool {
    let (mut letters, mut right_to_left) = (0, 0);
    for character in pages.iter().flat_map(PageCells::characters).filter(|c| c.is_alphabetic()) {
        letters += 1;
        let class = bidi_class(character);
        right_to_left += usize::from(matches!(class, BidiClass::R | BidiClass::AL));
    }
    right_to_left * 100 > letters * RTL_PERCENT
}

fn explain(error: &unpdf::Error) -> ReadError {
    match error.kind() {
        ErrorKind::Encrypted | ErrorKind::InvalidPassword => ReadError::Encrypted,
        _ => ReadError::Damaged { format: Format::Pdf, reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests;
