//! Prompts for a line and reads it.

use crate::render::safe;
use std::io::{self, BufRead, Write};

/// Maximum length of an input line.
const MAX_LINE: u64 = 1024 * 1024;

/// Inputs that decline or cancel instead of answering.
pub(super) const DECLINE: &str = ":decline";
pub(super) const CANCEL: &str = ":cancel";

/// The terminal, or the input and output of a test.
pub(super) struct Asker<R, W> {
    input: R,
    output: W,
}

/// Result of a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    Line(String),
    Decline,
    /// Cancelled, or EOF.
    Cancel,
}

impl<R: BufRead, W: Write> Asker<R, W> {
    pub(super) fn new(input: R, output: W) -> Self {
        Self { input, output }
    }

    /// Prints a text with control characters escaped.
    pub(super) fn show(&mut self, text: &str) {
        // If the terminal is closed, the next read fails as well.
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
