//! Writes envelopes as bytes, with one allocation. Payloads are copied byte for byte.

use super::{Envelope, ErrorObject, Notification, Request, Response};
use crate::{
    Object, Raw,
    object::{write_member, write_string},
};
use bytes::Bytes;

impl Envelope {
    /// The message without line breaks, for newline-delimited framing.
    ///
    /// Valid JSON has line breaks only between tokens, so each can be replaced by a space.
    pub fn to_line(&self) -> Bytes {
        let mut text = self.to_vec();
        if memchr::memchr2(b'\n', b'\r', &text).is_some() {
            for byte in &mut text {
                if matches!(byte, b'\n' | b'\r') {
                    *byte = b' ';
                }
            }
        }
        text.into()
    }

    /// The message with its payload unchanged, byte for byte.
    pub fn to_bytes(&self) -> Bytes {
        self.to_vec().into()
    }

    fn to_vec(&self) -> Vec<u8> {
        match self {
            Self::Request(request) => request.write(),
            Self::Notification(notification) => notification.write(),
            Self::Response(response) => response.write(),
        }
    }
}

impl Request {
    fn write(&self) -> Vec<u8> {
        let mut out = start(self.method.len() + size(self.params.as_ref()) + self.id.raw().as_bytes().len());
        out.extend_from_slice(b",\"id\":");
        out.extend_from_slice(self.id.raw().as_bytes());
        write_call(&mut out, &self.method, self.params.as_ref());
        finish(out, &self.rest)
    }
}

impl Notification {
    fn write(&self) -> Vec<u8> {
        let mut out = start(self.method.len() + size(self.params.as_ref()));
        write_call(&mut out, &self.method, self.params.as_ref());
        finish(out, &self.rest)
    }
}

impl Response {
    /// The message in three parts: the text before the payload, the payload (result or error),
    /// which is not copied, and the text after it.
    pub fn to_parts(&self) -> [Bytes; 3] {
        let payload = match &self.outcome {
            Ok(result) => result.bytes().clone(),
            Err(error) => error.to_raw().bytes().clone(),
        };
        [self.begin(0).into(), payload, finish(Vec::new(), &self.rest).into()]
    }

    fn write(&self) -> Vec<u8> {
        let error;
        let payload = match &self.outcome {
            Ok(result) => result,
            Err(refused) => {
                error = refused.to_raw();
                &error
            }
        };
        let mut out = self.begin(payload.as_bytes().len());
        out.extend_from_slice(payload.as_bytes());
        finish(out, &self.rest)
    }

    /// The text before the payload, with capacity for a payload of `room` bytes.
    fn begin(&self, room: usize) -> Vec<u8> {
        let id = self.id.as_ref().map_or(&b"null"[..], |id| id.raw().as_bytes());
        let mut out = start(room + id.len());
        out.extend_from_slice(b",\"id\":");
        out.extend_from_slice(id);
        out.extend_from_slice(if self.outcome.is_ok() { b",\"result\":" } else { b",\"error\":" });
        out
    }
}

impl ErrorObject {
    /// The `error` member as JSON: the text that it was read from, unless it was changed since.
    pub fn to_raw(&self) -> Raw {
        if let Some(text) = &self.read_from
            && Self::read(text).as_ref() == Some(self)
        {
            return text.as_ref().clone();
        }
        let mut object = Object::new();
        object.set("code", Raw::trusted(self.code.to_string().into()));
        object.set("message", Raw::string(&self.message));
        if let Some(data) = &self.data {
            object.set("data", data.clone());
        }
        for (name, value) in self.rest.iter() {
            object.set(name.to_owned(), value.clone());
        }
        object.to_raw()
    }
}

fn start(payload: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload + 64);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\"");
    out
}

fn write_call(out: &mut Vec<u8>, method: &str, params: Option<&Raw>) {
    out.extend_from_slice(b",\"method\":");
    write_string(out, method);
    if let Some(params) = params {
        out.push(b',');
        write_member(out, "params", params);
    }
}

fn finish(mut out: Vec<u8>, rest: &Object) -> Vec<u8> {
    for (name, value) in rest.iter() {
        out.push(b',');
        write_member(&mut out, name, value);
    }
    out.push(b'}');
    out
}

fn size(raw: Option<&Raw>) -> usize {
    raw.map_or(0, |r| r.as_bytes().len())
}
