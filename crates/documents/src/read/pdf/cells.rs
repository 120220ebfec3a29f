//! The lines and words of pages with their boxes, and where a text is among them.

use super::{lists::BULLETS, table};
use docling_pdf::{pdfium_backend::TextCell, textparse::PageTextParser};

/// The lines and words of a page. What was found is not found again.
#[derive(Debug, Clone, Default)]
pub(super) struct PageCells {
    lines: Vec<Cell>,
    words: Vec<Cell>,
}

#[derive(Debug, Clone)]
struct Cell {
    text: String,
    /// The text without spaces and bullets.
    key: String,
    bounds: [f32; 4],
    used: bool,
}

/// The place of a text on its page.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Left, top, right and bottom, from the top of the page.
    pub(super) bounds: [f32; 4],
    pub(super) line_height: f32,
    pub(super) lines: Vec<Line>,
}

/// A line of text, or a word of one, with its box.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) bounds: [f32; 4],
}

/// Lines of a column begin within this distance of each other, in points.
const SAME_COLUMN: f32 = 80.0;
/// A page with more lines or words gets no boxes: each paragraph is looked for among all of them.
const MAX_CELLS: usize = 20_000;
/// Share of a text that must be found before its place is trusted.
const COVERED_PERCENT: usize = 80;

impl PageCells {
    /// The cells of all pages; none if docling's parser cannot open the file.
    pub(super) fn of_document(bytes: &[u8], password: Option<&str>) -> Vec<Self> {
        let Some(mut parser) = PageTextParser::open_with_password(bytes, password) else {
            return Vec::new();
        };
        (0..parser.page_count())
            .map(|index| {
                let cells = parser.cells(index);
                Self { lines: keyed(&cells.prose), words: keyed(&cells.words) }
            })
            .collect()
    }

    /// The cells of a page whose lines are known already.
    pub(super) fn of_lines<'a>(lines: impl Iterator<Item = &'a Line>) -> Self {
        let cell = |line: &Line| Cell {
            text: line.text.clone(),
            key: key(&line.text),
            bounds: line.bounds,
            used: false,
        };
        Self { lines: lines.map(cell).collect(), words: Vec::new() }
    }

    pub(super) fn characters(&self) -> impl Iterator<Item = char> + '_ {
        self.lines.iter().flat_map(|line| line.key.chars())
    }

    /// The heights of lines with the number of characters in them.
    pub(super) fn heights(&self) -> impl Iterator<Item = (f32, usize)> + '_ {
        self.lines.iter().map(|line| (line.bounds[3] - line.bounds[1], line.key.chars().count()))
    }

    pub(super) fn words(&self) -> Vec<Line> {
        self.words.iter().map(|word| Line { text: word.text.clone(), bounds: word.bounds }).collect()
    }

    /// Marks the lines of an area as found.
    pub(super) fn take_lines(&mut self, area: [f32; 4]) {
        for line in self.lines.iter_mut().filter(|line| table::contains(area, line.bounds)) {
            line.used = true;
        }
    }

    /// The right edge of the column that a line stands in.
    pub(super) fn column_edge(&self, line: &Line) -> f32 {
        let beside = self.lines.iter().filter(|other| (other.bounds[0] - line.bounds[0]).abs() < SAME_COLUMN);
        beside.map(|other| other.bounds[2]).fold(line.bounds[2], f32::max)
    }

    /// Finds a paragraph by its lines.
    pub(super) fn find(&mut self, text: &str) -> Option<Found> {
        find(&mut self.lines, text)
    }

    /// Finds a table by its words.
    pub(super) fn find_words(&mut self, text: &str) -> Option<Found> {
        find(&mut self.words, text)
    }
}

fn keyed(cells: &[TextCell]) -> Vec<Cell> {
    let cells = cells.iter().map(|cell| Cell {
        text: cell.text.trim().to_owned(),
        key: key(&cell.text),
        bounds: [cell.l, cell.t, cell.r, cell.b],
        used: false,
    });
    let cells: Vec<Cell> = cells.filter(|cell| !cell.key.is_empty()).collect();
    if cells.len() > MAX_CELLS { Vec::new() } else { cells }
}

/// A text without spaces and bullets.
pub(super) fn key(text: &str) -> String {
    let dropped = |c: &char| c.is_whitespace() || c.is_control() || BULLETS.contains(c);
    text.chars().filter(|c| !dropped(c)).collect()
}

/// Takes cells in order as long as each continues the text after the one before.
fn find(cells: &mut [Cell], text: &str) -> Option<Found> {
    let wanted = key(text);
    let mut taken = Vec::new();
    let (mut at, mut covered) = (0, 0);
    for (index, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.used) {
        let rest = &wanted[at..];
        // A cell may hold more than the text only at its beginning, where a marker stands.
        let position = if taken.is_empty() && cell.key.ends_with(rest) {
            Some(0)
        } else {
            // A gap is what one parser read and the other did not; it is short.
            rest.find(cell.key.as_str()).filter(|gap| *gap * 5 <= wanted.len())
        };
        let Some(position) = position else {
            if covered * 100 >= wanted.len() * COVERED_PERCENT {
                break;
            }
            (at, covered) = (0, 0);
            taken.clear();
            continue;
        };
        taken.push(index);
        covered += cell.key.len().min(rest.len());
        at = (at + position + cell.key.len()).min(wanted.len());
        if at >= wanted.len() {
            break;
        }
    }
    if covered * 100 < wanted.len() * COVERED_PERCENT || taken.is_empty() {
        return None;
    }
    Some(place(cells, &taken))
}

fn place(cells: &mut [Cell], taken: &[usize]) -> Found {
    let mut bounds = cells[taken[0]].bounds;
    let mut heights = Vec::new();
    let mut lines = Vec::new();
    for index in taken {
        let cell = &mut cells[*index];
        cell.used = true;
        heights.push(cell.bounds[3] - cell.bounds[1]);
        lines.push(Line { text: cell.text.clone(), bounds: cell.bounds });
        bounds = [
            bounds[0].min(cell.bounds[0]),
            bounds[1].min(cell.bounds[1]),
            bounds[2].max(cell.bounds[2]),
            bounds[3].max(cell.bounds[3]),
        ];
    }
    heights.sort_by(f32::total_cmp);
    Found { bounds, line_height: heights[heights.len() / 2], lines }
}
