//! Output: data to standard output, everything else to standard error, with the progress bar
//! cleared before each write.

use super::{
    drawing::Drawing,
    writer::{Stream, Styles},
};
use crate::{
    args::{Colors, OutputArgs},
    concealed::Concealed,
    environment::{self, Environment},
    render::{json, safe},
};
use anstyle::{AnsiColor, Style};
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use std::io::{self, BufRead as _, ErrorKind, IsTerminal, Write};
use trunkline_protocol::Raw;

const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// Standard output and standard error, and whether each shows colours.
#[derive(Debug)]
pub(crate) struct Screen {
    stdout: Styles,
    stderr: Styles,
    volume: Volume,
    concealed: Concealed,
    bar: Mutex<Option<Drawing>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Volume {
    Quiet,
    Usual,
}

impl Screen {
    pub(crate) fn new(output: OutputArgs, environment: &Environment) -> Self {
        let plain = environment.get_filled(environment::NO_COLOR).is_some();
        let choose = |stream: Stream| match output.color {
            Colors::Always => Styles::Keep,
            Colors::Auto if stream.is_terminal() && !plain => Styles::Keep,
            Colors::Auto | Colors::Never => Styles::Remove,
        };
        Self {
            stdout: choose(Stream::Output),
            stderr: choose(Stream::Error),
            volume: if output.quiet { Volume::Quiet } else { Volume::Usual },
            concealed: environment.concealed.clone(),
            bar: Mutex::new(None),
        }
    }

    /// Prints a result to standard output. A closed pipe is not an error: the reader has had
    /// enough.
    pub(crate) fn data(&self, text: &str) -> io::Result<()> {
        self.with_bar_suspended(|| gone_is_fine(Stream::Output.text(text, self.stdout)))
    }

    /// Prints JSON: indented and escaped on a terminal, unchanged otherwise.
    pub(crate) fn json(&self, raw: &Raw) -> io::Result<()> {
        let mut text = if Stream::Output.is_terminal() { json::pretty(raw) } else { raw.as_str().to_owned() };
        text.push('\n');
        self.with_bar_suspended(|| gone_is_fine(Stream::Output.json(&text)))
    }

    /// Prints to standard error, even with `--quiet`. Secrets are masked.
    pub(crate) fn tell(&self, text: &str) {
        self.tell_exactly(&self.hide(text));
    }

    /// Like `tell`, for frames and messages that the user asked to see as they are: only the values
    /// behind references and tokens are masked.
    pub(super) fn tell_exactly(&self, text: &str) {
        let text = self.concealed.hide_known(text);
        // If writing to stderr fails, there is no one to report it to.
        self.with_bar_suspended(|| Stream::Error.text(&text, self.stderr).unwrap_or_default());
    }

    /// Prints one JSON value to standard error, even with `--quiet`. Secrets are masked.
    pub(crate) fn tell_json(&self, mut value: Value) {
        self.concealed.hide_in(&mut value);
        self.with_bar_suspended(|| Stream::Error.json(&format!("{value}\n")).unwrap_or_default());
    }

    /// The text with secrets masked, among them the values behind references.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.concealed.hide(text)
    }

    /// Clears the terminal before a result that replaces the previous one.
    pub(crate) fn clear(&self) {
        self.with_bar_suspended(|| Stream::Output.clear().unwrap_or_default());
    }

    pub(crate) fn warn(&self, text: &str) {
        self.remark(WARNING, "warning", text);
    }

    pub(crate) fn note(&self, text: &str) {
        self.remark(NOTE, "note", text);
    }

    /// True if the user can be prompted: there is a terminal for input and output.
    pub(crate) fn can_ask() -> bool {
        io::stdin().is_terminal() && Stream::Error.is_terminal()
    }

    /// Waits for a line; true if it is `y`. Blocks the thread.
    pub(crate) fn typed_yes() -> bool {
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y")
    }

    pub(super) fn shows_progress(&self) -> bool {
        self.volume == Volume::Usual && Stream::Error.is_terminal()
    }

    /// Runs `act` while the progress bar, if any, is suspended.
    fn with_bar_suspended<T>(&self, act: impl FnOnce() -> T) -> T {
        let bar = self.bar().clone();
        match bar {
            Some(bar) => bar.suspend(act),
            None => act(),
        }
    }

    /// Prompts the user. The bar is hidden rather than suspended: a suspended bar holds its lock,
    /// so it could not be removed before the user has answered.
    pub(super) fn asking<T>(&self, ask: impl FnOnce() -> T) -> T {
        let bar = self.bar().clone();
        bar.iter().for_each(Drawing::hide);
        let said = ask();
        bar.iter().for_each(Drawing::show);
        said
    }

    pub(super) fn set_bar(&self, bar: Option<Drawing>) {
        *self.bar() = bar;
    }

    fn remark(&self, style: Style, label: &str, text: &str) {
        if self.volume == Volume::Usual {
            self.tell(&format!("{style}{label}{style:#}: {}\n", safe::text(text)));
        }
    }

    fn bar(&self) -> MutexGuard<'_, Option<Drawing>> {
        self.bar.lock()
    }
}

/// The output side of a prompt.
pub(super) struct Prompt<'a>(pub(super) &'a Screen);

impl Write for Prompt<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Stream::Error.text(&String::from_utf8_lossy(bytes), self.0.stderr)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn gone_is_fine(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
