//! The audit trail: a record of every call and its end, in files that reveal changes.
//!
//! Each call has a *start* and an *end* record. A record is one line of JSON in ASCII, with a
//! sequence number and a hash over the hash of the record before it and its own text. Lines are
//! appended to numbered *segments* (`audit-000001.jsonl`), each opening with a record that names the
//! hash it follows. The file `head` says how far the trail was known to be on disk, so that a
//! truncated trail is found ([`verify`]).
//!
//! A caller writes its record together with all that are queued; a thread does what takes long. The
//! guarantees:
//! - The answer of a call is handed out after its end record was written: killing the process loses
//!   no answered call.
//! - A call that may change something runs after its start record was synced to disk
//!   ([`Durability::Sync`]), or it is refused.
//! - A write or sync that fails is never repeated on the same file, whose state is unknown then: a
//!   new segment goes on from the last record known to be on disk, with everything after it.
//!
//! The chain has no secret: it finds damage and clumsy changes, but not a forger who writes the whole
//! trail anew. To find that too, keep a [`Report::last`] elsewhere.

mod audited;
mod clock;
mod disk;
#[cfg(test)]
mod faults;
mod journal;
mod line;
mod members;
mod open_call;
mod options;
mod outcome;
mod pace;
mod record;
mod recover;
mod redact;
mod status;
mod tail;
#[cfg(test)]
mod tests;
mod trail;
mod verify;
mod writer;

pub use audited::{Audited, ReadOnly};
pub use clock::rfc3339;
pub use disk::OpenError;
pub use members::quote;
pub use options::{Durability, OnFailure, Options};
pub use redact::{Redaction, mask};
pub use status::Status;
pub use tail::{Tail, tail};
pub use trail::Trail;
pub use verify::{Anchor, Problem, ProblemKind, Report, verify};
