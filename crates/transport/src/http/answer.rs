//! An answer: its head, read only as far as anybody asks, and its body.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use hyper::body::Body as _;
use memchr::memchr;

use super::arriving::Arriving;
use super::error::HttpError;
use super::media::{Media, content_coding, media_type};

/// The head of an answer has come; its body may still be on its way.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: Head,
    pub(crate) body: Arriving,
}

#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(super) media: Media,
    /// The coding of a body that is not simply itself.
    pub(super) coding: Option<String>,
    pub(super) fields: Said,
}

/// The header fields of an answer.
#[derive(Debug)]
pub(super) enum Said {
    /// As they came, checked and not yet taken apart.
    Text(Bytes),
    Map(HeaderMap),
}

impl Answer {
    /// What kind of answer it is.
    pub(crate) fn media(&mut self) -> Result<Media, HttpError> {
        if self.body.is_end_stream() {
            return Ok(Media::Empty);
        }
        match self.head.coding.take() {
            Some(encoding) => Err(HttpError::UnexpectedEncoding { encoding }),
            None => Ok(self.head.media),
        }
    }

    pub(crate) fn into_response(self) -> Response<Arriving> {
        let mut response = Response::new(self.body);
        *response.status_mut() = self.head.status;
        *response.headers_mut() = match self.head.fields {
            Said::Map(map) => map,
            Said::Text(text) => map_of(&text),
        };
        response
    }
}

impl From<Response<Arriving>> for Answer {
    fn from(response: Response<Arriving>) -> Self {
        let (head, body) = response.into_parts();
        let head = Head {
            status: head.status,
            media: media_type(&head.headers),
            coding: content_coding(&head.headers),
            fields: Said::Map(head.headers),
        };
        Self { head, body }
    }
}

impl Head {
    /// The first field of this name.
    pub(crate) fn get(&self, name: &HeaderName) -> Option<HeaderValue> {
        match &self.fields {
            Said::Map(map) => map.get(name).cloned(),
            Said::Text(text) => {
                let found =
                    lines(text).find(|(known, _)| known.eq_ignore_ascii_case(name.as_str().as_bytes()));
                found.and_then(|(_, value)| HeaderValue::from_bytes(value).ok())
            }
        }
    }
}

/// The fields of a head whose grammar was checked.
fn lines(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    text.split(|byte| *byte == b'\n').filter_map(|line| {
        let (name, value) = line.split_at_checked(memchr(b':', line)?)?;
        Some((name, value[1..].trim_ascii()))
    })
}

pub(super) fn map_of(text: &[u8]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in lines(text) {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
            map.append(name, value);
        }
    }
    map
}
