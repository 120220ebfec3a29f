//! Which requests may be sent a second time.

use crate::resilience::Safety;
use trunkline_protocol::method;

/// Whether repeating a request of this method does no harm. A tool may do anything, so a call is sent once unless the caller
/// knows better; a method we do not know is treated like a tool.
pub(crate) fn safety_of(name: &str) -> Safety {
    match name {
        method::INITIALIZE
        | method::DISCOVER
        | method::PING
        | method::TOOLS_LIST
        | method::RESOURCES_LIST
        | method::RESOURCES_READ
        | method::RESOURCES_TEMPLATES
        | method::RESOURCES_SUBSCRIBE
        | method::RESOURCES_UNSUBSCRIBE
        | method::PROMPTS_LIST
        | method::PROMPTS_GET
        | method::COMPLETE
        | method::SET_LEVEL
        | method::LISTEN
        | method::TASKS_GET
        | method::TASKS_LIST
        | method::TASKS_RESULT => Safety::Repeatable,
        _ => Safety::AtMostOnce,
    }
}
