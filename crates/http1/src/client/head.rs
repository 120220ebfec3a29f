//! The heads of requests and answers, as text.

use std::mem::MaybeUninit;

use bytes::{Bytes, BytesMut};
use http::{Method, StatusCode, header};
use httparse::{ParserConfig, Status};
use memchr::memchr;

use crate::framing::{BadFraming, Declared, Framing, Version, write_length};
use crate::http::answer::{Head, Said};
use crate::http::media::{Media, coding};
use crate::http::opening::write_field;
use crate::http::sending::Request;

/// How long the head of an answer may be.
pub(super) const HEAD_LIMIT: usize = 64 * 1024;
/// How many header fields it may have.
const MAX_FIELDS: usize = 100;

/// The head of an answer, and what it means for the connection.
pub(super) struct Answered {
    pub(super) head: Head,
    pub(super) framing: Framing,
    pub(super) after: After,
}

/// What becomes of the connection behind the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Kept,
    Closed,
}

/// An answer that does not begin as it must.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadHead {
    #[error("the head of the answer cannot be read: {0}")]
    Syntax(#[from] httparse::Error),
    #[error("the status of the answer is no status")]
    Status,
    #[error(transparent)]
    Framing(#[from] BadFraming),
}

/// Writes the head of a request.
pub(super) fn write(out: &mut Vec<u8>, request: &Request) {
    let Request { opening, fields, body } = request;
    out.extend_from_slice(&opening.text);
    if fields.get(&header::HOST).is_none() {
        out.extend_from_slice(&opening.host);
    }
    for (name, value) in fields.iter() {
        // How long it is, is ours to say.
        if *name != header::CONTENT_LENGTH && *name != header::TRANSFER_ENCODING {
            write_field(out, name.as_str(), value.as_bytes());
        }
    }
    if !body.is_empty() || matches!(opening.method, Method::POST | Method::PUT | Method::PATCH) {
        write_length(out, body.len() as u64);
    }
    out.extend_from_slice(b"\r\n");
}

/// Takes the head of an answer to a request of this method out of `input`; none as long as it is not whole.
pub(super) fn read(input: &mut BytesMut, method: &Method) -> Result<Option<Answered>, BadHead> {
    let mut fields = [const { MaybeUninit::uninit() }; MAX_FIELDS];
    let mut parsed = httparse::Response::new(&mut []);
    let parser = ParserConfig::default();
    let length = match parser.parse_response_with_uninit_headers(&mut parsed, input, &mut fields)? {
        Status::Complete(length) => length,
        Status::Partial => return Ok(None),
    };
    let status = parsed.code.and_then(|code| StatusCode::from_u16(code).ok()).ok_or(BadHead::Status)?;
    let mut said = Summary::default();
    for field in parsed.headers.iter() {
        said.add(field.name, field.value)?;
    }
    let version = Version::of(parsed.version);
    let framing = said.framing(status, method, version)?;
    let after = said.after(version, &framing);
    let text = input.split_to(length).freeze();
    let fields = Said::Text(without_first_line(text));
    let head = Head { status, media: said.media.unwrap_or(Media::Other), coding: said.coding, fields };
    Ok(Some(Answered { head, framing, after }))
}

fn without_first_line(text: Bytes) -> Bytes {
    match memchr(b'\n', &text) {
        Some(end) => text.slice(end + 1..),
        None => text,
    }
}

/// What matters of the fields of an answer.
#[derive(Default)]
struct Summary {
    declared: Declared,
    media: Option<Media>,
    coding: Option<String>,
}

impl Summary {
    fn add(&mut self, name: &str, value: &[u8]) -> Result<(), BadFraming> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        match name.len() {
            12 if is("content-type") => self.media = self.media.or(Some(Media::named(value))),
            16 if is("content-encoding") => self.coding = self.coding.take().or_else(|| coding(value)),
            _ => {
                self.declared.add(name, value)?;
            }
        }
        Ok(())
    }

    fn framing(&self, status: StatusCode, method: &Method, version: Version) -> Result<Framing, BadFraming> {
        let framing = self.declared.framing(version)?;
        let has_body = !matches!(status.as_u16(), 100..=199 | 204 | 304) && *method != Method::HEAD;
        Ok(if has_body { framing.unwrap_or(Framing::UntilClose) } else { Framing::EMPTY })
    }

    fn after(&self, version: Version, framing: &Framing) -> After {
        let closes = !self.declared.keeps(version) || matches!(framing, Framing::UntilClose);
        if closes { After::Closed } else { After::Kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(head: &str) -> Result<Option<Answered>, BadHead> {
        read(&mut BytesMut::from(head.as_bytes()), &Method::POST)
    }

    fn framed(fields: &str) -> Result<(Option<u64>, After), BadHead> {
        let answered = answered(&format!("HTTP/1.1 200 OK\r\n{fields}\r\n"))?.unwrap();
        Ok((answered.framing.announced(), answered.after))
    }

    #[test]
    fn the_framing_is_what_the_fields_say() {
        assert_eq!(framed("Content-Length: 17\r\n"), Ok((Some(17), After::Kept)));
        assert_eq!(framed("transfer-encoding: Chunked\r\n"), Ok((None, After::Kept)));
        assert_eq!(framed("x: y\r\n"), Ok((None, After::Closed)));
        assert_eq!(framed("content-length: 0\r\nConnection: x, Close\r\n"), Ok((Some(0), After::Closed)));
    }

    #[test]
    fn what_can_be_understood_in_two_ways_is_refused() {
        for (fields, why) in [
            ("content-length: 1\r\ntransfer-encoding: chunked\r\n", BadFraming::LengthAndCoding),
            ("content-length: 1\r\ncontent-length: 1\r\n", BadFraming::Lengths),
            ("content-length: 1\r\ncontent-length: 2\r\n", BadFraming::Lengths),
            ("content-length: 1, 1\r\n", BadFraming::Length),
            ("content-length: +1\r\n", BadFraming::Length),
            ("content-length: \r\n", BadFraming::Length),
            ("content-length: 99999999999999999999\r\n", BadFraming::Length),
            ("transfer-encoding: gzip, chunked\r\n", BadFraming::Coding),
            ("transfer-encoding: identity\r\n", BadFraming::Coding),
            ("transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n", BadFraming::Coding),
        ] {
            assert_eq!(framed(fields).unwrap_err(), BadHead::Framing(why), "{fields}");
        }
        for fields in ["content-length : 1\r\n", "a: b\r\n c: d\r\n", "a b: c\r\n", "a\u{0}: c\r\n"] {
            assert!(matches!(framed(fields), Err(BadHead::Syntax(_))), "{fields:?}");
        }
    }

    #[test]
    fn some_answers_have_no_body_whatever_they_say() {
        for status in [204, 304, 101, 103] {
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: 5\r\n\r\n");
            assert!(answered(&head).unwrap().unwrap().framing.is_over(), "{status}");
        }
        let mut input = BytesMut::from("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n");
        assert!(read(&mut input, &Method::HEAD).unwrap().unwrap().framing.is_over());
    }

    #[test]
    fn an_old_server_closes_unless_it_says_otherwise() {
        let old = |fields: &str| {
            let head = format!("HTTP/1.0 200 OK\r\n{fields}\r\n");
            answered(&head).map(|answered| answered.unwrap().after)
        };
        assert_eq!(old("content-length: 1\r\n"), Ok(After::Closed));
        assert_eq!(old("content-length: 1\r\nconnection: keep-alive\r\n"), Ok(After::Kept));
        assert_eq!(old("transfer-encoding: chunked\r\n"), Err(BadHead::Framing(BadFraming::Coding)));
    }

    #[test]
    fn a_head_is_taken_whole_and_its_fields_are_found_later() {
        let whole = "HTTP/1.1 200 a: b\r\nContent-Type: text/event-stream\r\nMcp-Session-Id:  s \r\n\r\nrest";
        for end in 0..whole.len() - 4 {
            assert!(answered(&whole[..end]).unwrap().is_none(), "{end}");
        }
        let mut input = BytesMut::from(whole);
        let answered = read(&mut input, &Method::POST).unwrap().unwrap();
        assert_eq!((input, answered.head.media), (BytesMut::from("rest"), Media::EventStream));
        assert_eq!(answered.head.get(&crate::headers::MCP_SESSION_ID).unwrap(), "s");
        assert_eq!(answered.head.get(&header::ACCEPT), None);
        assert!(
            answered.head.get(&header::HeaderName::from_static("200 a".trim_start_matches("200 "))).is_none()
        );
    }

    #[test]
    fn more_fields_than_anybody_needs_are_refused() {
        assert!(framed(&"a: b\r\n".repeat(MAX_FIELDS)).is_ok());
        assert!(matches!(framed(&"a: b\r\n".repeat(MAX_FIELDS + 1)), Err(BadHead::Syntax(_))));
    }
}
