//! Signed heads: statements of the operator's key about how far a trail goes.
//!
//! The chain alone has no secret, so whoever can write the files can rewrite all of them. A
//! [`SignedHead`] names the last record on disk and is signed with Ed25519. It is kept beside the
//! segments in one file, which each newer head replaces, and can be sent elsewhere. A thread of its
//! own signs, so no call waits for it.

mod file;
mod head;
mod key;
mod signer;

pub use head::{NotSigned, SignedHead};
pub use key::{BadKey, PublicKey, SigningKey};
pub use signer::{HeadSink, Signing};

pub(super) use file::{continues, read, write};
pub(super) use signer::Signer;
