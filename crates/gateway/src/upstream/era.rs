//! What differs between upstreams of the two eras: who may share a session, and how changes are heard.

use super::options::Sessions;
use trunkline_protocol::{Era, Revision, method};

/// Who may use a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    Everyone,
    OneProfile,
}

/// A modern server learns with every request who asks and what the client can do; a legacy one hears it once.
pub(super) fn sharing(revision: Revision, sessions: Sessions) -> Sharing {
    match (revision.era(), sessions) {
        (Era::Modern, _) | (Era::Legacy, Sessions::Shared) => Sharing::Everyone,
        (Era::Legacy, Sessions::PerCaller) => Sharing::OneProfile,
    }
}

/// A request that a server of this revision answers at once.
pub(super) fn sign_of_life(revision: Revision) -> &'static str {
    match revision.era() {
        Era::Modern => method::DISCOVER,
        Era::Legacy => method::PING,
    }
}

/// Whether changes of lists are told only to whoever listens for them.
pub(super) fn must_listen(revision: Revision) -> bool {
    revision.era() == Era::Modern
}
