//! Reads requests from memory as a connection would, for tests that bring requests of their own.

use super::head::{self, Asked};
use ::http::{HeaderMap, Method, Uri};
use bytes::{Bytes, BytesMut};
use trunkline_transport::framing::Taken;

/// A request that was read whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    pub method: Method,
    pub target: Uri,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// How a connection is left by what came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The next request may come.
    Kept,
    /// The last request wanted to be the last.
    Closed,
    /// A request has begun.
    Early,
    /// Something came that is no request, and nothing behind it is read.
    Refused,
}

/// The requests of a connection on which these pieces come.
pub fn hear(pieces: impl IntoIterator<Item = Bytes>) -> (Vec<Heard>, End) {
    let mut trial = Trial::default();
    for piece in pieces {
        if let Some(end) = trial.take(&piece) {
            return (trial.heard, end);
        }
    }
    let between = trial.underway.is_none() && trial.input.is_empty();
    (trial.heard, if between { End::Kept } else { End::Early })
}

#[derive(Default)]
struct Trial {
    input: BytesMut,
    /// How much of the head was looked at.
    seen: usize,
    underway: Option<(Asked, Vec<u8>)>,
    heard: Vec<Heard>,
}

impl Trial {
    fn take(&mut self, piece: &[u8]) -> Option<End> {
        self.input.extend_from_slice(piece);
        loop {
            let Some((asked, body)) = &mut self.underway else {
                let mut input = std::mem::take(&mut self.input).freeze();
                let found = head::find(&mut input, self.seen);
                self.input = input.into();
                match found {
                    Ok(Some(asked)) => self.underway = Some((asked, Vec::new())),
                    Ok(None) => {
                        self.seen = self.input.len();
                        return None;
                    }
                    Err(_) => return Some(End::Refused),
                }
                continue;
            };
            match asked.framing.take(&mut self.input) {
                Ok(Taken::Data(data)) => body.extend_from_slice(&data),
                Ok(Taken::Nothing) => return None,
                Ok(Taken::End) => {
                    let (asked, body) = self.underway.take()?;
                    let Asked { method, uri: target, fields: headers, keeps, .. } = asked;
                    self.heard.push(Heard { method, target, headers, body });
                    self.seen = 0;
                    if !keeps {
                        return Some(End::Closed);
                    }
                }
                Err(_) => return Some(End::Refused),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_heard_as_they_come_in() {
        let hear = |pieces: &[&str]| {
            let pieces: Vec<_> = pieces.iter().map(|piece| Bytes::from((*piece).to_owned())).collect();
            let (heard, end) = hear(pieces);
            (heard.into_iter().map(|heard| heard.body).collect::<Vec<_>>(), end)
        };
        let post = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\n";
        assert_eq!(hear(&[post, "abc\r\n", post, "de"]), (vec![b"abc".to_vec()], End::Early));
        assert_eq!(hear(&[post, "ab", "c"]), (vec![b"abc".to_vec()], End::Kept));
        assert_eq!(hear(&[post, "abcx y\r\n"]), (vec![b"abc".to_vec()], End::Refused));
        let last = "GET / HTTP/1.0\r\n\r\n";
        assert_eq!(hear(&[last, last]), (vec![Vec::new()], End::Closed));
        assert_eq!(hear(&[&last[..9]]), (Vec::new(), End::Early));
    }
}
