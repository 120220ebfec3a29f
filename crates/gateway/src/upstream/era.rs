//! Differences between modern and legacy upstreams: shared sessions, liveness, list changes.

use super::options::Sessions;
use trunkline_protocol::{Era, Revision, method};

/// The clients that may use a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    Everyone,
    OneProfile,
}

/// A modern server gets the client's capabilities with every request; a legacy one only at the
/// start.
pub(super) fn sharing(revision: Revision, sessions: Sessions) -> Sharing {
    match (revision.era(), sessions) {
        (Era::Modern, _) | (Era::Legacy, Sessions::Shared) => Sharing::Everyone,
        (Era::Legacy, Sessions::PerCaller) => Sharing::OneProfile,
    }
}

/// True if the server answered the handshake with another revision than the one offered. The
/// newest revision has no handshake.
pub(super) fn is_other(offered: Revision, revision: Revision) -> bool {
    revision.era() == Era::Legacy && revision != offered
}

/// A request that a server of this revision answers at once.
pub(super) fn sign_of_life(revision: Revision) -> &'static str {
    match revision.era() {
        Era::Modern => method::DISCOVER,
        Era::Legacy => method::PING,
    }
}

/// True if the server announces changes of lists only to subscribers.
pub(super) fn must_listen(revision: Revision) -> bool {
    revision.era() == Era::Modern
}
