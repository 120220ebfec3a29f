//! What is known of one request when it is over.

use ::http::Method;
use std::{
    borrow::Cow,
    net::IpAddr,
    sync::Arc,
    time::{Duration, SystemTime},
};
use trunkline_protocol::{Caller, Era, Outcome, method};

/// Hears of each request when it is over. It is called where requests are answered, so it must not wait.
pub type AccessHook = Arc<dyn Fn(Access) + Send + Sync>;

/// One request. It holds neither arguments nor results nor credentials; `target` and `path` are as the client wrote them.
#[derive(Debug, Clone)]
pub struct Access {
    pub at: SystemTime,
    pub took: Duration,
    pub way: Way,
    /// Nobody, when the request was not let in.
    pub caller: Option<Arc<Caller>>,
    /// The method of the call, or of the notification.
    pub method: Option<Cow<'static, str>>,
    /// The tool, prompt, resource or task that the call names.
    pub target: Option<String>,
    /// How the call ended, where it has.
    pub ending: Option<CallEnding>,
    /// Bytes of the body, or of the parameters of a call.
    pub bytes_in: u64,
    /// Bytes of the answer's body, or of the result of a call.
    pub bytes_out: u64,
    pub trace_id: Option<[u8; 16]>,
    /// A hash of the session's id; the id itself would let others in.
    pub session: Option<String>,
    /// The answer was not sent to its end: the client went away, or the server stopped.
    pub cut: bool,
}

/// How a request came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// Over HTTP. No status: the client went away before there was one.
    Http { verb: Method, path: String, peer: IpAddr, status: Option<u16> },
    /// Over HTTP, but its head could not be read, so that nothing else is known of it.
    Unread { peer: IpAddr, status: u16, reason: String },
    /// Over stdio or HTTP+SSE, or by itself after its request was over; with the view it came to.
    Line { view: Option<Arc<str>> },
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnding {
    Fine,
    /// The tool said that it failed.
    ToolError,
    /// The number in the JSON-RPC error, and the catalogue's code.
    Failed {
        code: i64,
        app_code: &'static str,
    },
    /// The client went away, or asked to stop.
    Cancelled,
}

impl Access {
    /// A request that was refused because its head cannot be read.
    pub(crate) fn refused(peer: IpAddr, status: u16, reason: String) -> Self {
        Self {
            at: SystemTime::now(),
            took: Duration::ZERO,
            way: Way::Unread { peer, status, reason },
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
