//! The head of an answer, and how the end of its body is told.

use super::{date, outbox::Outbox, spare};
use crate::http::answer::Answer;
use ::http::{HeaderMap, Response, StatusCode, header};
use bytes::Bytes;
use std::task::{Context, Poll};
use trunkline_transport::framing::{Version, write_length};

/// How a body is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    /// It is not sent.
    None,
    /// As it is, behind its length.
    Length,
    Chunked,
    /// As it is, and the connection is closed behind it.
    UntilClose,
}

/// What a body gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pulled {
    /// Enough for now: it has to be written first.
    Enough,
    /// There is nothing more yet.
    Nothing,
    End,
}

/// What the head depends on besides the answer itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct To {
    pub(super) version: Version,
    /// Whether only the head was asked for.
    pub(super) head_only: bool,
    /// Whether more requests are taken behind this one.
    pub(super) keeps: bool,
}

impl Coding {
    /// The coding of an answer, and whether the connection can be kept behind it.
    fn of(status: StatusCode, length: Option<u64>, to: To) -> (Self, bool) {
        match length {
            _ if has_no_body(status) || to.head_only => (Self::None, to.keeps),
            Some(_) => (Self::Length, to.keeps),
            None if to.version == Version::Usual => (Self::Chunked, to.keeps),
            None => (Self::UntilClose, false),
        }
    }

    pub(super) fn add(self, outbox: &mut Outbox, bytes: Bytes) {
        match self {
            Self::None => {}
            Self::Length | Self::UntilClose => outbox.add(bytes),
            Self::Chunked if bytes.is_empty() => {}
            Self::Chunked => outbox.add_chunk(bytes),
        }
    }

    pub(super) fn end(self, outbox: &mut Outbox) {
        if self == Self::Chunked {
            outbox.add(Bytes::from_static(b"0\r\n\r\n"));
        }
    }
}

/// Writes the head; gives the body, how to send it, and whether the connection is kept.
pub(super) fn begin(outbox: &mut Outbox, response: Response<Answer>, to: To) -> (Answer, Coding, bool) {
    let (head, answer) = response.into_parts();
    let length = answer.length();
    let (coding, keeps) = Coding::of(head.status, length, to);
    let out = outbox.text();
    write_status(out, head.status);
    write_fields(out, &head.headers);
    match length {
        _ if has_no_body(head.status) => {}
        Some(length) => write_length(out, length),
        None if coding == Coding::Chunked => out.extend_from_slice(b"transfer-encoding: chunked\r\n"),
        None => {}
    }
    match (keeps, to.version) {
        (false, _) => out.extend_from_slice(b"connection: close\r\n"),
        (true, Version::Old) => out.extend_from_slice(b"connection: keep-alive\r\n"),
        (true, Version::Usual) => {}
    }
    date::write(out);
    out.extend_from_slice(b"\r\n");
    spare::keep_fields(head.headers);
    (answer, coding, keeps)
}

/// Takes of a body what there is.
pub(super) fn pull(
    answer: &mut Answer,
    coding: &mut Coding,
    outbox: &mut Outbox,
    cx: &mut Context<'_>,
) -> Pulled {
    while *coding != Coding::None {
        // What has a length is in memory already.
        if *coding != Coding::Length && outbox.is_full() {
            return Pulled::Enough;
        }
        match answer.poll_data(cx) {
            Poll::Ready(Some(bytes)) => coding.add(outbox, bytes),
            Poll::Ready(None) => {
                coding.end(outbox);
                *coding = Coding::None;
            }
            Poll::Pending => return Pulled::Nothing,
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

fn write_fields(out: &mut Vec<u8>, fields: &HeaderMap) {
    for (name, value) in fields {
        // Where the answer ends, and what comes behind it, is the connection's to say.
        if [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION].contains(name) {
            continue;
        }
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_connection_are_written_once() {
        let mut outbox = Outbox::default();
        let mut response = Response::new(Answer::Whole(Some(Bytes::from_static(b"abc"))));
        for (name, value) in [("content-length", "9"), ("transfer-encoding", "chunked"), ("x", "y")] {
            response.headers_mut().insert(name, value.parse().unwrap());
        }
        let to = To { version: Version::Usual, head_only: false, keeps: true };
        let (_, coding, keeps) = begin(&mut outbox, response, to);
        assert_eq!((coding, keeps), (Coding::Length, true));
        let text = String::from_utf8(outbox.text().clone()).unwrap();
        let fields: Vec<_> = text.lines().filter(|line| !line.starts_with("date: ")).collect();
        assert_eq!(fields, ["HTTP/1.1 200 OK", "x: y", "content-length: 3", ""]);
    }
}
