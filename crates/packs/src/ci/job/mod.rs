//! Jobs: programs that run, or have run, for a caller. Every run is a job; a call that is quick enough just answers with
//! its end.

mod done;
mod entry;
mod launch;
mod log;
mod registry;

pub(super) use done::{Done, Outcome};
pub(super) use entry::{InCall, Job};
pub(super) use launch::Order;
pub(super) use log::{Page, Stream};
pub(super) use registry::Jobs;
