//! The names of the protocol's methods, spelled once.

use crate::raw::text_in;
use std::borrow::Cow;

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $text;)*

        /// The method of this name, if we know it; the compiler looks at its length first.
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

/// A method name without an allocation where we know it.
pub fn intern(name: &str) -> Cow<'static, str> {
    known(name).map_or_else(|| Cow::Owned(name.to_owned()), Cow::Borrowed)
}

/// The method that this JSON text names; `None` when it is not a string.
pub(crate) fn read(json: &[u8]) -> Option<Cow<'static, str>> {
    text_in(json).map(|name| intern(&name))
}

/// What a client declares that can be asked this.
pub fn capability_for(question: &str) -> Option<&'static str> {
    match question {
        CREATE_MESSAGE => Some("sampling"),
        ELICIT => Some("elicitation"),
        ROOTS_LIST => Some("roots"),
        _ => None,
    }
}

/// Whether a request of this method changes nothing on the server's side but the conversation itself, so that sending it twice
/// does no harm. A tool may do anything; a method we do not know is treated like a tool.
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

/// The member of `params` that names what a request is about, and that `Mcp-Name` repeats.
pub fn named_by(name: &str) -> Option<&'static str> {
    match name {
        TOOLS_CALL | PROMPTS_GET => Some("name"),
        RESOURCES_READ => Some("uri"),
        TASKS_GET | TASKS_UPDATE | TASKS_CANCEL => Some("taskId"),
        _ => None,
    }
}
