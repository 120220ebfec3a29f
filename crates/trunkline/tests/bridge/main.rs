//! `trunkline bridge` between real processes: clients of either era, servers of either era, over
//! stdio and HTTP.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[macro_use]
mod cells;
mod host;
mod parked;
mod questions;
mod site;
mod subscriptions;
mod tasks;
mod transports;
