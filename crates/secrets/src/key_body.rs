//! Bodies of private keys whose first and last line are missing, as in a part of a log.
//!
//! A body is a sequence of lines that end with Base64 of the same width. The beginning of a key is
//! recognized by its decoded bytes; lines from the middle of a key by their width, which is 64 in
//! PEM and 70 in OpenSSH files. Other data is usually wrapped at 76 columns. Lines of a block with
//! another name, such as a certificate, are not hidden.

use crate::pem::is_base64;
use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use memchr::memmem;
use std::ops::Range;

/// Widths of full lines that are treated as a key although its beginning is missing.
const WIDTHS: [usize; 2] = [64, 70];

/// Minimum length of a line with the beginning of a key.
const SHORTEST_FIRST: usize = 40;

/// Minimum length of a last line without padding.
const SHORTEST_LAST: usize = 8;

/// Number of Base64 characters that are decoded to classify a line; a multiple of 4.
const DECODED: usize = 64;

/// Minimum number of capitals and of small letters in a full line. Random data has about 26 of
/// each; paths and hashes have fewer.
const LEAST_LETTERS: usize = 8;

/// The first bytes of images, archives and documents.
const DATA: [&[u8]; 7] =
    [b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b", b"%PDF", b"\x7fELF"];

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The content of a line, judged by its decoded beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// The beginning of a private key.
    Key,
    /// The beginning of something else: a certificate, an image, plain text.
    Other,
    Unknown,
}

/// The lines of a possible body so far.
struct Body {
    range: Range<usize>,
    width: usize,
    /// Number of lines, without the remainder of a line in front of the first full one.
    lines: usize,
    content: Content,
}

/// Appends the ranges of bodies without their first and last line.
pub(crate) fn find(text: &[u8], found: &mut Vec<Range<usize>>) {
    if text.len() < SHORTEST_FIRST {
        return;
    }
    let mut body: Option<Body> = None;
    let mut remainder = None;
    let mut in_block = false;
    for line in lines(text) {
        let whole = &text[line.clone()];
        if let Some(dashes) = memmem::find(whole, b"-----") {
            let is_end = whole[dashes..].starts_with(b"-----END");
            // The body belongs to the block that ends here, and `pem` hides private ones.
            if !is_end {
                found.extend(body.take().and_then(Body::hidden));
            }
            (body, remainder) = (None, None);
            in_block = whole[dashes..].starts_with(b"-----BEGIN");
            continue;
        }
        let field = field(text, &line);
        if in_block || field.is_empty() {
            found.extend(body.take().and_then(Body::hidden));
            remainder = None;
            continue;
        }
        if body.as_mut().is_some_and(|body| body.take(text, &field)) {
            continue;
        }
        found.extend(body.take().and_then(Body::hidden));
        body = Body::begin(text, &field, remainder.take());
        remainder = body.is_none().then_some(field);
    }
    found.extend(body.and_then(Body::hidden));
}

impl Body {
    /// `remainder`: the field of the line before, which may be the end of a line that was cut.
    fn begin(text: &[u8], field: &Range<usize>, remainder: Option<Range<usize>>) -> Option<Self> {
        let bytes = &text[field.clone()];
        let content = content(bytes);
        let is_first = content == Content::Key && bytes.len() >= SHORTEST_FIRST;
        if !is_first && !is_full(bytes) {
            return None;
        }
        let width = bytes.len();
        let is_part = |part: &Range<usize>| {
            part.len() < width && is_last(&text[part.clone()]) && content == Content::Unknown
        };
        let start = remainder.filter(is_part).map_or(field.start, |part| part.start);
        Some(Self { range: start..field.end, width, lines: 1, content })
    }

    /// Adds a line if it continues the body.
    fn take(&mut self, text: &[u8], field: &Range<usize>) -> bool {
        let bytes = &text[field.clone()];
        let ends = bytes.len() < self.width && is_last(bytes);
        if bytes.len() != self.width && !ends {
            return false;
        }
        self.range.end = field.end;
        self.lines += 1;
        if ends {
            self.width = 0;
        }
        true
    }

    fn hidden(self) -> Option<Range<usize>> {
        match self.content {
            Content::Key => Some(self.range),
            Content::Unknown if self.lines >= 2 => Some(self.range),
            _ => None,
        }
    }
}

/// The lines of a text.
fn lines(text: &[u8]) -> Lines<'_> {
    Lines { text, at: 0 }
}

/// Lines, separated by real line breaks or by escaped ones (`\n`).
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        if start >= self.text.len() {
            return None;
        }
        let mut from = start;
        loop {
            let Some(at) = memchr::memchr2(b'\n', b'\\', &self.text[from..]).map(|at| from + at) else {
                self.at = self.text.len();
                return Some(start..self.at);
            };
            match (self.text[at], self.text.get(at + 1)) {
                (b'\n', _) => {
                    self.at = at + 1;
                    return Some(start..at);
                }
                (_, Some(b'n')) => {
                    self.at = at + 2;
                    return Some(start..at);
                }
                _ => from = at + 1,
            }
        }
    }
}

/// The Base64 characters at the end of a line.
fn field(text: &[u8], line: &Range<usize>) -> Range<usize> {
    let bytes = &text[line.clone()];
    let bytes = bytes.strip_suffix(b"\\r").unwrap_or(bytes);
    let end = bytes.iter().rposition(|byte| !b"\r\t \"',".contains(byte)).map_or(0, |last| last + 1);
    let start = bytes[..end].iter().rposition(|byte| !is_base64(*byte)).map_or(0, |last| last + 1);
    line.start + start..line.start + end
}

/// True for a full line of the body of a key.
fn is_full(line: &[u8]) -> bool {
    let count = |test: fn(&u8) -> bool| line.iter().filter(|byte| test(byte)).count();
    WIDTHS.contains(&line.len())
        && !line.contains(&b'=')
        && count(u8::is_ascii_uppercase) >= LEAST_LETTERS
        && count(u8::is_ascii_lowercase) >= LEAST_LETTERS
        && count(u8::is_ascii_digit) > 0
}

/// True if a line that is shorter than its neighbour may be the last line of a key, or the rest of
/// a line that was cut. Words are Base64 characters, too.
fn is_last(line: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| line.iter().any(test);
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    line.ends_with(b"=") || is_mixed && line.len() >= SHORTEST_LAST
}

fn content(line: &[u8]) -> Content {
    let near = &line[..line.len().min(DECODED)];
    let near = &near[..near.len() - near.len() % 4];
    let Ok(bytes) = LENIENT.decode(near) else { return Content::Unknown };
    if is_key(&bytes) {
        Content::Key
    } else if is_der(&bytes) || bytes.is_ascii() || DATA.iter().any(|magic| bytes.starts_with(magic)) {
        Content::Other
    } else {
        Content::Unknown
    }
}

/// True for the beginning of a private key: DER, OpenSSH, or the PEM text itself.
fn is_key(bytes: &[u8]) -> bool {
    const PBES: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05";
    let inner = der_content(bytes).unwrap_or_default();
    // PKCS#1, PKCS#8 and SEC 1 begin with a version, 0 or 1; certificates with a sequence.
    let has_version = matches!(inner, [2, 1, 0 | 1, 2 | 4 | 0x30, ..]);
    // Encrypted PKCS#8 begins with the algorithm.
    let is_encrypted = der_content(inner).is_some_and(|inner| inner.starts_with(PBES));
    let is_pem = bytes.starts_with(b"-----BEGIN") && memmem::find(bytes, b"PRIVATE KEY").is_some();
    has_version || is_encrypted || is_pem || bytes.starts_with(b"openssh-key-v1\0")
}

fn is_der(bytes: &[u8]) -> bool {
    der_content(bytes).is_some_and(|inner| matches!(inner, [2 | 6 | 0x30, ..]))
}

/// The content of a DER sequence.
fn der_content(bytes: &[u8]) -> Option<&[u8]> {
    match bytes {
        [0x30, 0x82, _, _, rest @ ..] | [0x30, 0x81, _, rest @ ..] => Some(rest),
        [0x30, length, rest @ ..] if *length < 0x80 => Some(rest),
        _ => None,
    }
}
