//! The terminal: output, progress, traces, and prompts for questions of the server.

mod answers;
mod ask;
mod bar;
mod drawing;
mod field;
mod form;
mod hidden;
mod host;
mod log;
mod progress;
mod sample;
mod screen;
mod steps;
mod trace;
mod visit;
mod writer;

pub(crate) use answers::Answers;
pub(crate) use hidden::hidden_line;
pub(crate) use host::{TerminalHost, Wishes};
pub(crate) use progress::Progress;
pub(crate) use screen::Screen;
pub(crate) use steps::Steps;
#[cfg(feature = "documents")]
pub(crate) use steps::Teller;
pub(crate) use trace::trace;
pub(crate) use visit::open_page;
pub(crate) use writer::log_lines;
