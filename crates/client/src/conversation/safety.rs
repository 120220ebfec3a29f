//! Which requests may be sent a second time.

use crate::resilience::Safety;
use trunkline_protocol::method;

/// Whether repeating a request of this method does no harm. A tool may do anything, so a call is sent once unless the caller
/// knows better; a method we do not know is treated like a tool.
pub(crate) fn safety_of(name: &str) -> Safety {
    if method::only_asks(name) { Safety::Repeatable } else { Safety::AtMostOnce }
}
