//! Reads requests and responses that a test brings, with the parsers of real connections.

use crate::{
    client::{BodyError, Connection, Pool, ResponseBody},
    framing::{Decoded, FramingError},
    server::{RequestHead, parse},
};
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, StatusCode, Uri};
use http_body::Body as _;
use std::{future::poll_fn, pin::Pin, sync::Arc, time::Duration};
use tokio::io::{AsyncRead, AsyncWrite};

/// A complete request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRequest {
    pub method: Method,
    pub target: Uri,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// A response, as far as it could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub end: End,
}

/// The state of a connection after the last byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All messages are complete, and another one may follow.
    KeepAlive,
    /// All messages are complete, and none may follow.
    Closed,
    /// A message is incomplete.
    Truncated,
    /// A message is invalid, and nothing after it is read.
    Invalid,
}

/// The requests in these pieces of a stream.
pub fn read_requests(pieces: impl IntoIterator<Item = Bytes>) -> (Vec<ReadRequest>, End) {
    let mut reader = RequestReader::default();
    for piece in pieces {
        if let Some(end) = reader.read(&piece) {
            return (reader.requests, end);
        }
    }
    let complete = reader.in_flight.is_none() && reader.input.is_empty();
    (reader.requests, if complete { End::KeepAlive } else { End::Truncated })
}

/// Sends a request over this stream and reads the response; `None` without a valid head.
pub async fn read_response<S>(stream: S, method: Method) -> Option<ReadResponse>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut connection = Box::new(Connection::new(stream, Arc::from("")));
    connection.start(&method, &Bytes::new(), |out| {
        out.extend_from_slice(method.as_str().as_bytes());
        out.extend_from_slice(b" / HTTP/1.1\r\nhost: localhost\r\n");
    });
    let head = poll_fn(|cx| connection.poll_response(cx)).await.ok()?;
    let (status, headers) = (head.status, head.headers.to_map());
    let pool = Pool::new(1, Duration::MAX);
    let mut reader = ResponseBody::new(connection, Arc::clone(&pool), head.framing, head.reuse);
    let mut body = Vec::new();
    let end = loop {
        match poll_fn(|cx| Pin::new(&mut reader).poll_frame(cx)).await {
            Some(Ok(frame)) => body.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Some(Err(BodyError::Framing(FramingError::Truncated))) => break End::Truncated,
            Some(Err(_)) => break End::Invalid,
            None if pool.is_empty() => break End::Closed,
            None => break End::KeepAlive,
        }
    };
    Some(ReadResponse { status, headers, body, end })
}

#[derive(Default)]
struct RequestReader {
    input: BytesMut,
    /// Bytes of the head that were parsed.
    scanned: usize,
    in_flight: Option<(RequestHead, Vec<u8>)>,
    requests: Vec<ReadRequest>,
}

impl RequestReader {
    fn read(&mut self, piece: &[u8]) -> Option<End> {
        self.input.extend_from_slice(piece);
        loop {
            let Some((head, body)) = &mut self.in_flight else {
                let mut input = std::mem::take(&mut self.input).freeze();
                let parsed = parse(&mut input, self.scanned, &[]);
                self.input = input.into();
                match parsed {
                    Ok(Some(head)) => self.in_flight = Some((head, Vec::new())),
                    Ok(None) => {
                        self.scanned = self.input.len();
                        return None;
                    }
                    Err(_) => return Some(End::Invalid),
                }
                continue;
            };
            match head.framing.decode(&mut self.input) {
                Ok(Decoded::Data(data)) => body.extend_from_slice(&data),
                Ok(Decoded::NeedMore) => return None,
                Ok(Decoded::End) => {
                    let (head, body) = self.in_flight.take()?;
                    let RequestHead { method, uri: target, headers, keep_alive, .. } = head;
                    self.requests.push(ReadRequest { method, target, headers, body });
                    self.scanned = 0;
                    if !keep_alive {
                        return Some(End::Closed);
                    }
                }
                Err(_) => return Some(End::Invalid),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncWriteExt as _, duplex};

    #[test]
    fn requests_are_read_as_they_arrive() {
        let read = |pieces: &[&str]| {
            let pieces: Vec<_> = pieces.iter().map(|piece| Bytes::from((*piece).to_owned())).collect();
            let (requests, end) = read_requests(pieces);
            (requests.into_iter().map(|request| request.body).collect::<Vec<_>>(), end)
        };
        let post = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\n";
        assert_eq!(read(&[post, "abc\r\n", post, "de"]), (vec![b"abc".to_vec()], End::Truncated));
        assert_eq!(read(&[post, "ab", "c"]), (vec![b"abc".to_vec()], End::KeepAlive));
        assert_eq!(read(&[post, "abcx y\r\n"]), (vec![b"abc".to_vec()], End::Invalid));
        let last = "GET / HTTP/1.0\r\n\r\n";
        assert_eq!(read(&[last, last]), (vec![Vec::new()], End::Closed));
        assert_eq!(read(&[&last[..9]]), (Vec::new(), End::Truncated));
    }

    #[tokio::test]
    async fn a_response_is_read_to_its_end() {
        let head = "HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n";
        let chunked = "transfer-encoding: chunked\r\n\r\n1\r\na\r\n";
        for (rest, body, end) in [
            ("content-length: 4\r\n\r\nabcd", "abcd", End::KeepAlive),
            ("content-length: 4\r\n\r\nabcdef", "abcd", End::Closed),
            ("content-length: 4\r\n\r\nab", "ab", End::Truncated),
            ("\r\nabc", "abc", End::Closed),
            (&format!("{chunked}x\r\n"), "a", End::Invalid),
        ] {
            let response = response(&format!("{head}{rest}")).await.unwrap();
            assert_eq!((response.status, response.end), (StatusCode::OK, end), "{rest}");
            assert_eq!((response.headers["a"].as_bytes(), response.body), (&b"b"[..], body.into()), "{rest}");
        }
        assert_eq!(response(head).await, None);
        assert_eq!(response("HTTP/1.1 101 x\r\n\r\n").await, None);
    }

    async fn response(text: &str) -> Option<ReadResponse> {
        let (near, mut far) = duplex(1024);
        far.write_all(text.as_bytes()).await.unwrap();
        far.shutdown().await.unwrap();
        read_response(near, Method::POST).await
    }
}
