//! The parser of response heads.

use super::raw_headers::RawHeaders;
use crate::framing::{Framing, FramingError, MessageHeaders, Version};
use bytes::{Bytes, BytesMut};
use http::{Method, StatusCode};
use httparse::{ParserConfig, Status};
use memchr::memchr;
use std::mem::MaybeUninit;

/// Longest head, in bytes.
pub(super) const HEAD_LIMIT: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;
/// The first byte of a TLS alert, with which TLS servers answer a plain request.
const TLS_ALERT: u8 = 0x15;

/// The head of a response.
#[derive(Debug)]
pub struct ResponseHead {
    pub status: StatusCode,
    pub headers: RawHeaders,
    pub framing: Framing,
    pub reuse: Reuse,
}

/// Tells whether the connection can be reused after the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    KeepAlive,
    Close,
}

/// The head of a response is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    #[error("the head of the answer cannot be read: {0}")]
    Syntax(#[from] httparse::Error),
    #[error("the head of the answer is longer than {HEAD_LIMIT} bytes")]
    TooLong,
    #[error("the answer is a TLS alert")]
    TlsAlert,
    #[error("the status of the answer is no status")]
    Status,
    #[error(transparent)]
    Framing(#[from] FramingError),
}

/// Takes the head of a response to a request with this method out of `input`; `None` while it is
/// incomplete.
pub(super) fn parse(input: &mut BytesMut, method: &Method) -> Result<Option<ResponseHead>, HeadError> {
    if input.first() == Some(&TLS_ALERT) {
        return Err(HeadError::TlsAlert);
    }
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut parsed = httparse::Response::new(&mut []);
    let parser = ParserConfig::default();
    let length = match parser.parse_response_with_uninit_headers(&mut parsed, input, &mut headers)? {
        Status::Complete(length) if length > HEAD_LIMIT => return Err(HeadError::TooLong),
        Status::Complete(length) => length,
        Status::Partial => return Ok(None),
    };
    let status = parsed.code.and_then(|code| StatusCode::from_u16(code).ok()).ok_or(HeadError::Status)?;
    let mut message = MessageHeaders::default();
    for header in parsed.headers.iter() {
        message.add(header.name, header.value)?;
    }
    let version = Version::from_minor(parsed.version);
    let framing = framing(&message, status, method, version)?;
    let closes = !message.keeps_alive(version) || matches!(framing, Framing::UntilClose);
    let reuse = if closes { Reuse::Close } else { Reuse::KeepAlive };
    let text = input.split_to(length).freeze();
    let headers = RawHeaders::new(without_first_line(text));
    Ok(Some(ResponseHead { status, headers, framing, reuse }))
}

fn framing(
    message: &MessageHeaders,
    status: StatusCode,
    method: &Method,
    version: Version,
) -> Result<Framing, FramingError> {
    let declared = message.framing(version)?;
    let has_body = !matches!(status.as_u16(), 100..=199 | 204 | 304) && *method != Method::HEAD;
    Ok(if has_body { declared.unwrap_or(Framing::UntilClose) } else { Framing::EMPTY })
}

fn without_first_line(text: Bytes) -> Bytes {
    match memchr(b'\n', &text) {
        Some(end) => text.slice(end + 1..),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::{self, HeaderName};

    fn answered(head: &str) -> Result<Option<ResponseHead>, HeadError> {
        parse(&mut BytesMut::from(head.as_bytes()), &Method::POST)
    }

    fn framed(fields: &str) -> Result<(Option<u64>, Reuse), HeadError> {
        let answered = answered(&format!("HTTP/1.1 200 OK\r\n{fields}\r\n"))?.unwrap();
        Ok((answered.framing.remaining(), answered.reuse))
    }

    #[test]
    fn the_framing_is_what_the_headers_say() {
        assert_eq!(framed("Content-Length: 17\r\n"), Ok((Some(17), Reuse::KeepAlive)));
        assert_eq!(framed("transfer-encoding: Chunked\r\n"), Ok((None, Reuse::KeepAlive)));
        assert_eq!(framed("x: y\r\n"), Ok((None, Reuse::Close)));
        assert_eq!(framed("content-length: 0\r\nConnection: x, Close\r\n"), Ok((Some(0), Reuse::Close)));
    }

    #[test]
    fn ambiguous_framing_is_refused() {
        for (fields, why) in [
            ("content-length: 1\r\ntransfer-encoding: chunked\r\n", FramingError::LengthAndCoding),
            ("content-length: 1\r\ncontent-length: 1\r\n", FramingError::RepeatedLength),
            ("content-length: 1\r\ncontent-length: 2\r\n", FramingError::RepeatedLength),
            ("content-length: 1, 1\r\n", FramingError::Length),
            ("content-length: +1\r\n", FramingError::Length),
            ("content-length: \r\n", FramingError::Length),
            ("content-length: 99999999999999999999\r\n", FramingError::Length),
            ("transfer-encoding: gzip, chunked\r\n", FramingError::TransferCoding),
            ("transfer-encoding: identity\r\n", FramingError::TransferCoding),
            ("transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n", FramingError::TransferCoding),
        ] {
            assert_eq!(framed(fields).unwrap_err(), HeadError::Framing(why), "{fields}");
        }
        for fields in ["content-length : 1\r\n", "a: b\r\n c: d\r\n", "a b: c\r\n", "a\u{0}: c\r\n"] {
            assert!(matches!(framed(fields), Err(HeadError::Syntax(_))), "{fields:?}");
        }
    }

    #[test]
    fn some_responses_have_no_body_whatever_their_headers_say() {
        for status in [204, 304, 101, 103] {
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: 5\r\n\r\n");
            assert!(answered(&head).unwrap().unwrap().framing.is_finished(), "{status}");
        }
        let mut input = BytesMut::from("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n");
        assert!(parse(&mut input, &Method::HEAD).unwrap().unwrap().framing.is_finished());
    }

    #[test]
    fn an_http10_server_closes_unless_it_keeps_alive() {
        let old = |fields: &str| {
            let head = format!("HTTP/1.0 200 OK\r\n{fields}\r\n");
            answered(&head).map(|answered| answered.unwrap().reuse)
        };
        assert_eq!(old("content-length: 1\r\n"), Ok(Reuse::Close));
        assert_eq!(old("content-length: 1\r\nconnection: keep-alive\r\n"), Ok(Reuse::KeepAlive));
        assert_eq!(
            old("transfer-encoding: chunked\r\n"),
            Err(HeadError::Framing(FramingError::TransferCoding))
        );
    }

    #[test]
    fn a_head_is_taken_whole_and_its_headers_are_found_later() {
        let whole = "HTTP/1.1 200 a: b\r\nContent-Type: text/event-stream\r\nMcp-Session-Id:  s \r\n\r\nrest";
        for end in 0..whole.len() - 4 {
            assert!(answered(&whole[..end]).unwrap().is_none(), "{end}");
        }
        let mut input = BytesMut::from(whole);
        let head = parse(&mut input, &Method::POST).unwrap().unwrap();
        assert_eq!(input, "rest");
        let headers: Vec<_> = head.headers.iter().collect();
        assert_eq!(headers[0], (&b"Content-Type"[..], &b"text/event-stream"[..]));
        assert_eq!(headers.len(), 2);
        assert_eq!(head.headers.get(&HeaderName::from_static("mcp-session-id")).unwrap(), "s");
        assert_eq!(head.headers.get(&header::ACCEPT), None);
        assert_eq!(head.headers.get(&HeaderName::from_static("a")), None);
    }

    #[test]
    fn too_many_headers_are_refused() {
        assert!(framed(&"a: b\r\n".repeat(MAX_HEADERS)).is_ok());
        assert!(matches!(framed(&"a: b\r\n".repeat(MAX_HEADERS + 1)), Err(HeadError::Syntax(_))));
    }
}
