//! Finds headers and footers: text at the edge of a page that other pages repeat.

use super::{Kind, PdfBlock};
use std::collections::{HashMap, HashSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Header,
    Footer,
}

/// Share of the page's height at its top and bottom where furniture stands.
const EDGE: f32 = 0.1;
/// Share of the page's height in which even a line that no page repeats is furniture.
pub(super) const MARGIN: f32 = 0.07;

pub(super) fn mark(blocks: &mut [PdfBlock], pages: usize) {
    let mut seen: HashMap<(Place, String), HashSet<u32>> = HashMap::new();
    for block in blocks.iter() {
        if let Some(key) = key(block) {
            seen.entry(key).or_default().insert(block.page);
        }
    }
    // Most pages of a document have its furniture; chapters have their own.
    let enough = (pages / 4).max(2);
    for index in 0..blocks.len() {
        let lone = lone_line(blocks, index);
        let block = &mut blocks[index];
        block.furniture = key(block).filter(|key| seen[key].len() >= enough).map(|key| key.0).or(lone);
    }
}

/// A line alone in the margin of a page: far from the next block, and no heading.
fn lone_line(blocks: &[PdfBlock], index: usize) -> Option<Place> {
    let block = &blocks[index];
    let (Kind::Text { .. }, [_, top, _, bottom]) = (&block.kind, block.bounds?) else { return None };
    let (height, margin) = (bottom - top, block.page_height * MARGIN);
    if block.lines != 1 {
        return None;
    }
    let on_page = |other: &&PdfBlock| other.page == block.page;
    let mut others = blocks.iter().filter(on_page).filter_map(|other| other.bounds);
    if bottom < margin && others.clone().all(|other| other[1] <= top || other[1] > bottom + height) {
        return others.any(|other| other[1] > bottom).then_some(Place::Header);
    }
    let below = top > block.page_height - margin;
    if below && others.clone().all(|other| other[3] >= bottom || other[3] < top - height) {
        return others.any(|other| other[3] < top).then_some(Place::Footer);
    }
    None
}

/// The place and the text of a block, with all numbers alike.
fn key(block: &PdfBlock) -> Option<(Place, String)> {
    let (Kind::Text { text, .. } | Kind::Heading(text)) = &block.kind else { return None };
    let [_, top, _, bottom] = block.bounds?;
    let place = if bottom < block.page_height * EDGE {
        Place::Header
    } else if top > block.page_height * (1.0 - EDGE) {
        Place::Footer
    } else {
        return None;
    };
    let mut alike = String::new();
    for character in text.chars() {
        match character {
            c if c.is_numeric() => {
                if !alike.ends_with('#') {
                    alike.push('#');
                }
            }
            other => alike.push(other),
        }
    }
    Some((place, alike))
}
