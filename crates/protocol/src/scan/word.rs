//! Searches strings for quotes, backslashes and control characters, eight bytes at a time.
//!
//! Most strings of a message are too short for the set-up of a vector search to pay off, and most
//! others are very long.

/// Bytes per step.
pub(super) const WORD: usize = 8;

/// Bytes per step in a long run.
pub(super) const BLOCK: usize = 32;

/// Bytes per step in a search for a single byte value.
const WIDE: usize = 64;

const ONES: u64 = u64::from_ne_bytes([1; WORD]);
const HIGH: u64 = ONES << 7;

/// The eight bytes at this offset in little-endian order; `None` if there are fewer.
#[inline]
pub(super) fn word_at(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk::<WORD>().map(|word| u64::from_le_bytes(*word))
}

/// True if one of these bytes is not ASCII.
#[inline]
pub(super) fn has_high(bytes: u64) -> bool {
    bytes & HIGH != 0
}

/// The index of the first marked byte of a word.
#[inline]
pub(super) fn first_mark(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

/// Marks the first quote, backslash or control character of a word, and possibly bytes after it.
#[inline]
pub(super) fn odd_bytes(word: u64) -> u64 {
    // Flipping this bit turns a quote (0x22) into a space (0x20); control characters stay below
    // it.
    (below(word ^ (ONES * 0x02), 0x21) | backslashes(word)) & HIGH
}

/// Marks the first quote or backslash of a word, and possibly bytes after it.
#[inline]
pub(super) fn quotes_and_escapes(word: u64) -> u64 {
    (quotes(word) | backslashes(word)) & HIGH
}

/// Marks the first quote of a word, and possibly bytes after it.
#[inline]
pub(super) fn quotes(word: u64) -> u64 {
    below(word ^ (ONES * u64::from(b'"')), 1) & HIGH
}

#[inline]
fn backslashes(word: u64) -> u64 {
    below(word ^ (ONES * u64::from(b'\\')), 1)
}

/// Sets the high bit of each ASCII byte below `bound`. A borrow may also mark bytes after the
/// first match, never before.
#[inline]
fn below(word: u64, bound: u64) -> u64 {
    word.wrapping_sub(ONES * bound) & !word
}

#[inline]
pub(super) fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

/// The length of the prefix without quotes, backslashes and control characters.
#[inline]
pub(crate) fn plain_run(text: &[u8]) -> usize {
    let mut run = 0;
    while let Some(word) = word_at(text, run) {
        let odd = odd_bytes(word);
        if odd != 0 {
            return run + first_mark(odd);
        }
        run += WORD;
        if run == BLOCK {
            run += plain_blocks(&text[run..]).0;
        }
    }
    let rest = &text[run..];
    run + rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len())
}

/// The length of the leading blocks of plain bytes, and the bitwise OR of those bytes. The
/// compiler vectorizes this form.
#[inline]
pub(super) fn plain_blocks(text: &[u8]) -> (usize, u8) {
    let (mut run, mut seen) = (0, 0);
    for block in text.as_chunks::<BLOCK>().0 {
        let (mut odd, mut over) = (0, 0);
        for byte in block {
            odd |= u8::from(*byte < 0x20) | u8::from(*byte == b'"') | u8::from(*byte == b'\\');
            over |= byte;
        }
        if odd != 0 {
            break;
        }
        run += BLOCK;
        seen |= over;
    }
    (run, seen)
}

/// The number of bytes in the leading whole blocks without a quote.
#[inline]
pub(super) fn blocks_without_quote(text: &[u8]) -> usize {
    let quotes = |block: &[u8; WIDE]| block.iter().fold(0, |found, byte| found | u8::from(*byte == b'"'));
    text.as_chunks::<WIDE>().0.iter().take_while(|block| quotes(block) == 0).count() * WIDE
}
