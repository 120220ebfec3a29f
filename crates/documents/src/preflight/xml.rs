//! Counts what costs readers most in an XML part: elements, spans, merged ranges, attributes.
//!
//! It reads tags only, without a tree and without memory that grows with the input.

use super::{Limits, Refused};

/// Bytes of a tag that are kept; spans and ranges come early in theirs.
const MAX_TAG_BYTES: usize = 4096;

pub(super) struct Scan<'a> {
    part: &'a str,
    limits: &'a Limits,
    /// The tag that is being read, without its `<`.
    tag: Vec<u8>,
    in_tag: bool,
    quote: Option<u8>,
    attributes: usize,
    elements: u64,
    merges: usize,
    merged_cells: u64,
}

impl<'a> Scan<'a> {
    pub(super) fn new(part: &'a str, limits: &'a Limits) -> Self {
        Self {
            part,
            limits,
            tag: Vec::new(),
            in_tag: false,
            quote: None,
            attributes: 0,
            elements: 0,
            merges: 0,
            merged_cells: 0,
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if !self.in_tag {
                let Some(start) = memchr::memchr(b'<', rest) else { return Ok(()) };
                rest = &rest[start + 1..];
                self.begin();
                continue;
            }
            let byte = rest[0];
            rest = &rest[1..];
            match (self.quote, byte) {
                (Some(quote), _) if byte == quote => self.quote = None,
                (None, b'"' | b'\'') => {
                    self.quote = Some(byte);
                    self.attributes += 1;
                    if self.attributes > self.limits.attributes {
                        return Err(Refused::Attributes { limit: self.limits.attributes });
                    }
                }
                (None, b'>') => {
                    self.in_tag = false;
                    self.end()?;
                    continue;
                }
                _ => {}
            }
            if self.tag.len() < MAX_TAG_BYTES {
                self.tag.push(byte);
            }
        }
        Ok(())
    }

    fn begin(&mut self) {
        self.in_tag = true;
        self.quote = None;
        self.attributes = 0;
        self.tag.clear();
    }

    fn end(&mut self) -> Result<(), Refused> {
        let tag = std::mem::take(&mut self.tag);
        let result = self.count(&String::from_utf8_lossy(&tag));
        self.tag = tag;
        result
    }

    fn count(&mut self, tag: &str) -> Result<(), Refused> {
        if tag.starts_with(['/', '?', '!']) {
            return Ok(());
        }
        let name = tag.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or("");
        let local = name.rsplit(':').next().unwrap_or(name);
        match local {
            "p" | "r" | "tr" | "tc" | "c" | "row" | "sp" => {
                self.elements += 1;
                if self.elements > self.limits.elements {
                    return Err(Refused::Elements { part: self.part(), limit: self.limits.elements });
                }
            }
            "gridSpan" => self.span(attribute(tag, "val"))?,
            "mergeCell" => self.merge(attribute(tag, "ref").unwrap_or(""))?,
            _ => {}
        }
        for name in ["gridSpan", "rowSpan", "number-columns-spanned", "number-rows-spanned"] {
            if local != name && tag.contains(name) {
                self.span(attribute(tag, name))?;
            }
        }
        Ok(())
    }

    fn span(&self, value: Option<&str>) -> Result<(), Refused> {
        let digits = value.unwrap_or("").trim();
        // A number that is too long for 64 bits is too large as well.
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let found = if is_number { digits.parse().unwrap_or(u64::MAX) } else { 0 };
        if found > self.limits.span {
            return Err(Refused::Span { part: self.part(), found, limit: self.limits.span });
        }
        Ok(())
    }

    fn merge(&mut self, range: &str) -> Result<(), Refused> {
        self.merges += 1;
        if self.merges > self.limits.merges {
            return Err(Refused::Merges { part: self.part(), limit: self.limits.merges });
        }
        let (from, to) = range.split_once(':').unwrap_or((range, range));
        if let (Some(from), Some(to)) = (cell(from), cell(to)) {
            let side = |a: u64, b: u64| a.abs_diff(b).saturating_add(1);
            let area = side(from.0, to.0).saturating_mul(side(from.1, to.1));
            self.merged_cells = self.merged_cells.saturating_add(area);
        }
        if self.merged_cells > self.limits.merged_cells {
            let limit = self.limits.merged_cells;
            return Err(Refused::MergedCells { part: self.part(), limit });
        }
        Ok(())
    }

    fn part(&self) -> String {
        self.part.to_owned()
    }
}

/// The value of an attribute by its local name.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let mut from = 0;
    while let Some(at) = tag[from..].find(name).map(|at| at + from) {
        let before = tag[..at].chars().next_back();
        let after = tag[at + name.len()..].trim_start();
        if before.is_some_and(|c| c.is_whitespace() || c == ':')
            && let Some(value) = after.strip_prefix('=')
        {
            let value = value.trim_start();
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            return value[1..].split(quote).next();
        }
        from = at + name.len();
    }
    None
}

/// Column and row of a reference such as `XFD1048576`.
fn cell(reference: &str) -> Option<(u64, u64)> {
    let plain = reference.replace('$', "");
    let split = plain.find(|c: char| c.is_ascii_digit())?;
    let (letters, digits) = plain.split_at(split);
    if letters.len() > 4 || !letters.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let value = |byte: u8| u64::from(byte.to_ascii_uppercase() - b'A') + 1;
    let column = letters.bytes().fold(0, |column, byte| column * 26 + value(byte));
    Some((column, digits.parse().ok()?))
}
