//! Probes: each sends one kind of request over the raw wire and records the exchanges as evidence.
//!
//! A probe does not judge. It tags its exchanges with [`Step`]s, by which rules find them.

mod another_list;
mod authorization;
mod bad_cursor;
mod batch;
mod cancelled_calls;
mod client_response;
mod completion_edges;
mod completions;
mod envelopes;
mod first_request;
mod foreign_origin;
mod fuzz_arguments;
mod fuzz_frames;
mod header_case;
mod http_edges;
mod http_headers;
mod injections;
mod interleaved;
mod json_spelling;
mod line_endings;
mod listed_versions;
mod listen;
mod listening;
mod lists;
mod lists_again;
mod lists_at_once;
mod logging;
mod malformed;
mod metadata;
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
mod unicode;
mod unknown_method;
mod unknown_resource;
mod unknown_task;
mod unknown_tool;
mod unknown_version;

pub(crate) use another_list::{ANOTHER_LIST, ANOTHER_LIST_STEP};
pub(crate) use authorization::{
    AUTH_BARE_STEP, AUTH_EACH_STEP, AUTH_GARBAGE_STEP, AUTH_ISSUER_STEP, AUTH_LIST_STEP, AUTH_RESOURCE_STEP,
    AUTHORIZATION,
};
pub(crate) use bad_cursor::{BAD_CURSOR, BAD_CURSOR_STEP};
pub(crate) use batch::{BATCH, BATCH_AFTER, BATCH_STEP};
pub(crate) use cancelled_calls::{
    CANCEL_AFTER_STEP, CANCEL_STEP, CANCELLED_CALL_STEP, CANCELLED_CALLS, CLOSED_AFTER_STEP, CLOSED_CALL_STEP,
};
pub(crate) use client_response::{CLIENT_RESPONSE, CLIENT_RESPONSE_AFTER, CLIENT_RESPONSE_STEP, NO_REQUEST};
pub(crate) use completion_edges::{
    COMPLETED_STEP, COMPLETION_EDGES, COMPLETION_UNDECLARED_STEP, COMPLETION_UNKNOWN_STEP,
};
pub(crate) use completions::{COMPLETION_STEP, COMPLETIONS};
pub(crate) use envelopes::{ENVELOPES, ENVELOPES_AFTER, ENVELOPES_STEP};
pub(crate) use first_request::{FIRST_REQUEST, FIRST_REQUEST_STEP};
pub(crate) use foreign_origin::{FOREIGN_HOST_STEP, FOREIGN_ORIGIN, FOREIGN_ORIGIN_STEP, PREFLIGHT_STEP};
pub(crate) use fuzz_arguments::{FUZZ_ARGUMENTS, FUZZ_CALL_AFTER, FUZZ_CALL_STEP};
pub(crate) use fuzz_frames::{FUZZ_FRAME_AFTER, FUZZ_FRAME_STEP, FUZZ_FRAMES};
pub(crate) use header_case::{HEADER_CASE, HEADER_CASE_STEP};
pub(crate) use http_edges::{
    BAD_VERSION_HEADER_STEP, BOGUS_SESSION_STEP, DELETE_STEP, GET_STEP, HTTP_EDGES, METHOD_MISMATCH_STEP,
    METHOD_MISSING_STEP, NAME_ENCODED_STEP, NAME_MISMATCH_STEP, NAME_MISSING_STEP,
};
pub(crate) use http_headers::{
    ACCEPT_FORM_STEP, ACCEPT_STEP, HTTP_HEADERS, MEDIA_PARAMETER_STEP, MEDIA_TYPE_STEP, OLDER_REVISION_AFTER,
    OLDER_REVISION_STEP, STREAM_END_STEP, VERSION_HEADER_STEP,
};
pub(crate) use injections::{
    COMMAND_CALL_STEP, DEEP_CALL_AFTER, ESCAPE_CALL_STEP, INJECTIONS, LARGE_CALL_AFTER, LARGE_CALL_STEP,
    PRODUCT,
};
pub(crate) use interleaved::{INTERLEAVED, INTERLEAVED_STEP};
pub(crate) use json_spelling::{JSON_SPELLING, JSON_SPELLING_STEP};
pub(crate) use line_endings::{LINE_ENDINGS, LINE_ENDINGS_STEP};
pub(crate) use listed_versions::{LISTED_VERSION_STEP, LISTED_VERSIONS};
pub(crate) use listen::{LISTEN, LISTEN_AFTER_STEP, LISTEN_END_STEP, LISTEN_STEP};
pub(crate) use listening::{LISTENING, LISTENING_STEP};
pub(crate) use lists::{LISTS, MAX_PAGES};
pub(crate) use lists_again::{LISTS_AGAIN, TOOLS_AGAIN_STEP};
pub(crate) use lists_at_once::{LISTS_AT_ONCE, LISTS_AT_ONCE_STEP};
pub(crate) use logging::{LOGGING, SET_LEVEL_STEP, UNKNOWN_LEVEL_STEP};
pub(crate) use malformed::{MALFORMED, MALFORMED_AFTER, MALFORMED_STEP};
pub(crate) use metadata::{LONG, LONG_REQUEST_AFTER, LONG_REQUEST_STEP, METADATA, METADATA_STEP};
pub(crate) use missing_meta::{BARE_FIRST_STEP, MISSING_META, MISSING_META_STEP, STATELESS_STEP};
pub(crate) use notifications::{NOTIFICATIONS, NOTIFICATIONS_AFTER, NOTIFICATIONS_STEP};
pub(crate) use outgoing_calls::{OUTGOING_CALL_STEP, OUTGOING_CALLS};
pub(crate) use ping::{PING, PING_STEP};
pub(crate) use prompt_gets::{PROMPT_BARE_STEP, PROMPT_GET_STEP, PROMPT_GETS};
pub(crate) use removed_methods::{REMOVED_METHODS, REMOVED_METHODS_STEP};
pub(crate) use request_ids::{ABOVE_SAFE, LARGE_ID_STEP, REQUEST_IDS, REQUEST_IDS_STEP};
pub(crate) use request_state::{REPLAYED_STATE_STEP, REQUEST_STATE, REQUEST_STATE_STEP};
pub(crate) use resource_escape::{RESOURCE_ESCAPE, RESOURCE_ESCAPE_STEP};
pub(crate) use resource_reads::{RESOURCE_READ_STEP, RESOURCE_READS};
pub(crate) use sessions::{
    ENDED_SESSION_STEP, FIRST_CLIENT_STEP, INITIALIZE_AGAIN_STEP, OTHER_SESSION_STEP, SECOND_CLIENT_STEP,
    SESSION_DELETE_STEP, SESSION_MISSING_STEP, SESSIONS,
};
pub use stage::{Known, Stage};
pub(crate) use subscribe::{SUBSCRIBE, SUBSCRIBE_STEP, SUBSCRIBE_UNDECLARED_STEP, UNSUBSCRIBE_STEP};
pub(crate) use task_calls::{TASK_CALL_STEP, TASK_CALLS, TASK_CANCEL_STEP, TASK_GET_STEP, TASK_LATER_STEP};
pub(crate) use task_questions::{TASK_QUESTIONS, TASK_STRANGER_STEP, TASK_UNKNOWN_STEP, TASKS_LIST_STEP};
pub(crate) use tool_calls::{
    TOOL_CALL_BARE_STEP, TOOL_CALL_ILL_TYPED_STEP, TOOL_CALL_LACKING_STEP, TOOL_CALL_STEP, TOOL_CALLS,
};
pub(crate) use undeclared::{UNDECLARED, UNDECLARED_STEP};
pub(crate) use unicode::{MARK, TEXT, UNICODE, UNICODE_STEP};
pub(crate) use unknown_method::{UNKNOWN_METHOD, UNKNOWN_METHOD_STEP};
pub(crate) use unknown_resource::{
    PROMPT_LACKING_STEP, UNKNOWN_PROMPT_STEP, UNKNOWN_RESOURCE, UNKNOWN_RESOURCE_STEP,
};
pub(crate) use unknown_task::{UNKNOWN_TASK, UNKNOWN_TASK_STEP};
pub(crate) use unknown_tool::{UNKNOWN_TOOL, UNKNOWN_TOOL_STEP};
pub(crate) use unknown_version::{LATER_CLIENT_STEP, NO_SUCH_VERSION, UNKNOWN_VERSION, UNKNOWN_VERSION_STEP};

use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
};
use futures_util::future::BoxFuture;
use std::fmt;

/// One kind of test requests.
pub struct Probe {
    pub name: &'static str,
    pub mode: Mode,
    pub eras: Eras,
    pub carriers: Carriers,
    pub line: LineUse,
    pub run: Run,
}

type Run = for<'a> fn(&'a mut Stage) -> BoxFuture<'a, ()>;

/// The line that a probe uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineUse {
    /// The main line, sequentially: for requests that a correct server survives.
    Shared,
    /// The main line, after all `Shared` probes: for requests that may break the server. If one
    /// does, the next probe gets a new line.
    Risky,
    /// An own line with an introduction, for requests that must not mix with others. It is
    /// expensive where the server is a process, which has to be started.
    Own,
    /// An own line without an introduction.
    Fresh,
    /// An own line with an introduction, after all other probes: for requests that may disturb
    /// other lines to the same server.
    Last,
}

/// The first `initialize` of a line.
pub(crate) const INITIALIZE: Step = Step("initialize");
/// The notification that follows it.
pub(crate) const INITIALIZED: Step = Step("notifications/initialized");
/// The first `server/discover` of a line.
pub(crate) const DISCOVER: Step = Step("server/discover");
/// A modern request to a server without an introduction in either era.
pub(crate) const UNINTRODUCED: Step = Step("unintroduced");
/// The introduction on a line that is not the main one.
pub(crate) const INTRODUCED_AGAIN: Step = Step("introduced-again");

/// The introduction itself, which the engine always runs.
pub(crate) static INTRODUCTION: Probe = Probe::new("introduction", Mode::Passive, |_| Box::pin(async {}));

impl Probe {
    /// A probe for both eras and all carriers, on the shared line.
    const fn new(name: &'static str, mode: Mode, run: Run) -> Self {
        Self { name, mode, eras: Eras::Both, carriers: Carriers::Any, line: LineUse::Shared, run }
    }

    const fn eras(self, eras: Eras) -> Self {
        Self { eras, ..self }
    }

    const fn carriers(self, carriers: Carriers) -> Self {
        Self { carriers, ..self }
    }

    const fn line(self, line: LineUse) -> Self {
        Self { line, ..self }
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("name", &self.name).field("mode", &self.mode).finish_non_exhaustive()
    }
}
