//! Asking a line and reading it.

use crate::render::safe;
use std::io::{self, BufRead, Write};

/// The longest line taken.
const MAX_LINE: u64 = 1024 * 1024;

/// Words that end a question instead of answering it.
pub(super) const DECLINE: &str = ":decline";
pub(super) const CANCEL: &str = ":cancel";

/// A person at a keyboard, or a script in a test.
pub(super) struct Asker<R, W> {
    input: R,
    output: W,
}

/// What came of a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    Line(String),
    Decline,
    /// Also when there is nobody any more.
    Cancel,
}

impl<R: BufRead, W: Write> Asker<R, W> {
    pub(super) fn new(input: R, output: W) -> Self {
        Self { input, output }
    }

    /// Shows a text of the server or of ours, harmless.
    pub(super) fn show(&mut self, text: &str) {
        // If the terminal is gone, so is the person, and reading tells it.
        writeln!(self.output, "{}", safe::text(text)).unwrap_or_default();
    }

    pub(super) fn ask(&mut self, prompt: &str) -> Said {
        write!(self.output, "{} ", safe::text(prompt)).and_then(|()| self.output.flush()).unwrap_or_default();
        let mut line = String::new();
        let read = io::Read::take(&mut self.input, MAX_LINE).read_line(&mut line);
        match (read, line.trim()) {
            (Err(_) | Ok(0), _) | (_, CANCEL) => Said::Cancel,
            (_, DECLINE) => Said::Decline,
            (_, text) => Said::Line(text.to_owned()),
        }
    }
}
