//! Finds the end of a value.

/// The quote around a text: `"`, `'` or a backtick, possibly after backslashes, as in JSON within
/// JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quote {
    byte: u8,
    escapes: usize,
}

/// The delimiter that ends a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The closing quote, or the end of the line.
    Quoted(Quote),
    /// The end of the line, or a quote.
    Line,
    /// Whitespace.
    Blank,
    /// Whitespace, a quote, or a separator such as a comma.
    Word,
}

/// Maximum number of backslashes before a quote.
const MOST_ESCAPES: usize = 7;

impl Quote {
    pub(crate) fn at(text: &[u8], at: usize) -> Option<Self> {
        let rest = text.get(at..)?;
        let escapes = rest.iter().take(MOST_ESCAPES).take_while(|byte| **byte == b'\\').count();
        let byte = *rest.get(escapes)?;
        b"\"'`".contains(&byte).then_some(Self { byte, escapes })
    }

    pub(crate) fn len(self) -> usize {
        self.escapes + 1
    }

    /// The length of the text before the closing quote.
    fn inside(self, text: &[u8]) -> usize {
        let mut escapes = 0;
        for (at, byte) in text.iter().enumerate() {
            match byte {
                b'\\' => {
                    escapes += 1;
                    continue;
                }
                b'\n' => return at,
                _ if *byte == self.byte && self.closes(escapes) => return at - escapes.min(self.escapes),
                _ => {}
            }
            escapes = 0;
        }
        text.len()
    }

    /// True if a quote after this many backslashes closes the text: an even number if the opening
    /// quote has none, else at most as many as the opening quote has.
    fn closes(self, escapes: usize) -> bool {
        if self.escapes == 0 { escapes.is_multiple_of(2) } else { escapes <= self.escapes }
    }
}

impl Extent {
    /// The end of the value that begins at `start`, but at most `most` bytes after it.
    pub(crate) fn end(self, text: &[u8], start: usize, most: usize) -> usize {
        let rest = &text[start..text.len().min(start.saturating_add(most))];
        let until = |ends: fn(&u8) -> bool| rest.iter().position(ends).unwrap_or(rest.len());
        start
            + match self {
                Self::Quoted(quote) => quote.inside(rest),
                Self::Line => until(|byte| b"\r\n\"'`".contains(byte)),
                Self::Blank => until(u8::is_ascii_whitespace),
                Self::Word => until(|byte| byte.is_ascii_whitespace() || b"\"'`,;)]}<>&\\".contains(byte)),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(text: &str) -> &str {
        let quote = Quote::at(text.as_bytes(), 0).unwrap();
        let end = Extent::Quoted(quote).end(text.as_bytes(), quote.len(), usize::MAX);
        &text[quote.len()..end]
    }

    #[test]
    fn quoted_texts_end_at_their_own_quote() {
        assert_eq!(inside("'quoted value' x"), "quoted value");
        assert_eq!(inside(r#""a \" b" x"#), r#"a \" b"#);
        assert_eq!(inside(r#"\"a b\", x"#), "a b");
        assert_eq!(inside("\"never closed\nnext\""), "never closed");
        assert_eq!(inside(r#""ends with \\" x"#), r"ends with \\");
    }
}
