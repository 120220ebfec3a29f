//! Events to bytes.

use bytes::{BufMut, BytesMut};

use super::{Event, Line};

/// A comment that keeps an idle stream open; readers ignore it.
pub const KEEP_ALIVE: &[u8] = b":\n\n";

/// Appends `event` to `out`.
///
/// Data cannot inject fields: each of its lines gets its own `data` field, where a line ends at
/// LF, CR or CRLF (a reader gets LF for each), and names and ids are a single [`Line`] by type.
pub fn encode(event: &Event, out: &mut BytesMut) {
    out.reserve(event.data.len() + 64);
    line(out, b"event: ", event.event.as_ref());
    line(out, b"id: ", event.id.as_ref());
    if let Some(retry) = event.retry {
        let retry = u64::try_from(retry.as_millis()).unwrap_or(u64::MAX);
        out.put_slice(format!("retry: {retry}\n").as_bytes());
    }
    let mut rest = &event.data[..];
    while let Some(end) = memchr::memchr2(b'\r', b'\n', rest) {
        data(out, &rest[..end]);
        let ending = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = &rest[end + ending..];
    }
    data(out, rest);
    out.put_slice(b"\n");
}

fn line(out: &mut BytesMut, field: &[u8], value: Option<&Line>) {
    if let Some(value) = value {
        out.put_slice(field);
        out.put_slice(value.as_bytes());
        out.put_slice(b"\n");
    }
}

fn data(out: &mut BytesMut, line: &[u8]) {
    out.put_slice(b"data: ");
    out.put_slice(line);
    out.put_slice(b"\n");
}
