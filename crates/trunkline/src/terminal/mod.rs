//! The person's side: what is printed where, progress, the trace, and questions that a server asks.

mod answers;
mod ask;
mod bar;
mod drawing;
mod field;
mod form;
mod host;
mod log;
mod progress;
mod sample;
mod screen;
mod steps;
mod trace;
mod visit;

pub(crate) use answers::Answers;
pub(crate) use host::{TerminalHost, Wishes};
pub(crate) use progress::Progress;
pub(crate) use screen::Screen;
pub(crate) use steps::Steps;
pub(crate) use trace::trace;
