//! Rate limits per caller and per tool.

mod limited;

pub use limited::{Limited, Limits, ToolNames};
pub use trunkline_resilience::Quota;
