//! The MCP language: frames, calls and replies, faults, revisions, and typed views of the messages.
//!
//! This crate does no I/O and has no runtime. A frame is read once ([`Frame::parse`]); what it carries stays raw
//! ([`Raw`]) until somebody needs a part of it, so that nothing is lost that we do not understand.

mod call;
mod edit;
mod envelope;
pub mod fault;
mod id;
mod lookup;
mod malformed;
pub mod message;
pub mod method;
mod name;
mod number;
mod object;
mod raw;
mod revision;
mod scan;
mod session;
pub mod time;
mod view;

pub use call::{Call, Caller, Handler, Notify, Outcome, Part, Question, Reply};
pub use edit::{Named, Sifted};
pub use envelope::{Envelope, ErrorObject, Frame, MAX_BATCH, Notification, Request, Response};
pub use fault::{Fault, FaultKind};
pub use id::{MAX_ID_BYTES, RequestId};
pub use lookup::{Found, RareMember};
pub use malformed::{Defect, Malformed};
pub use name::{
    BadPublicName, BadServerName, Collision, MAX_PUBLIC_NAME, MAX_SERVER_NAME, NameMap, PublicName,
    ServerName, ToolName,
};
pub use number::Number;
pub use object::Object;
pub use raw::Raw;
pub use revision::{Era, Revision, UnknownRevision};
pub use scan::MAX_DEPTH;
pub use session::{Connect, ConnectError, Profile, Session};
