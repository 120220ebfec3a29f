//! A finished span.

use crate::audit::mask;
use std::{
    borrow::Cow,
    sync::Arc,
    time::{Duration, SystemTime},
};
use trunkline_protocol::{Caller, Era, Fault, Object, Outcome, Raw, message::says_error, method};

/// Longest name or URI that is kept, in bytes.
const MAX_NAME: usize = 256;

/// One span of a trace.
#[derive(Debug, Clone)]
pub struct Span {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
    /// The parent span.
    pub parent: Option<[u8; 8]>,
    /// The trace flags that were sent on.
    pub flags: u8,
    /// `tracestate` as received.
    pub trace_state: Option<String>,
    pub side: Side,
    pub method: Cow<'static, str>,
    pub about: About,
    pub caller: Arc<Caller>,
    /// The view that was called.
    pub view: Option<Arc<str>>,
    /// The protocol revision used with the peer of this span.
    pub revision: Option<String>,
    pub started: SystemTime,
    pub took: Duration,
    pub ending: Ending,
}

/// The side of the call that the span describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Side {
    /// The gateway as a server.
    Server,
    /// The gateway as a client of this upstream.
    Client(Arc<str>),
}

/// The target of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    Nothing,
    Tool(String),
    Prompt(String),
    /// A URI; anything that looks like a secret is masked.
    Resource(String),
}

/// The end of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Fine,
    /// The tool's result has `isError`.
    ToolError,
    Failed {
        /// The JSON-RPC error code.
        code: i64,
        /// The code in the error catalogue.
        app_code: &'static str,
        /// The message of the error catalogue; that of a server may contain arguments.
        said: &'static str,
    },
    /// The caller disconnected or cancelled the call.
    Cancelled,
}

impl About {
    pub(super) fn of(asked: &str, params: &Object) -> Self {
        let text = |name| params.get(name).and_then(|raw: &Raw| raw.decode::<String>().ok()).map(short);
        let about = match asked {
            method::TOOLS_CALL => text("name").map(Self::Tool),
            method::PROMPTS_GET => text("name").map(Self::Prompt),
            method::RESOURCES_READ | method::RESOURCES_SUBSCRIBE | method::RESOURCES_UNSUBSCRIBE => {
                text("uri").map(|uri| Self::Resource(mask(&uri)))
            }
            _ => None,
        };
        about.unwrap_or(Self::Nothing)
    }
}

impl Ending {
    pub(super) fn of(asked: &str, outcome: &Outcome) -> Self {
        match outcome {
            Ok(result) if asked == method::TOOLS_CALL && says_error(result) => Self::ToolError,
            Ok(_) => Self::Fine,
            Err(fault) => Self::failed(fault),
        }
    }

    fn failed(fault: &Fault) -> Self {
        let entry = fault.entry();
        Self::Failed {
            code: fault.original_mcp_code().unwrap_or_else(|| entry.rpc_code(Era::Modern)),
            app_code: entry.code,
            said: entry.user_message,
        }
    }
}

fn short(mut text: String) -> String {
    if text.len() > MAX_NAME {
        text.truncate(text.floor_char_boundary(MAX_NAME));
    }
    text
}
