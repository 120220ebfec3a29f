//! A response with an error status.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::answer::Answer;
use crate::body::{self, Beginning};

/// Size limit of the kept body of an error response.
pub const ERROR_BODY_LIMIT: usize = 1024 * 1024;
/// Timeout of reading the body of an error response.
pub const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// An error response with its headers and body.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the server answered with status {status}")]
pub struct StatusError {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The body, as far as it was read within size limit and timeout; empty if it was
    /// content-encoded.
    pub body: Bytes,
    /// True if the body is incomplete.
    pub truncated: bool,
}

impl StatusError {
    pub(crate) async fn read(answer: Answer, body_limit: usize) -> Self {
        let (head, body) = answer.into_response().into_parts();
        let limit = body_limit.min(ERROR_BODY_LIMIT);
        let beginning = if super::media::content_coding(&head.headers).is_some() {
            Beginning::Cut(Bytes::new())
        } else {
            body::read_beginning(body, limit, ERROR_BODY_TIMEOUT).await
        };
        let (body, truncated) = match beginning {
            Beginning::Whole(body) => (body, false),
            Beginning::Cut(body) => (body, true),
        };
        Self { status: head.status, headers: head.headers, body, truncated }
    }

    /// The challenges of a 401 or 403.
    pub fn www_authenticate(&self) -> impl Iterator<Item = &HeaderValue> {
        self.headers.get_all(header::WWW_AUTHENTICATE).iter()
    }

    /// The `Retry-After` delay, given in seconds or as a date.
    pub fn retry_after(&self) -> Option<Duration> {
        let value = self.headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
        if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
            return value.parse().ok().map(Duration::from_secs);
        }
        let date = httpdate::parse_http_date(value).ok()?;
        Some(date.duration_since(SystemTime::now()).unwrap_or_default())
    }

    /// True if the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self.status.as_u16(), 408 | 425 | 429 | 502 | 503 | 504)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(retry_after: &str) -> StatusError {
        let mut headers = HeaderMap::new();
        headers.insert(header::RETRY_AFTER, retry_after.parse().unwrap());
        StatusError { status: StatusCode::SERVICE_UNAVAILABLE, headers, body: Bytes::new(), truncated: false }
    }

    #[test]
    fn retry_after_is_read_in_seconds_and_as_a_date() {
        assert_eq!(refusal("120").retry_after(), Some(Duration::from_mins(2)));
        assert_eq!(refusal("Sun, 06 Nov 1994 08:49:37 GMT").retry_after(), Some(Duration::ZERO));
        let in_an_hour = SystemTime::now() + Duration::from_hours(1);
        let wait = refusal(&httpdate::fmt_http_date(in_an_hour)).retry_after().unwrap();
        assert!(wait > Duration::from_secs(3500) && wait <= Duration::from_hours(1), "{wait:?}");
        for nonsense in ["", "-1", "+1", "1.5", "soon", "99999999999999999999999"] {
            assert_eq!(refusal(nonsense).retry_after(), None, "{nonsense}");
        }
    }
}
