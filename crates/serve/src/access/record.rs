//! One record of the access log.

use ::http::Method;
use std::{
    borrow::Cow,
    net::IpAddr,
    sync::Arc,
    time::{Duration, SystemTime},
};
use trunkline_protocol::{Caller, Era, Outcome, method};

/// Called with the record of each request after it ended. Runs on the serving threads, so it must
/// not block.
pub type AccessHook = Arc<dyn Fn(Access) + Send + Sync>;

/// One request. Contains no arguments, results or credentials. `target` and `path` are unescaped
/// client input.
#[derive(Debug, Clone)]
pub struct Access {
    pub at: SystemTime,
    pub took: Duration,
    pub way: AccessTransport,
    /// `None` if the request was refused before its caller was identified.
    pub caller: Option<Arc<Caller>>,
    /// The method of the call, or of the notification.
    pub method: Option<Cow<'static, str>>,
    /// The tool, prompt, resource or task that the call names.
    pub target: Option<String>,
    /// `None` if the request carried no call, or the call has not ended yet.
    pub ending: Option<CallEnding>,
    /// Size of the request body; without HTTP, of the call's parameters.
    pub bytes_in: u64,
    /// Size of the response body; without HTTP, of the call's result.
    pub bytes_out: u64,
    pub trace_id: Option<[u8; 16]>,
    /// A hash of the session id. The id itself is a credential and must not be logged.
    pub session: Option<String>,
    /// The response was not sent completely: the client disconnected, or the server stopped.
    pub cut: bool,
}

/// The transport of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessTransport {
    /// Over HTTP. `status` is `None` if the client disconnected before the response.
    Http { verb: Method, path: String, peer: IpAddr, status: Option<u16> },
    /// Over HTTP, with a head that could not be parsed; nothing else is known.
    Unread { peer: IpAddr, status: u16, reason: String },
    /// A call over stdio or HTTP+SSE, or one that outlived its HTTP request.
    Stream { view: Option<Arc<str>> },
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnding {
    Fine,
    /// The result has `isError: true`.
    ToolError,
    /// The JSON-RPC error number, and the code of our error catalogue.
    Failed {
        code: i64,
        app_code: &'static str,
    },
    /// The client disconnected or sent a cancellation.
    Cancelled,
}

impl Access {
    /// The record of a request whose head cannot be parsed.
    pub(crate) fn refused(peer: IpAddr, status: u16, reason: String) -> Self {
        Self {
            at: SystemTime::now(),
            took: Duration::ZERO,
            way: AccessTransport::Unread { peer, status, reason },
            caller: None,
            method: None,
            target: None,
            ending: None,
            bytes_in: 0,
            bytes_out: 0,
            trace_id: None,
            session: None,
            cut: false,
        }
    }
}

impl CallEnding {
    pub(super) fn of(asked: &str, outcome: &Outcome) -> Self {
        match outcome {
            Ok(result)
                if asked == method::TOOLS_CALL && result.member_as::<bool>("isError") == Some(true) =>
            {
                Self::ToolError
            }
            Ok(_) => Self::Fine,
            Err(fault) => Self::Failed {
                code: fault.original_mcp_code().unwrap_or_else(|| fault.entry().rpc_code(Era::Modern)),
                app_code: fault.entry().code,
            },
        }
    }
}
