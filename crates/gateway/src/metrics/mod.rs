//! Metrics of upstreams, and their Prometheus format.
//!
//! A [`Meter`] counts the calls to one server; [`UpstreamFigures`] is a snapshot of it and of the
//! upstream's status; [`render`] formats snapshots. Labels are the names of servers and methods.
//! Tool names are labels only if configured, and only up to a limit: labels that others choose
//! would have unbounded cardinality.

mod figures;
mod meter;
mod prometheus;
mod series;

pub use figures::{BREAKER_STATES, CallFigures, Histogram, STATES, UpstreamFigures};
pub use meter::{Meter, Metered, PerTool};
pub use prometheus::{drift, escape, readiness, render};
pub use series::BUCKETS;
