//! Jobs: programs that run, or have run, for a caller. Every run is a job; if it ends in time, the
//! call that started it returns its result.

mod done;
mod entry;
mod launch;
mod log;
mod registry;

pub(super) use done::{Done, Outcome};
pub(super) use entry::{Job, JobGuard};
pub(super) use launch::Order;
pub(super) use log::{Page, Stream};
pub(super) use registry::Jobs;
