//! The access log: one record per HTTP request, including the call that it carried, and one per
//! call received over stdio or HTTP+SSE.
//!
//! The HTTP layer knows status, bytes and session; [`Logged`] knows the call and its outcome. Both
//! write to the [`Note`] of the request. Without a hook nothing is recorded.

mod logged;
mod note;
mod record;

pub use logged::Logged;
pub(crate) use note::{AccessRecord, logged, note};
pub use record::{Access, AccessHook, AccessTransport, CallEnding};
