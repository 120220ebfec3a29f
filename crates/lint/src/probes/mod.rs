//! Probes: each asks a server one kind of question over the raw wire and leaves its exchanges as evidence.
//!
//! A probe judges nothing. It names its exchanges with [`Step`]s, by which rules find them.

mod another_list;
mod authorization;
mod bad_cursor;
mod batch;
mod cancelled_calls;
mod completion_edges;
mod completions;
mod envelopes;
mod foreign_origin;
mod fuzz_arguments;
mod fuzz_frames;
mod header_case;
mod http_edges;
mod http_headers;
mod injections;
mod interleaved;
mod listen;
mod listening;
mod lists;
mod lists_again;
mod lists_at_once;
mod logging;
mod malformed;
mod missing_meta;
mod notifications;
mod outgoing_calls;
mod ping;
mod prompt_gets;
mod removed_methods;
mod request_ids;
mod request_state;
mod resource_escape;
mod resource_reads;
mod sessions;
mod stage;
mod subscribe;
mod task_calls;
mod task_questions;
mod tool_calls;
mod undeclared;
mod unknown_method;
mod unknown_resource;
mod unknown_task;
mod unknown_tool;
mod unknown_version;

pub use another_list::{ANOTHER_LIST, ANOTHER_LIST_STEP};
pub use authorization::{
    AUTH_BARE_STEP, AUTH_EACH_STEP, AUTH_GARBAGE_STEP, AUTH_ISSUER_STEP, AUTH_LIST_STEP, AUTH_RESOURCE_STEP,
    AUTHORIZATION,
};
pub use bad_cursor::{BAD_CURSOR, BAD_CURSOR_STEP};
pub use batch::{BATCH, BATCH_AFTER, BATCH_STEP};
pub use cancelled_calls::{
    CANCEL_AFTER_STEP, CANCEL_STEP, CANCELLED_CALL_STEP, CANCELLED_CALLS, CLOSED_AFTER_STEP, CLOSED_CALL_STEP,
};
pub use completion_edges::{
    COMPLETED_STEP, COMPLETION_EDGES, COMPLETION_UNDECLARED_STEP, COMPLETION_UNKNOWN_STEP,
};
pub use completions::{COMPLETION_STEP, COMPLETIONS};
pub use envelopes::{ENVELOPES, ENVELOPES_AFTER, ENVELOPES_STEP};
pub use foreign_origin::{FOREIGN_HOST_STEP, FOREIGN_ORIGIN, FOREIGN_ORIGIN_STEP};
pub use fuzz_arguments::{FUZZ_ARGUMENTS, FUZZ_CALL_AFTER, FUZZ_CALL_STEP};
pub use fuzz_frames::{FUZZ_FRAME_AFTER, FUZZ_FRAME_STEP, FUZZ_FRAMES};
pub use header_case::{HEADER_CASE, HEADER_CASE_STEP};
pub use http_edges::{
    BAD_VERSION_HEADER_STEP, BOGUS_SESSION_STEP, DELETE_STEP, ENDED_SESSION_STEP, GET_STEP, HTTP_EDGES,
    METHOD_MISMATCH_STEP, METHOD_MISSING_STEP, NAME_ENCODED_STEP, NAME_MISMATCH_STEP, NAME_MISSING_STEP,
};
pub use http_headers::{ACCEPT_STEP, HTTP_HEADERS, MEDIA_TYPE_STEP, STREAM_END_STEP, VERSION_HEADER_STEP};
pub use injections::{
    COMMAND_CALL_STEP, DEEP_CALL_AFTER, DEEP_CALL_STEP, ESCAPE_CALL_STEP, INJECTIONS, LARGE_CALL_AFTER,
    LARGE_CALL_STEP, PRODUCT,
};
pub use interleaved::{INTERLEAVED, INTERLEAVED_STEP};
pub use listen::{LISTEN, LISTEN_AFTER_STEP, LISTEN_END_STEP, LISTEN_STEP};
pub use listening::{LISTENING, LISTENING_STEP};
pub use lists::{LISTS, MAX_PAGES};
pub use lists_again::{LISTS_AGAIN, TOOLS_AGAIN_STEP};
pub use lists_at_once::{LISTS_AT_ONCE, LISTS_AT_ONCE_STEP};
pub use logging::{LOGGING, SET_LEVEL_STEP, UNKNOWN_LEVEL_STEP};
pub use malformed::{MALFORMED, MALFORMED_AFTER, MALFORMED_STEP};
pub use missing_meta::{BARE_FIRST_STEP, MISSING_META, MISSING_META_STEP, STATELESS_STEP};
pub use notifications::{NOTIFICATIONS, NOTIFICATIONS_AFTER, NOTIFICATIONS_STEP};
pub use outgoing_calls::{OUTGOING_CALL_STEP, OUTGOING_CALLS};
pub use ping::{PING, PING_STEP};
pub use prompt_gets::{PROMPT_GET_STEP, PROMPT_GETS};
pub use removed_methods::{REMOVED_METHODS, REMOVED_METHODS_STEP};
pub use request_ids::{REQUEST_IDS, REQUEST_IDS_STEP};
pub use request_state::{REPLAYED_STATE_STEP, REQUEST_STATE, REQUEST_STATE_STEP};
pub use resource_escape::{RESOURCE_ESCAPE, RESOURCE_ESCAPE_STEP};
pub use resource_reads::{RESOURCE_READ_STEP, RESOURCE_READS};
pub use sessions::{SESSION_DELETE_STEP, SESSION_MISSING_STEP, SESSIONS};
pub use stage::{Known, Stage};
pub use subscribe::{SUBSCRIBE, SUBSCRIBE_STEP, SUBSCRIBE_UNDECLARED_STEP, UNSUBSCRIBE_STEP};
pub use task_calls::{TASK_CALL_STEP, TASK_CALLS, TASK_CANCEL_STEP, TASK_GET_STEP, TASK_LATER_STEP};
pub use task_questions::{TASK_QUESTIONS, TASK_STRANGER_STEP, TASK_UNKNOWN_STEP, TASKS_LIST_STEP};
pub use tool_calls::{TOOL_CALL_ILL_TYPED_STEP, TOOL_CALL_LACKING_STEP, TOOL_CALL_STEP, TOOL_CALLS};
pub use undeclared::{UNDECLARED, UNDECLARED_STEP};
pub use unknown_method::{UNKNOWN_METHOD, UNKNOWN_METHOD_STEP};
pub use unknown_resource::{
    PROMPT_LACKING_STEP, UNKNOWN_PROMPT_STEP, UNKNOWN_RESOURCE, UNKNOWN_RESOURCE_STEP,
};
pub use unknown_task::{UNKNOWN_TASK, UNKNOWN_TASK_STEP};
pub use unknown_tool::{UNKNOWN_TOOL, UNKNOWN_TOOL_STEP};
pub use unknown_version::{NO_SUCH_VERSION, UNKNOWN_VERSION, UNKNOWN_VERSION_STEP};

use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
};
use futures_util::future::BoxFuture;
use std::fmt;

/// One kind of question.
pub struct Probe {
    pub name: &'static str,
    pub mode: Mode,
    pub eras: Eras,
    pub carriers: Carriers,
    pub line: LineUse,
    pub run: for<'a> fn(&'a mut Stage) -> BoxFuture<'a, ()>,
}

/// On which line a probe asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineUse {
    /// On the main line, after one another: for questions that a right server survives.
    Shared,
    /// On the main line after all of those; for questions that may break a server. If one does, the next gets a new line.
    Risky,
    /// On a line of its own, introduced: for what must not be mixed with anything else. Starting a process is what costs most.
    Own,
    /// On a line of its own on which nothing was said.
    Fresh,
}

/// The first `initialize` of a line.
pub const INITIALIZE: Step = Step("initialize");
/// The notification that follows it.
pub const INITIALIZED: Step = Step("notifications/initialized");
/// The first `server/discover` of a line.
/// A modern question to a server that introduced itself in no era.
pub const UNINTRODUCED: Step = Step("unintroduced");
pub const DISCOVER: Step = Step("server/discover");
/// The introduction on a line that is not the main one.
pub const INTRODUCED_AGAIN: Step = Step("introduced-again");

/// The introduction itself: always run, by the engine.
pub static INTRODUCTION: Probe = Probe {
    name: "introduction",
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |_| Box::pin(async {}),
};

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("name", &self.name).field("mode", &self.mode).finish_non_exhaustive()
    }
}
