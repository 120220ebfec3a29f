//! Parses bytes into envelopes. Messages that two parsers could understand differently are
//! refused.

use super::{Envelope, ErrorObject, Frame, Notification, Request, Response};
use crate::{
    Defect, Malformed, Object, Raw, RequestId, method,
    scan::{self, Member, Message},
};
use bytes::Bytes;
use std::borrow::Cow;

/// Maximum number of messages in a batch.
pub const MAX_BATCH: usize = 100;

impl Frame {
    /// Reads one frame. The payloads share the frame's memory.
    pub fn parse(bytes: &Bytes) -> Result<Self, Malformed> {
        if scan::first_byte(bytes) != Some(b'[') {
            return Envelope::parse(bytes).map(Self::One);
        }
        let places = scan::elements(bytes, MAX_BATCH)?;
        if places.is_empty() {
            return Err(Malformed::new(Defect::EmptyBatch, 0));
        }
        Ok(Self::Batch(places.into_iter().map(|place| Envelope::parse(&bytes.slice(place))).collect()))
    }
}

impl Envelope {
    /// Reads a frame that must be one message.
    pub fn parse(bytes: &Bytes) -> Result<Self, Malformed> {
        let mut message = Message::new();
        if !scan::members(bytes, &mut message)? {
            scan::document(bytes)?;
            return Err(Malformed::new(Defect::NotAnObject, 0));
        }
        let mut parts = Parts::default();
        for member in message.members() {
            let read = match member.plain_name(bytes) {
                Some(name) => parts.take(name, &member, bytes),
                None => parts.take(member.name(bytes).as_bytes(), &member, bytes),
            };
            if let Err(defect) = read {
                return Err(Malformed::new(defect, member.value.start).with_id(parts.id.as_ref()));
            }
        }
        let offset = message.members().next_back().map_or(0, |last| last.value.start);
        parts.assemble(offset)
    }
}

/// The members of a message whose kind is not known yet.
#[derive(Default)]
struct Parts {
    versioned: bool,
    id: Option<RequestId>,
    null_id: bool,
    method: Option<Cow<'static, str>>,
    params: Option<Raw>,
    result: Option<Raw>,
    error: Option<ErrorObject>,
    rest: Object,
}

impl Parts {
    fn take(&mut self, name: &[u8], member: &Member, frame: &Bytes) -> Result<(), Defect> {
        let value = member.text(frame);
        match name {
            b"jsonrpc" if value == b"\"2.0\"" => self.versioned = true,
            b"jsonrpc" => return Err(Defect::Version),
            b"id" if value == b"null" => self.null_id = true,
            b"id" => self.id = Some(RequestId::read(member.value(frame))?),
            b"method" => self.method = Some(method::read(value).ok_or(Defect::BadMethod)?),
            b"params" if matches!(value[0], b'{' | b'[') => self.params = Some(member.value(frame)),
            b"params" => return Err(Defect::BadParams),
            b"result" => self.result = Some(member.value(frame)),
            b"error" => self.error = Some(ErrorObject::read(&member.value(frame)).ok_or(Defect::BadError)?),
            _ => self.rest.push(member.name(frame).into_owned(), member.value(frame)),
        }
        Ok(())
    }

    fn assemble(self, offset: usize) -> Result<Envelope, Malformed> {
        let refused = |defect, id: Option<&RequestId>| Err(Malformed::new(defect, offset).with_id(id));
        let Self { versioned, id, null_id, method, params, result, error, mut rest } = self;
        if !versioned {
            return refused(Defect::Version, id.as_ref());
        }
        if method.is_some() && (result.is_some() || error.is_some()) {
            return refused(Defect::MethodAndResult, id.as_ref());
        }
        let outcome = match (method, result, error) {
            (Some(_), ..) if null_id => return refused(Defect::NullId, id.as_ref()),
            (Some(method), ..) => {
                return Ok(match id {
                    Some(id) => Request { id, method, params, rest }.into(),
                    None => Notification { method, params, rest }.into(),
                });
            }
            (None, Some(_), Some(_)) => return refused(Defect::ResultAndError, id.as_ref()),
            (None, Some(_), None) if id.is_none() => return refused(Defect::MissingId, None),
            (None, Some(result), None) => Ok(result),
            (None, None, Some(error)) => Err(error),
            (None, None, None) => return refused(Defect::Unrecognised, id.as_ref()),
        };
        // `params` means nothing in a response, but unknown members are kept.
        if let Some(params) = params {
            rest.push("params", params);
        }
        Ok(Response { id, outcome, rest }.into())
    }
}

impl ErrorObject {
    pub(super) fn read(raw: &Raw) -> Option<Self> {
        let mut members = raw.object()?;
        let code = members.remove("code")?.decode().ok()?;
        let message = members.remove("message")?.decode().ok()?;
        let data = members.remove("data");
        Some(Self { code, message, data, rest: members, read_from: Some(Box::new(raw.clone())) })
    }
}
