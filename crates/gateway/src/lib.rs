//! What stands in front of handlers: limits, audit.
//!
//! Both are handlers around a handler. [`audit::Audited`] belongs outside [`limit::Limited`], so that refused calls are
//! recorded as well.

pub mod audit;
pub mod limit;
pub mod upstream;
