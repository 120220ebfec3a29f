//! Many servers as one, and what stands in front of them: catalog, policy, views, upstreams, limits, audit.
//!
//! Each is a handler around handlers. [`audit::Audited`] belongs outside [`limit::Limited`], so that refused calls are recorded
//! as well; both belong outside the [`Gateway`].

mod around;
pub mod audit;
pub mod catalog;
pub mod gateway;
pub mod limit;
pub mod metrics;
pub mod policy;
mod rewrite;
pub mod status;
mod timers;
pub mod trace;
pub mod upstream;
pub mod view;

pub use gateway::{Gateway, GatewayOptions};
