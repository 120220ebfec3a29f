//! Classic: a handler whose failed tool calls are JSON-RPC errors with four plain numbers
//! (requirement S4), for clients that do not read results with `isError`.

use futures_util::StreamExt;
use trunkline_protocol::{
    Call, Fault, FaultKind, Handler, Object, Outcome, Part, Raw, Reply,
    message::{CallToolResult, ContentBlock, failure_kind, says_error},
    method,
};

/// Most characters of a tool's text in the message; `data.result` has all of it.
const MAX_MESSAGE: usize = 1000;

/// A handler with classic errors.
#[derive(Debug)]
pub struct Classic<H>(H);

impl<H: Handler> Classic<H> {
    pub fn new(inner: H) -> Self {
        Self(inner)
    }
}

impl<H: Handler> Handler for Classic<H> {
    fn call(&self, call: Call) -> Reply {
        if call.method != method::TOOLS_CALL {
            return self.0.call(call);
        }
        Reply::new(self.0.call(call).map(|part| match part {
            Part::Final(outcome) => Part::Final(classic(outcome)),
            other => other,
        }))
    }

    fn inner(&self) -> Option<&dyn Handler> {
        Some(&self.0)
    }
}

/// A server's own JSON-RPC error is passed on unchanged.
fn classic(outcome: Outcome) -> Outcome {
    let fault = match outcome {
        Ok(result) if says_error(&result) => failure(&result),
        Err(fault) if fault.peer().is_none() => fault,
        other => return other,
    };
    Err(match number(fault.kind()) {
        Some(number) => fault.with_rpc_code(number),
        None => fault,
    })
}

/// The fault for a failed result, which is kept in `data.result`.
fn failure(result: &Raw) -> Fault {
    let kind = failure_kind(result).unwrap_or(FaultKind::ToolFailed);
    let texts = result.decode::<CallToolResult>().ok().and_then(|result| result.content);
    let text = texts.iter().flatten().find_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.chars().take(MAX_MESSAGE).collect()),
        _ => None,
    });
    let mut data = Object::new();
    data.set("result", result.clone());
    let message: String = text.unwrap_or_else(|| kind.entry().user_message.to_owned());
    Fault::new(kind, message).with_data(data.to_raw())
}

/// The classic number; failures that it does not name keep the number of the catalogue.
fn number(kind: FaultKind) -> Option<i64> {
    match kind {
        FaultKind::NotAvailable => Some(-32601),
        FaultKind::InvalidRequest => Some(-32602),
        FaultKind::Timeout => Some(-32000),
        FaultKind::ToolFailed
        | FaultKind::Unavailable
        | FaultKind::ConnectionLost
        | FaultKind::ServerExited => Some(-32603),
        _ => None,
    }
}
