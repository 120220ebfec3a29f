//! A response: its head, whose headers are parsed on demand, and its body.

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use hyper::body::Body as _;
use trunkline_http1::client::RawHeaders;

use super::arriving::Arriving;
use super::error::HttpError;
use super::media::{Media, coding, content_coding, media_type};

/// A response whose head was received; its body may still be in flight.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: Head,
    pub(crate) body: Arriving,
}

#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(super) media: Media,
    /// The content coding, unless it is `identity`.
    pub(super) coding: Option<String>,
    pub(super) fields: ResponseFields,
}

/// The header fields of a response.
#[derive(Debug)]
pub(super) enum ResponseFields {
    Raw(RawHeaders),
    Map(HeaderMap),
}

impl Answer {
    /// The kind of the response's content.
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
            ResponseFields::Map(map) => map,
            ResponseFields::Raw(raw) => raw.to_map(),
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
            fields: ResponseFields::Map(head.headers),
        };
        Self { head, body }
    }
}

impl Head {
    /// The head of a response over a plain connection.
    pub(super) fn from_raw(status: StatusCode, raw: RawHeaders) -> Self {
        let (mut media, mut encoding) = (None, None);
        for (name, value) in raw.iter() {
            match name.len() {
                12 if name.eq_ignore_ascii_case(b"content-type") => {
                    media.get_or_insert_with(|| Media::named(value));
                }
                16 if name.eq_ignore_ascii_case(b"content-encoding") => {
                    encoding = encoding.or_else(|| coding(value));
                }
                _ => {}
            }
        }
        Self {
            status,
            media: media.unwrap_or(Media::Other),
            coding: encoding,
            fields: ResponseFields::Raw(raw),
        }
    }

    /// All headers of this name.
    pub(super) fn get_all(&self, name: &HeaderName) -> Vec<HeaderValue> {
        match &self.fields {
            ResponseFields::Map(map) => map.get_all(name).iter().cloned().collect(),
            ResponseFields::Raw(raw) => raw.to_map().get_all(name).iter().cloned().collect(),
        }
    }

    /// The first header of this name.
    pub(crate) fn get(&self, name: &HeaderName) -> Option<HeaderValue> {
        match &self.fields {
            ResponseFields::Map(map) => map.get(name).cloned(),
            ResponseFields::Raw(raw) => raw.get(name),
        }
    }
}
