//! Rate limits per caller and per tool.

mod limited;
mod rates;

pub use limited::Limited;
pub use rates::{Limits, Rates, ToolNames};
pub use trunkline_resilience::Quota;
