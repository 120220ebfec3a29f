//! The tree of processes that a run makes: all its descendants, whether or not they stayed in its process group.
//!
//! A process group ends where a program starts a session of its own, as daemons do. So on Linux we look through `/proc`:
//! who is in the group, who descends from those, and at the end who still carries the run's mark in its environment. On
//! other systems the group is all there is.

mod census;
mod guard;
mod kill;

pub(super) use guard::{Breach, Tree};
