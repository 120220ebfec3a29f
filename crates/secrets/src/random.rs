//! Long words of mixed characters that look like keys, without an anchor nearby.

use std::ops::Range;

/// Minimum length of a word that is treated as a key.
const SHORTEST: usize = 32;

/// A Base64 run of at least this length is data, such as an image.
const DATA: usize = 256;

/// Appends the ranges of keys.
pub(crate) fn find(text: &[u8], found: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while at < text.len() {
        let run = text[at..].iter().take_while(|byte| is_data(**byte)).count();
        if (SHORTEST..DATA).contains(&run) && !text[..at].ends_with(b"base64,") {
            words(text, at..at + run, found);
        }
        at += run.max(1);
    }
}

fn words(text: &[u8], run: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut start = run.start;
    for word in text[run].split(|byte| b"/=".contains(byte)) {
        if is_key(word) {
            found.push(start..start + word.len());
        }
        start += word.len() + 1;
    }
}

fn is_key(word: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| word.iter().any(test);
    word.len() >= SHORTEST
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && !word.contains(&b'.')
}

fn is_data(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.+~/=".contains(&byte)
}
