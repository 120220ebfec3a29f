//! What is counted about upstreams, and its form for Prometheus.
//!
//! A [`Meter`] counts what is sent to one server; [`UpstreamFigures`] is a snapshot of it and of what is known otherwise; [`render`]
//! writes snapshots down. Labels are the names of servers and of methods. Names of tools are among them only where that was asked
//! for, and only so many: a label per name that a stranger chooses would fill any database.

mod figures;
mod meter;
mod prometheus;
mod series;

pub use figures::{BREAKER_STATES, CallFigures, Histogram, STATES, UpstreamFigures};
pub use meter::{Meter, Metered, PerTool};
pub use prometheus::{escape, render};
pub use series::BUCKETS;
