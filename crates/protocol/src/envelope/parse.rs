//! Bytes to envelopes, refusing what two readers could understand differently.

use super::{Envelope, ErrorObject, Frame, Notification, Request, Response};
use crate::{Defect, Malformed, Object, Raw, RequestId, method, scan};
use bytes::Bytes;

/// The most messages one batch may hold.
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
        let Some(members) = scan::members(bytes)? else {
            scan::document(bytes)?;
            return Err(Malformed::new(Defect::NotAnObject, 0));
        };
        let mut parts = Parts::default();
        for member in members {
            let value = member.value(bytes);
            let offset = member.value.start;
            parts.offset = offset;
            parts
                .take(&member.name(bytes), value)
                .map_err(|d| Malformed::new(d, offset).with_id(parts.id.as_ref()))?;
        }
        let (id, offset) = (parts.id.clone(), parts.offset);
        parts.assemble().map_err(|defect| Malformed::new(defect, offset).with_id(id.as_ref()))
    }
}

/// The members of a message, before it is known what kind it is.
#[derive(Default)]
struct Parts {
    offset: usize,
    versioned: bool,
    id: Option<RequestId>,
    null_id: bool,
    method: Option<std::borrow::Cow<'static, str>>,
    params: Option<Raw>,
    result: Option<Raw>,
    error: Option<ErrorObject>,
    rest: Object,
}

impl Parts {
    fn take(&mut self, name: &str, value: Raw) -> Result<(), Defect> {
        match name {
            "jsonrpc" if value.as_bytes() == b"\"2.0\"" => self.versioned = true,
            "jsonrpc" => return Err(Defect::Version),
            "id" if value.is_null() => self.null_id = true,
            "id" => self.id = Some(RequestId::read(value)?),
            "method" => self.method = Some(read_method(&value)?),
            "params" if matches!(value.as_bytes()[0], b'{' | b'[') => self.params = Some(value),
            "params" => return Err(Defect::BadParams),
            "result" => self.result = Some(value),
            "error" => self.error = Some(ErrorObject::read(&value).ok_or(Defect::BadError)?),
            _ => self.rest.set(name.to_owned(), value),
        }
        Ok(())
    }

    fn assemble(self) -> Result<Envelope, Defect> {
        let Self { versioned, id, null_id, method, params, result, error, mut rest, .. } = self;
        if !versioned {
            return Err(Defect::Version);
        }
        if method.is_some() && (result.is_some() || error.is_some()) {
            return Err(Defect::MethodAndResult);
        }
        let outcome = match (method, result, error) {
            (Some(_), ..) if null_id => return Err(Defect::NullId),
            (Some(method), ..) => {
                return Ok(match id {
                    Some(id) => Request { id, method, params, rest }.into(),
                    None => Notification { method, params, rest }.into(),
                });
            }
            (None, Some(_), Some(_)) => return Err(Defect::ResultAndError),
            (None, Some(_), None) if id.is_none() => return Err(Defect::MissingId),
            (None, Some(result), None) => Ok(result),
            (None, None, Some(error)) => Err(error),
            (None, None, None) => return Err(Defect::Unrecognised),
        };
        // Nothing of a response, but not ours to drop.
        if let Some(params) = params {
            rest.push("params", params);
        }
        Ok(Response { id, outcome, rest }.into())
    }
}

impl ErrorObject {
    fn read(raw: &Raw) -> Option<Self> {
        let mut members = raw.object()?;
        let code = members.remove("code")?.decode().ok()?;
        let message = members.remove("message")?.decode().ok()?;
        let data = members.remove("data");
        Some(Self { code, message, data, rest: members })
    }
}

fn read_method(value: &Raw) -> Result<std::borrow::Cow<'static, str>, Defect> {
    let text = value.as_bytes();
    match text {
        [b'"', name @ .., b'"'] if !name.contains(&b'\\') => {
            let name = std::str::from_utf8(name).map_err(|_| Defect::BadMethod)?;
            Ok(method::intern(name))
        }
        _ => value.decode::<String>().map(|name| method::intern(&name)).map_err(|_| Defect::BadMethod),
    }
}
