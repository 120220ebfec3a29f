//! Many servers as one handler: catalog, policy, views, upstreams; and layers: limits, audit,
//! hooks, tracing.
//!
//! Limits, audit, hooks and tracing are handlers that wrap another handler; the binary's
//! `wire/stack.rs` defines their order in front of the [`Gateway`].

pub mod approval;
pub mod audit;
pub mod catalog;
pub mod classic;
pub mod cut;
pub mod disclosure;
pub mod explain;
pub mod gateway;
pub mod hook;
pub mod limit;
pub mod metrics;
pub mod policy;
mod rewrite;
pub mod status;
pub mod trace;
pub mod upstream;
pub mod view;

pub use gateway::{Gateway, GatewayOptions};
pub use rewrite::{StateOptions, States};
