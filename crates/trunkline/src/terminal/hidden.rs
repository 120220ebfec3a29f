//! Reads a line that the terminal does not show.

use super::writer::{Stream, Styles};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::io::{self, BufRead, IsTerminal};

/// Prompts and reads a line without echo; `None` if standard input is not a terminal.
pub(crate) fn hidden_line(prompt: &str) -> io::Result<Option<String>> {
    let input = io::stdin();
    if !input.is_terminal() {
        return Ok(None);
    }
    let before = tcgetattr(&input)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    Stream::Error.text(prompt, Styles::Remove)?;
    tcsetattr(&input, OptionalActions::Flush, &silent)?;
    let mut line = String::new();
    let read = input.lock().read_line(&mut line);
    tcsetattr(&input, OptionalActions::Flush, &before)?;
    Stream::Error.text("\n", Styles::Remove)?;
    read.map(|_| Some(line))
}
