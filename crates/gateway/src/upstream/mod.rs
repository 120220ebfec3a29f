//! Upstream: one server behind the gateway, however it is reached and however often it comes and goes.
//!
//! [`Connect`] opens sessions; another crate implements it. [`Upstream`] keeps them: a supervisor task connects, reads the
//! lists, and lets the server sleep; a call finds the session of its caller, waits for room, and is told honestly what
//! became of it.

mod airborne;
mod book;
mod bulkhead;
mod connect;
mod core;
mod doubt;
mod era;
mod event;
mod flight;
mod gone;
mod item;
mod latency;
mod layered;
mod lists;
mod live;
mod loops;
mod offer;
mod open;
mod options;
mod server;
mod status;
mod supervise;
#[cfg(test)]
mod tests;
mod told;

pub use connect::{Broken, Connect, Profile, Session};
pub use event::Event;
pub use item::Quarantined;
pub use latency::Percentiles;
pub use layered::layered;
pub use loops::{BEHIND, behind};
pub use offer::{Kind, Offer};
pub use options::{
    Annotations, BulkheadOptions, ListOptions, PoolOptions, RestartOptions, Sessions, Start, ToolOptions,
    ToolRules, UpstreamOptions,
};
pub use server::Upstream;
pub use status::{BreakerStatus, Calls, LastError, ListStatus, SessionStatus, State, Status};
