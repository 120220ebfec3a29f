//! The content kind of a response, from its headers.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, header};
use hyper::body::Body as _;

use super::answer::Answer;
use super::arriving::Arriving;
use super::error::HttpError;
use crate::body::{self, Beginning};

/// Bytes of an unexpected response that are shown.
const SHOWN: usize = 512;
/// Longest time to drain an unneeded body so that its connection can be reused.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
const DRAIN_LIMIT: usize = 64 * 1024;

/// A response with a content type that is neither JSON nor an event stream.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the server answered with {}", content_type.as_deref().unwrap_or("no content type"))]
pub struct UnexpectedContentType {
    pub content_type: Option<String>,
    /// The first bytes of the body.
    pub beginning: Bytes,
}

/// The kinds of response content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    Json,
    EventStream,
    /// No body.
    Empty,
    Other,
}

impl Media {
    /// The kind of a content type.
    pub(super) fn named(content_type: &[u8]) -> Self {
        let essence = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        if essence.eq_ignore_ascii_case(b"application/json") {
            Self::Json
        } else if essence.eq_ignore_ascii_case(b"text/event-stream") {
            Self::EventStream
        } else {
            Self::Other
        }
    }
}

pub(super) fn media_type(headers: &HeaderMap) -> Media {
    headers.get(header::CONTENT_TYPE).map_or(Media::Other, |value| Media::named(value.as_bytes()))
}

/// The content coding, unless it is `identity`.
pub(super) fn content_coding(headers: &HeaderMap) -> Option<String> {
    let codings = headers.get_all(header::CONTENT_ENCODING).iter();
    codings.map(|value| coding(value.as_bytes())).find(Option::is_some).flatten()
}

/// The coding of a `Content-Encoding` value, unless it is empty or `identity`.
pub(super) fn coding(value: &[u8]) -> Option<String> {
    let coding = String::from_utf8_lossy(value).trim().to_ascii_lowercase();
    (!coding.is_empty() && coding != "identity").then_some(coding)
}

/// The error for a response of another type, with its first bytes.
pub(crate) async fn unexpected(answer: Answer) -> HttpError {
    let content_type = answer.head.get(&header::CONTENT_TYPE);
    let content_type = content_type.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let beginning = body::read_beginning(answer.body, SHOWN, DRAIN_TIMEOUT).await;
    let (Beginning::Whole(beginning) | Beginning::Cut(beginning)) = beginning;
    Box::new(UnexpectedContentType { content_type, beginning }).into()
}

/// Drains an unneeded body, if it is short, so that its connection can be reused.
pub(crate) async fn drain(body: Arriving) {
    if !body.is_end_stream() {
        body::read_beginning(body, DRAIN_LIMIT, DRAIN_TIMEOUT).await;
    }
}
