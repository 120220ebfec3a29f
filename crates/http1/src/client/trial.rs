//! One request over a stream of the caller's own, for tests that bring answers of their own: what a plain connection makes of them.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use tokio::io::{AsyncRead, AsyncWrite};

use super::Kept;
use super::body::PlainBody;
use super::head::Answered;
use super::line::Line;
use crate::framing::BadFraming;
use crate::http::answer::{Said, map_of};
use crate::http::fields::Fields;
use crate::http::sending::Request;
use crate::http::target::Target;

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

/// Asks over this stream, and hears the answer; `None` when it has no head that can be used.
pub async fn hear<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    method: Method,
    target: Target,
) -> Option<Heard> {
    let mut line = Box::new(Line::new(stream, target.authority().into()));
    line.load(&Request::new(method, target, Fields::default(), Bytes::new()));
    let Answered { head, framing, after } = poll_fn(|cx| line.poll_answer(cx)).await.ok()?;
    let headers = match head.fields {
        Said::Text(text) => map_of(&text),
        Said::Map(map) => map,
    };
    let kept = Arc::new(Kept { places: Mutex::default(), most: 1, idle: Duration::MAX });
    let mut arriving = PlainBody::new(line, Arc::clone(&kept), framing, after);
    let mut body = Vec::new();
    let end = loop {
        match poll_fn(|cx| arriving.poll_data(cx)).await {
            Some(Ok(data)) => body.extend_from_slice(&data),
            Some(Err(error)) if error.downcast_ref() == Some(&BadFraming::Early) => break End::Early,
            Some(Err(_)) => break End::Broken,
            None if kept.places().is_empty() => break End::Closed,
            None => break End::Kept,
        }
    };
    Some(Heard { status: head.status, headers, body, end })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncWriteExt as _, duplex};

    #[tokio::test]
    async fn an_answer_is_heard_to_its_end() {
        let head = "HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n";
        let chunked = "transfer-encoding: chunked\r\n\r\n1\r\na\r\n";
        for (rest, body, end) in [
            ("content-length: 4\r\n\r\nabcd", "abcd", End::Kept),
            ("content-length: 4\r\n\r\nabcdef", "abcd", End::Closed),
            ("content-length: 4\r\n\r\nab", "ab", End::Early),
            ("\r\nabc", "abc", End::Closed),
            (&format!("{chunked}x\r\n"), "a", End::Broken),
        ] {
            let heard = heard(&format!("{head}{rest}")).await.unwrap();
            assert_eq!((heard.status, heard.end), (StatusCode::OK, end), "{rest}");
            assert_eq!((heard.headers["a"].as_bytes(), heard.body), (&b"b"[..], body.into()), "{rest}");
        }
        assert_eq!(heard(head).await, None);
        assert_eq!(heard("HTTP/1.1 101 x\r\n\r\n").await, None);
    }

    async fn heard(answer: &str) -> Option<Heard> {
        let (near, mut far) = duplex(1024);
        far.write_all(answer.as_bytes()).await.unwrap();
        far.shutdown().await.unwrap();
        hear(near, Method::POST, Target::parse("http://127.0.0.1/").unwrap()).await
    }
}
