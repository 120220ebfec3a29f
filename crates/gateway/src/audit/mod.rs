//! The audit trail: who called what, when, and how it ended, in tamper-evident files.
//!
//! Each call has a *start* and an *end* record. A record is one line of JSON in ASCII, with a
//! sequence number and a hash over the previous record's hash and its own text. Lines are appended
//! to numbered *segments* (`audit-000001.jsonl`); the first record of a segment names the hash
//! that it follows. The file `head` names the last record known to be on disk, so that [`verify`]
//! detects a truncated trail.
//!
//! A caller writes its record together with all queued ones; a thread does the slow work.
//! Guarantees:
//! - A call is answered after its end record was written: killing the process loses no answered
//!   call.
//! - A call that may change something runs after its start record was synced to disk
//!   ([`Durability::Sync`]), or it is refused.
//! - A failed write or sync is never repeated on the same file, whose state is then unknown: a new
//!   segment continues after the last record known to be on disk and repeats all later ones.
//!
//! The chain has no secret key: it reveals damage and partial changes, but not a forged trail that
//! was rewritten as a whole. A [`SignedHead`] reveals that too, up to the record that it names; one
//! that was kept elsewhere also reveals that the trail was reset to an older state.

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
mod signing;
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
pub(crate) use redact::masked;
pub use redact::{Redaction, mask};
pub use signing::{BadKey, HeadSink, NotSigned, PublicKey, SignedHead, Signing, SigningKey};
pub use status::Status;
pub use tail::{Tail, tail};
pub use trail::{Trail, sign_existing};
pub use verify::{Anchor, Problem, ProblemKind, Proof, Report, verify, verify_signed};
