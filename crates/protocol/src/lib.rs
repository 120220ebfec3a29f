//! The MCP protocol: frames, calls and replies, faults, revisions, and typed views of the
//! messages.
//!
//! This crate does no I/O and needs no runtime. A frame is parsed once ([`Frame::parse`]); its
//! payload stays raw ([`Raw`]) until a part of it is needed, so that members unknown to us are not
//! lost.

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

pub use call::{Call, CallRecord, Caller, Carried, Handler, Notify, Origin, Outcome, Part, Question, Reply};
pub use edit::{MemberEdit, Named};
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
