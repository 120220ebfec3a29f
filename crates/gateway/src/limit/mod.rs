//! Rate limits: how often a caller may call, and how often a tool may be called.

mod limited;

pub use limited::{Limited, Limits};
pub use trunkline_resilience::Quota;
