//! Upstream: one server behind the gateway, with its sessions, limits and lists.
//!
//! [`Connect`](trunkline_protocol::Connect) opens sessions; `client` implements it. [`Upstream`]
//! keeps them in a pool. A supervisor task connects, reads the lists and stops an idle server. A
//! call (`call`) waits for a slot (`bulkhead`), leases its caller's session, and is repeated only
//! if that does no harm.

mod attempt;
mod bulkhead;
mod by_command;
mod call;
mod comparison;
mod core;
mod era;
mod event;
mod faults;
mod in_process;
mod item;
mod latency;
mod layered;
mod links;
mod lists;
mod live_session;
mod liveness;
mod loops;
mod offer;
mod open;
mod options;
mod personal;
mod server;
mod session_pool;
mod status;
mod supervise;
#[cfg(test)]
mod tests;

pub use event::Event;
pub use in_process::InProcess;
pub use item::Quarantined;
pub use latency::Percentiles;
pub use layered::layered;
pub use loops::{BEHIND, behind};
pub use offer::{Kind, Offer};
pub use options::{
    Annotations, BulkheadOptions, ListOptions, PoolOptions, RestartOptions, Sessions, Start, ToolOptions,
    ToolRules, UpstreamOptions,
};
pub use personal::{ConnectAs, Identity};
pub use server::Upstream;
pub use status::{BreakerStatus, Calls, Health, LastError, ListStatus, SessionStatus, State, Status};
