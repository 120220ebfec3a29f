//! Constants for the protocol's method names.

use crate::raw::text_in;
use std::borrow::Cow;

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $text;)*

        /// The constant for a known method name.
        fn known(name: &str) -> Option<&'static str> {
            match name {
                $($text => Some($text),)*
                _ => None,
            }
        }
    };
}

methods! {
    INITIALIZE = "initialize";
    INITIALIZED = "notifications/initialized";
    DISCOVER = "server/discover";
    PING = "ping";
    CANCELLED = "notifications/cancelled";
    PROGRESS = "notifications/progress";
    TOOLS_LIST = "tools/list";
    TOOLS_CALL = "tools/call";
    TOOLS_CHANGED = "notifications/tools/list_changed";
    RESOURCES_LIST = "resources/list";
    RESOURCES_READ = "resources/read";
    RESOURCES_TEMPLATES = "resources/templates/list";
    RESOURCES_SUBSCRIBE = "resources/subscribe";
    RESOURCES_UNSUBSCRIBE = "resources/unsubscribe";
    RESOURCES_CHANGED = "notifications/resources/list_changed";
    RESOURCE_UPDATED = "notifications/resources/updated";
    PROMPTS_LIST = "prompts/list";
    PROMPTS_GET = "prompts/get";
    PROMPTS_CHANGED = "notifications/prompts/list_changed";
    COMPLETE = "completion/complete";
    SET_LEVEL = "logging/setLevel";
    MESSAGE = "notifications/message";
    CREATE_MESSAGE = "sampling/createMessage";
    ELICIT = "elicitation/create";
    ELICITATION_COMPLETE = "notifications/elicitation/complete";
    ROOTS_LIST = "roots/list";
    ROOTS_CHANGED = "notifications/roots/list_changed";
    LISTEN = "subscriptions/listen";
    ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
    TASKS_GET = "tasks/get";
    TASKS_RESULT = "tasks/result";
    TASKS_LIST = "tasks/list";
    TASKS_CANCEL = "tasks/cancel";
    TASKS_UPDATE = "tasks/update";
    TASK_STATUS = "notifications/tasks/status";
    TASK_CHANGED = "notifications/tasks";
}

/// The method name, without an allocation if it is a known one.
pub fn intern(name: &str) -> Cow<'static, str> {
    known(name).map_or_else(|| Cow::Owned(name.to_owned()), Cow::Borrowed)
}

/// Decodes a method name from JSON text; `None` if it is not a string.
pub(crate) fn read(json: &[u8]) -> Option<Cow<'static, str>> {
    text_in(json).map(|name| intern(&name))
}

/// The capability that a client must declare to receive this request from a server.
pub fn capability_for(question: &str) -> Option<&'static str> {
    match question {
        CREATE_MESSAGE => Some("sampling"),
        ELICIT => Some("elicitation"),
        ROOTS_LIST => Some("roots"),
        _ => None,
    }
}

/// True if a request of this method changes at most the session's own state on the server, so it
/// is safe to send it twice. Tools may have side effects, and unknown methods are treated like
/// tools.
pub fn only_asks(name: &str) -> bool {
    matches!(
        name,
        INITIALIZE
            | DISCOVER
            | PING
            | TOOLS_LIST
            | RESOURCES_LIST
            | RESOURCES_READ
            | RESOURCES_TEMPLATES
            | RESOURCES_SUBSCRIBE
            | RESOURCES_UNSUBSCRIBE
            | PROMPTS_LIST
            | PROMPTS_GET
            | COMPLETE
            | SET_LEVEL
            | LISTEN
            | TASKS_GET
            | TASKS_RESULT
            | TASKS_LIST
    )
}

/// The member of `params` that names the request's target. The header `Mcp-Name` repeats it.
pub fn named_by(name: &str) -> Option<&'static str> {
    match name {
        TOOLS_CALL | PROMPTS_GET => Some("name"),
        RESOURCES_READ => Some("uri"),
        TASKS_GET | TASKS_UPDATE | TASKS_CANCEL => Some("taskId"),
        _ => None,
    }
}
