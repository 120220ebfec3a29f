//! Writing a response: its head, and the framing of its body.

use super::{output::Output, scratch, service::ResponseBody};
use crate::{
    framing::{Version, write_content_length},
    write_header,
};
use ::http::{HeaderMap, Response, StatusCode, header};
use bytes::Bytes;
use std::task::{Context, Poll};

/// The framing of a body to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyCoding {
    /// There is no body, or no more of it.
    None,
    ContentLength,
    Chunked,
    /// The body ends with the connection.
    UntilClose,
}

/// The result of polling a body for its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pulled {
    /// The output is full and has to be written first.
    Full,
    Pending,
    End,
}

/// The facts about the request that its response depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestInfo {
    pub(super) version: Version,
    /// The method was HEAD.
    pub(super) head_only: bool,
    pub(super) keep_alive: bool,
}

impl BodyCoding {
    fn of(status: StatusCode, length: Option<u64>, request: RequestInfo) -> Self {
        match length {
            _ if has_no_body(status) || request.head_only => Self::None,
            Some(_) => Self::ContentLength,
            None if request.version == Version::Http11 => Self::Chunked,
            None => Self::UntilClose,
        }
    }

    fn push(self, output: &mut Output, bytes: Bytes) {
        match self {
            Self::None => {}
            Self::ContentLength | Self::UntilClose => output.push(bytes),
            Self::Chunked if bytes.is_empty() => {}
            Self::Chunked => output.push_chunk(bytes),
        }
    }

    fn end(self, output: &mut Output) {
        if self == Self::Chunked {
            output.push(Bytes::from_static(b"0\r\n\r\n"));
        }
    }
}

/// Writes the head; returns the body and its coding. Clears `keep_alive` of a request whose
/// response has no other end than that of the connection.
pub(super) fn write_head<B: ResponseBody>(
    output: &mut Output,
    response: Response<B>,
    request: &mut RequestInfo,
) -> (B, BodyCoding) {
    let (head, body) = response.into_parts();
    let length = body.length();
    let coding = BodyCoding::of(head.status, length, *request);
    request.keep_alive &= coding != BodyCoding::UntilClose;
    let out = output.buffer();
    write_status(out, head.status);
    write_headers(out, &head.headers);
    match length {
        _ if has_no_body(head.status) => {}
        Some(length) => write_content_length(out, length),
        None if coding == BodyCoding::Chunked => out.extend_from_slice(b"transfer-encoding: chunked\r\n"),
        None => {}
    }
    match (request.keep_alive, request.version) {
        (false, _) => out.extend_from_slice(b"connection: close\r\n"),
        (true, Version::Http10) => out.extend_from_slice(b"connection: keep-alive\r\n"),
        (true, Version::Http11) => {}
    }
    scratch::write_date(out);
    out.extend_from_slice(b"\r\n");
    (body, coding)
}

/// Moves the data that a body has into the output.
pub(super) fn pull_body(
    body: &mut impl ResponseBody,
    coding: &mut BodyCoding,
    output: &mut Output,
    cx: &mut Context<'_>,
) -> Pulled {
    while *coding != BodyCoding::None {
        // A body of known length is in memory already.
        if *coding != BodyCoding::ContentLength && output.is_full() {
            return Pulled::Full;
        }
        match body.poll_data(cx) {
            Poll::Ready(Some(bytes)) => coding.push(output, bytes),
            Poll::Ready(None) => {
                coding.end(output);
                *coding = BodyCoding::None;
            }
            Poll::Pending => return Pulled::Pending,
        }
    }
    Pulled::End
}

fn has_no_body(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

fn write_status(out: &mut Vec<u8>, status: StatusCode) {
    if status == StatusCode::OK {
        out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
        return;
    }
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(status.as_str().as_bytes());
    out.push(b' ');
    out.extend_from_slice(status.canonical_reason().unwrap_or_default().as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn write_headers(out: &mut Vec<u8>, headers: &HeaderMap) {
    for (name, value) in headers {
        // The connection decides on framing and keep-alive.
        if ![header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION].contains(name) {
            write_header(out, name.as_str(), value.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_connection_are_written_once() {
        let mut output = Output::default();
        let mut response = Response::new(Bytes::from_static(b"abc"));
        for (name, value) in [("content-length", "9"), ("transfer-encoding", "chunked"), ("x", "y")] {
            response.headers_mut().insert(name, value.parse().unwrap());
        }
        let mut request = RequestInfo { version: Version::Http11, head_only: false, keep_alive: true };
        let (_, coding) = write_head(&mut output, response, &mut request);
        assert_eq!((coding, request.keep_alive), (BodyCoding::ContentLength, true));
        let text = String::from_utf8(output.buffer().clone()).unwrap();
        let headers: Vec<_> = text.lines().filter(|line| !line.starts_with("date: ")).collect();
        assert_eq!(headers, ["HTTP/1.1 200 OK", "x: y", "content-length: 3", ""]);
    }
}
