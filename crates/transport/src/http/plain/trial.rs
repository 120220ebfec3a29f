//! Reads an answer from memory as a plain connection would, for tests that bring answers of their own.

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, StatusCode};

use super::head::{self, After, Answered, HEAD_LIMIT};
use crate::framing::Taken;
use crate::http::answer::{Said, map_of};

/// An answer, as far as it was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub end: End,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It was whole, and its connection can be used again.
    Kept,
    /// It was whole, and its connection cannot.
    Closed,
    /// More was to come.
    Early,
    /// Where it ends cannot be told.
    Broken,
}

/// The answer to a request of this method that comes in these pieces; `None` when it has no head that can be used.
pub fn hear(pieces: impl IntoIterator<Item = Bytes>, method: &Method) -> Option<Heard> {
    let (mut input, mut answered) = (BytesMut::new(), None);
    let mut body = Vec::new();
    for piece in pieces {
        input.extend_from_slice(&piece);
        let answered = match &mut answered {
            Some(answered) => answered,
            none => match head_in(&mut input, method).ok()? {
                Some(head) => none.insert(head),
                None => continue,
            },
        };
        loop {
            match answered.framing.take(&mut input) {
                Ok(Taken::Data(data)) => body.extend_from_slice(&data),
                Ok(Taken::Nothing) => break,
                Ok(Taken::End) if answered.after == After::Kept => {
                    return Some(heard(answered, body, End::Kept));
                }
                Ok(Taken::End) => return Some(heard(answered, body, End::Closed)),
                Err(_) => return Some(heard(answered, body, End::Broken)),
            }
        }
    }
    let mut answered = answered?;
    let end = if answered.framing.close().is_ok() { End::Closed } else { End::Early };
    Some(heard(&answered, body, end))
}

/// There is no answer to be had.
struct NoAnswer;

/// The head that counts, as soon as it is whole.
fn head_in(input: &mut BytesMut, method: &Method) -> Result<Option<Answered>, NoAnswer> {
    loop {
        match head::read(input, method).map_err(|_| NoAnswer)? {
            Some(answered) if answered.head.status == StatusCode::SWITCHING_PROTOCOLS => {
                return Err(NoAnswer);
            }
            Some(answered) if answered.head.status.is_informational() => {}
            None if input.len() > HEAD_LIMIT => return Err(NoAnswer),
            answered => return Ok(answered),
        }
    }
}

fn heard(answered: &Answered, body: Vec<u8>, end: End) -> Heard {
    let headers = match &answered.head.fields {
        Said::Text(text) => map_of(text),
        Said::Map(map) => map.clone(),
    };
    Heard { status: answered.head.status, headers, body, end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_heard_as_it_comes_in() {
        let head = "HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n";
        let hear = |pieces: &[&str]| {
            let pieces: Vec<_> = pieces.iter().map(|piece| Bytes::from((*piece).to_owned())).collect();
            hear(pieces, &Method::POST).map(|heard| (heard.status.as_u16(), heard.body, heard.end))
        };
        assert_eq!(
            hear(&[head, "content-length: 4\r\n", "\r\nab", "cdef"]),
            Some((200, b"abcd".into(), End::Kept))
        );
        assert_eq!(hear(&[head, "content-length: 4\r\n\r\nab"]), Some((200, b"ab".into(), End::Early)));
        assert_eq!(hear(&[head, "\r\nab", "c"]), Some((200, b"abc".into(), End::Closed)));
        let chunked = "transfer-encoding: chunked\r\n\r\n1\r\na\r\n";
        assert_eq!(hear(&[head, chunked, "x"]), Some((200, b"a".into(), End::Broken)));
        assert_eq!(hear(&[head]), None);
        assert_eq!(hear(&["HTTP/1.1 101 x\r\n\r\n"]), None);
    }
}
