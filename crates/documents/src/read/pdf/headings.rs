//! Finds headings by the size of their letters.

use super::{Kind, PdfBlock, cells::PageCells};

/// Lines of a heading are higher than those of the body by this factor.
pub(super) const LARGER: f32 = 1.12;
/// A bold line of the body's size is a heading if it is this short.
const BOLD_CHARACTERS: usize = 80;
/// Longer text is no heading, whatever its size.
const MAX_CHARACTERS: usize = 200;
const MAX_LINES: usize = 3;

/// Turns texts into headings.
pub(super) fn mark(blocks: &mut [PdfBlock], pages: &[PageCells], larger: f32) {
    let body = body_height(pages);
    for block in blocks {
        let Kind::Text { text, bold, hint } = &block.kind else { continue };
        if is_heading(text, (*bold, *hint), block, (body, larger)) {
            block.kind = Kind::Heading(text.clone());
        }
    }
}

fn is_heading(
    text: &str,
    (bold, hint): (bool, bool),
    block: &PdfBlock,
    (body, larger): (Option<f32>, f32),
) -> bool {
    let length = text.chars().count();
    if length > MAX_CHARACTERS || block.lines > MAX_LINES || !text.chars().any(char::is_alphanumeric) {
        return false;
    }
    let (Some(height), Some(body)) = (block.line_height, body) else { return hint };
    let ratio = height / body;
    let sentence = text.ends_with(['.', ',', ';', ':']);
    if ratio >= larger {
        return !(sentence && length > BOLD_CHARACTERS);
    }
    // Neither smaller than the body nor a sentence.
    ratio > 0.95 && (bold || hint) && block.lines == 1 && length <= BOLD_CHARACTERS && !sentence
}

/// The height that most characters have.
fn body_height(pages: &[PageCells]) -> Option<f32> {
    let mut heights: Vec<(f32, usize)> = pages.iter().flat_map(PageCells::heights).collect();
    heights.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: usize = heights.iter().map(|(_, count)| count).sum();
    let mut seen = 0;
    let median = heights.iter().find(|(_, count)| {
        seen += count;
        seen * 2 >= total
    });
    median.map(|(height, _)| *height).filter(|height| *height > 0.0)
}
