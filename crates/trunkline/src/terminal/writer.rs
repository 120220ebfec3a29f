//! Writes to standard output and standard error. No other module does, except for `drawing`, which
//! moves the cursor for the progress bar.
//!
//! Texts may contain our own styles. Every other control character is escaped here, so a text that
//! was not escaped where it was formatted cannot control the terminal either.

use crate::render::safe;
use std::io::{self, IsTerminal, Write};

/// The sequences that our styles consist of. A foreign text could at most change its colour.
const STYLES: [&str; 10] = [
    "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[4m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[34m", "\x1b[35m",
    "\x1b[36m",
];

/// Clears the screen and moves the cursor to the top left.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// One of the two output streams of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Output,
    Error,
}

/// The treatment of styles: written or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Styles {
    Keep,
    Remove,
}

impl Stream {
    pub(super) fn is_terminal(self) -> bool {
        match self {
            Self::Output => io::stdout().is_terminal(),
            Self::Error => io::stderr().is_terminal(),
        }
    }

    /// Writes a text with styles.
    pub(super) fn text(self, text: &str, styles: Styles) -> io::Result<()> {
        self.write(&escaped(text, styles))
    }

    /// Writes JSON: with escapes on a terminal and on standard error, unchanged otherwise. Its
    /// value is the same.
    pub(super) fn json(self, text: &str) -> io::Result<()> {
        if self == Self::Output && !self.is_terminal() {
            self.write(text)
        } else {
            self.write(&safe::json(text))
        }
    }

    /// Clears the screen, if this is a terminal.
    pub(super) fn clear(self) -> io::Result<()> {
        if self.is_terminal() { self.write(CLEAR) } else { Ok(()) }
    }

    fn write(self, text: &str) -> io::Result<()> {
        let put = |out: &mut dyn Write| {
            out.write_all(text.as_bytes())?;
            out.flush()
        };
        match self {
            Self::Output => put(&mut io::stdout().lock()),
            Self::Error => put(&mut io::stderr().lock()),
        }
    }
}

/// Writes lines of the access log to standard error.
pub(crate) fn log_lines(lines: &str) -> io::Result<()> {
    Stream::Error.json(lines)
}

/// Keeps or removes our styles, and escapes everything else.
fn escaped(text: &str, styles: Styles) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        out.push_str(&safe::text(&rest[..at]));
        let style = STYLES.iter().find(|style| rest[at..].starts_with(**style));
        match (style, styles) {
            (Some(style), Styles::Keep) => out.push_str(style),
            (Some(_), Styles::Remove) => {}
            (None, _) => out.push_str(&safe::text("\x1b")),
        }
        rest = &rest[at + style.map_or(1, |style| style.len())..];
    }
    out.push_str(&safe::text(rest));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{BAD, FAINT, HEADING, NAME};

    #[test]
    fn our_styles_pass_and_nothing_else_does() {
        let ours = format!("{BAD}a{BAD:#}{NAME}b{NAME:#}{HEADING}c{HEADING:#}{FAINT}d{FAINT:#}\n");
        assert_eq!(escaped(&ours, Styles::Keep), ours);
        assert_eq!(escaped(&ours, Styles::Remove), "abcd\n");
        for styles in [Styles::Keep, Styles::Remove] {
            assert_eq!(escaped("a\x1b[8mb\x1b]0;x\x07\u{9b}2J\x1b", styles), "a␛[8mb␛]0;x␇<U+009B>2J␛");
        }
    }
}
