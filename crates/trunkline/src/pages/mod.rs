//! Reference pages, generated from the program's own definitions.

mod command_line;
mod doctor;
mod errors;
mod manual;

pub(crate) use command_line::command_line;
pub(crate) use doctor::doctor;
pub(crate) use errors::errors;
pub(crate) use manual::manual;
