//! Envelope: one JSON-RPC message. Its payload stays raw until it is decoded.

mod parse;
mod salvage;
mod write;

use crate::{Malformed, Object, Raw, RequestId};
use std::borrow::Cow;

pub use parse::MAX_BATCH;

/// The contents of one frame: a message or a batch.
#[derive(Debug, Clone)]
pub enum Frame {
    One(Envelope),
    /// Only revision 2025-03-26 has batches; elsewhere the receiver refuses this with −32600.
    Batch(Vec<Result<Envelope, Malformed>>),
}

/// One JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Envelope {
    Request(Request),
    Notification(Notification),
    Response(Response),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub id: RequestId,
    pub method: Cow<'static, str>,
    pub params: Option<Raw>,
    /// Members of the message itself that JSON-RPC does not define.
    pub rest: Object,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    pub method: Cow<'static, str>,
    pub params: Option<Raw>,
    pub rest: Object,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Absent only in an error response to a message whose id could not be read.
    pub id: Option<RequestId>,
    pub outcome: Result<Raw, ErrorObject>,
    pub rest: Object,
}

/// The `error` member of a response.
#[derive(Debug, Clone)]
pub struct ErrorObject {
    pub code: i64,
    pub message: String,
    pub data: Option<Raw>,
    pub rest: Object,
    /// The text that it was read from, so that an unchanged error is passed on byte for
    /// byte. Boxed, because many results carry an error.
    read_from: Option<Box<Raw>>,
}

impl Request {
    pub fn new(id: RequestId, method: impl Into<Cow<'static, str>>, params: Option<Raw>) -> Self {
        Self { id, method: method.into(), params, rest: Object::new() }
    }
}

impl Notification {
    pub fn new(method: impl Into<Cow<'static, str>>, params: Option<Raw>) -> Self {
        Self { method: method.into(), params, rest: Object::new() }
    }
}

impl Response {
    pub fn new(id: RequestId, outcome: Result<Raw, ErrorObject>) -> Self {
        Self { id: Some(id), outcome, rest: Object::new() }
    }
}

impl ErrorObject {
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, rest: Object::new(), read_from: None }
    }
}

impl PartialEq for ErrorObject {
    /// Compares the contents and not the spelling.
    fn eq(&self, other: &Self) -> bool {
        (self.code, &self.message, &self.data, &self.rest)
            == (other.code, &other.message, &other.data, &other.rest)
    }
}

impl Eq for ErrorObject {}

impl From<Request> for Envelope {
    fn from(request: Request) -> Self {
        Self::Request(request)
    }
}

impl From<Notification> for Envelope {
    fn from(notification: Notification) -> Self {
        Self::Notification(notification)
    }
}

impl From<Response> for Envelope {
    fn from(response: Response) -> Self {
        Self::Response(response)
    }
}

#[cfg(test)]
mod tests;
