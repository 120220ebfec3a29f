//! Values after a secret name: `NAME=value`, `name: value`, `"name": "value"`, `--flag value`,
//! `"--flag", "value"`.

use crate::{
    extent::{Extent, Quote},
    mask::Caution,
    names::{NameClass, ends_here, is_about, is_plural},
    ordinary::{is_code, is_number, is_path, is_reference, is_word},
};
use std::ops::Range;

/// Maximum length of a name on each side of the word that makes it secret.
const LONGEST_NAME: usize = 64;

/// Maximum number of blanks between a name, its separator and its value.
const MOST_BLANKS: usize = 32;

/// Bytes of a value on which the decision is based. Bounded, so that a long run with many names
/// takes linear time.
const CHECKED_BYTES: usize = 64;

/// Minimum length of the value of a [`NameClass::Maybe`] name.
const SHORTEST_MAYBE: usize = 8;

/// Schemes of the header `Authorization`, which are not hidden.
const SCHEMES: [&[u8]; 7] =
    [b"apikey ", b"basic ", b"bearer ", b"bot ", b"digest ", b"negotiate ", b"token "];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Equals,
    Colon,
    /// Blanks after a flag.
    Blank,
    /// A comma after a quoted flag.
    Comma,
}

/// A name, its separator, and the offset of its value.
struct Assignment<'a> {
    text: &'a [u8],
    name: Range<usize>,
    class: NameClass,
    /// True if the word that makes the name secret is a plural. Such names often hold a count.
    plural: bool,
    sign: Sign,
    quote: Option<Quote>,
    start: usize,
}

/// The range of the value of the name that contains `word`, if it is a secret.
pub(crate) fn value(
    text: &[u8],
    word: &Range<usize>,
    class: NameClass,
    caution: Caution,
) -> Option<Range<usize>> {
    let assignment = Assignment::at(text, word, class)?;
    let extent = assignment.extent();
    let near = extent.end(text, assignment.start, CHECKED_BYTES);
    let checked = &text[assignment.start..near];
    if !assignment.is_secret(checked, caution) {
        return None;
    }
    Some(assignment.start..extent.end(text, assignment.start, usize::MAX))
}

impl<'a> Assignment<'a> {
    fn at(text: &'a [u8], word: &Range<usize>, class: NameClass) -> Option<Self> {
        let name = name(text, word, class)?;
        let (sign, behind) = sign(text, &name)?;
        let quote = Quote::at(text, behind);
        let mut start = behind + quote.map_or(0, Quote::len);
        if matches!(sign, Sign::Equals | Sign::Colon) {
            start += scheme(&text[start..]);
        }
        let plural = is_plural(text, word.end);
        Some(Self { text, name, class, plural, sign, quote, start })
    }

    fn is_secret(&self, value: &[u8], caution: Caution) -> bool {
        let quoted = self.quote.is_some();
        let least = match self.class {
            NameClass::Maybe if !self.is_query() => SHORTEST_MAYBE,
            _ => caution.shortest(),
        };
        let harmless = value.len() < least
            || is_reference(value)
            || is_word(value)
            || value.starts_with(b"http://")
            || value.starts_with(b"https://")
            || self.plural && is_number(value)
            || !quoted && is_code(value, caution);
        let looks_secret = match (self.class, self.sign) {
            (NameClass::Maybe, _) => {
                self.is_query() || value.iter().any(u8::is_ascii_digit) && !is_path(value)
            }
            // `--token TOKEN` is usage text.
            (_, Sign::Blank) => {
                !value.starts_with(b"-")
                    && !value.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
            }
            _ => caution == Caution::Strict || !is_path(value),
        };
        !harmless && looks_secret
    }

    fn extent(&self) -> Extent {
        let name = &self.text[self.name.clone()];
        let is_cookie = self.sign == Sign::Colon && name.to_ascii_lowercase().ends_with(b"cookie");
        match self.quote {
            Some(quote) => Extent::Quoted(quote),
            // A cookie header has several values.
            None if is_cookie => Extent::Line,
            None if self.sign == Sign::Equals && self.begins_line() => Extent::Blank,
            None => Extent::Word,
        }
    }

    /// True for a line of an environment file, where only whitespace ends the value.
    fn begins_line(&self) -> bool {
        let before = &self.text[..self.name.start];
        let before = before.strip_suffix(b"export ").unwrap_or(before);
        before.last().is_none_or(|byte| *byte == b'\n')
    }

    fn is_query(&self) -> bool {
        self.sign == Sign::Equals
            && self.name.start > 0
            && matches!(self.text[self.name.start - 1], b'?' | b'&')
    }
}

/// The range of the whole name around the word.
fn name(text: &[u8], word: &Range<usize>, class: NameClass) -> Option<Range<usize>> {
    let before = &text[word.start.saturating_sub(LONGEST_NAME)..word.start];
    let head = before.iter().rev().take_while(|byte| is_name(**byte) || **byte == b'.').count();
    let start = word.start - head;
    if class == NameClass::Maybe {
        let capital = text[word.start].is_ascii_uppercase();
        let is_own = |last: &u8| !last.is_ascii_alphanumeric() || capital && last.is_ascii_lowercase();
        return before.last().is_none_or(is_own).then_some(start..word.end);
    }
    let tail = text[word.end..].iter().take(LONGEST_NAME).take_while(|byte| is_name(**byte)).count();
    let name = start..word.end + tail;
    (tail < LONGEST_NAME && ends_here(text, word.end) && !is_about(&text[name.clone()])).then_some(name)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The separator after a name, and the offset of the value or its opening quote.
fn sign(text: &[u8], name: &Range<usize>) -> Option<(Sign, usize)> {
    let closing = Quote::at(text, name.end);
    let is_flag = text[name.start] == b'-';
    let behind = name.end + closing.map_or(0, Quote::len);
    let at = behind + blanks(&text[behind..], b" \t");
    match text.get(at..)? {
        [b'=', b'=' | b'~', ..] | [b':', b':', ..] | [b':', b'/', b'/', ..] => None,
        [b'=', b'>', ..] | [b':', b'=', ..] => Some((Sign::Equals, at + 2 + blanks(&text[at + 2..], b" \t"))),
        [b'=', rest @ ..] => Some((Sign::Equals, at + 1 + blanks(rest, b" \t"))),
        [b':', rest @ ..] => Some((Sign::Colon, at + 1 + blanks(rest, b" \t"))),
        [b',', rest @ ..] if is_flag && closing.is_some() => {
            let value = at + 1 + blanks(rest, b" \t\r\n");
            Quote::at(text, value).map(|_| (Sign::Comma, value))
        }
        [_, ..] if is_flag && closing.is_none() && at > behind => Some((Sign::Blank, at)),
        _ => None,
    }
}

fn blanks(text: &[u8], blank: &[u8]) -> usize {
    text.iter().take(MOST_BLANKS).take_while(|byte| blank.contains(byte)).count()
}

/// The length of a scheme and the blanks after it; 0 if there is none.
fn scheme(value: &[u8]) -> usize {
    let begins =
        |scheme: &&&[u8]| value.get(..scheme.len()).is_some_and(|text| text.eq_ignore_ascii_case(scheme));
    SCHEMES.iter().find(begins).map_or(0, |scheme| scheme.len() + blanks(&value[scheme.len()..], b" "))
}
