//! `trunkline bridge` between real processes: clients of either era, servers of either era, over stdio and HTTP.

mod host;
mod parked;
mod questions;
mod site;
mod tasks;
mod transports;
