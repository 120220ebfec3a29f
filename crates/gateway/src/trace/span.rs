//! A span: one step of a trace, over.

use crate::audit::mask;
use std::{
    borrow::Cow,
    sync::Arc,
    time::{Duration, SystemTime},
};
use trunkline_protocol::{Caller, Era, Fault, Object, Outcome, Raw, message::says_error, method};

/// Longest name or address that is kept, in bytes.
const MAX_NAME: usize = 256;

/// One step of a trace.
#[derive(Debug, Clone)]
pub struct Span {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
    /// The step that caused this one.
    pub parent: Option<[u8; 8]>,
    /// The flags that went on.
    pub flags: u8,
    /// As it came.
    pub trace_state: Option<String>,
    pub side: Side,
    pub method: Cow<'static, str>,
    pub about: About,
    pub caller: Arc<Caller>,
    /// The view that the caller came to.
    pub view: Option<Arc<str>>,
    /// The revision spoken with the peer of this step.
    pub revision: Option<String>,
    pub started: SystemTime,
    pub took: Duration,
    pub ending: Ending,
}

/// Whose step it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Side {
    /// Ours, as a server.
    Server,
    /// Ours, as the client of this upstream.
    Client(Arc<str>),
}

/// What a call is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    Nothing,
    Tool(String),
    Prompt(String),
    /// An address, with what looks like a secret masked.
    Resource(String),
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Fine,
    /// The tool said that it failed.
    ToolError,
    Failed {
        /// The number in the JSON-RPC error.
        code: i64,
        /// The catalogue's code.
        app_code: &'static str,
        /// The catalogue's words; those of a server may hold arguments.
        said: &'static str,
    },
    /// The caller went away, or asked to stop.
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
