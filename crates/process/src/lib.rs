//! Running a child program within bounds.
//!
//! A [`Program`] is an absolute path with arguments, never a line for a shell. It starts with an environment made
//! only of what it was given, leads a process group of its own, and has a deadline. Both its pipes are read at the
//! same time to their end; of what they carry the beginning and the end are kept. However the run ends, on its own,
//! by the deadline, or because nobody waits for it any more, the whole group is killed.
//!
//! What a program may do while it runs (files, network) is left to others.

mod ending;
mod group;
mod head_tail;
mod limits;
mod pipes;
mod program;
mod run_error;
mod running;
mod supervisor;

pub use ending::Ending;
pub use head_tail::{Captured, HeadTail, Keep};
pub use limits::{DEFAULT_DEADLINE, DEFAULT_MEMORY, Limits, Overflow};
pub use program::Program;
pub use run_error::RunError;
pub use running::{Finished, Running};
