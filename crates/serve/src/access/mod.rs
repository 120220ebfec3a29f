//! Who asked for what, for an access log: one record per HTTP request, with the call it carried, and one per call that came over a
//! line (stdio, HTTP+SSE).
//!
//! The front of HTTP knows status, bytes and session; [`Logged`] knows the call and its end. They meet in a [`Note`] that belongs to
//! the request. Without a hook nothing of this is done.

mod logged;
mod note;
mod record;

pub use logged::Logged;
pub(crate) use note::{AccessRecord, logged, note};
pub use record::{Access, AccessHook, CallEnding, Way};
