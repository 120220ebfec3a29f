//! Rate limits per caller and per tool.

mod limited;

pub use limited::{Limited, Limits};
pub use trunkline_resilience::Quota;
