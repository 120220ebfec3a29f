//! Upstream: one server behind the gateway, however it is reached and however often it comes and goes.

mod connect;
mod offer;

pub use connect::{Broken, Connect, Profile, Session};
pub use offer::{Kind, Offer};
