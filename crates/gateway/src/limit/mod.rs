//! Rate limits: how often a caller may call, and how often a tool may be called.

mod limited;
mod rate;

pub use limited::{Limited, Limits};
pub use rate::{Quota, Rate, TooSoon};
