//! Reads the body of a POST within its limits.

use super::{
    AdmittedRequest,
    response::{A_MOMENT, Body, error, with_retry_after},
};
use crate::options::Limits;
use ::http::{HeaderMap, Response, StatusCode, header};
use bytes::Bytes;
use trunkline_http1::server::{Pending, RequestBody};
use trunkline_protocol::{Era, ErrorObject, Fault, FaultKind};
use trunkline_resilience::timeout;
use trunkline_transport::body;

/// The reason why a body was not read.
pub(crate) struct BodyRefusal {
    pub(crate) status: StatusCode,
    pub(crate) text: String,
}

/// Reads the body, then calls `then`; without waiting if the body arrived with the head.
pub(crate) fn read(
    request: AdmittedRequest,
    body: RequestBody,
    then: impl FnOnce(AdmittedRequest, &Bytes) -> Pending<Body> + Send + 'static,
    refuse: fn(BodyRefusal) -> Response<Body>,
) -> Pending<Body> {
    if !is_json(&request.headers) {
        let text = "the body must be application/json, in UTF-8 and not compressed";
        return Pending::ready(refuse(BodyRefusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text)));
    }
    let limits = request.service.options.limits;
    match body {
        RequestBody::Whole(bytes) if bytes.len() <= limits.body => then(request, &bytes),
        body => Pending::preparing(async move {
            match receive(body, &limits).await {
                Ok(bytes) => then(request, &bytes),
                Err(refusal) => Pending::ready(refuse(refusal)),
            }
        }),
    }
}

async fn receive(body: RequestBody, limits: &Limits) -> Result<Bytes, BodyRefusal> {
    let (status, text) = match timeout(limits.body_timeout, body::read(body, limits.body)).await {
        Some(Ok(bytes)) => return Ok(bytes),
        Some(Err(body::BodyError::TooLarge { limit })) => {
            (StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {limit} bytes"))
        }
        Some(Err(body::BodyError::OutOfMemory(full))) => (StatusCode::SERVICE_UNAVAILABLE, full.to_string()),
        Some(Err(body::BodyError::Broken(_))) => (StatusCode::BAD_REQUEST, "the body broke off".to_owned()),
        None => (StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time".to_owned()),
    };
    Err(BodyRefusal::new(status, text))
}

/// Only JSON is accepted. This also stops pages in a browser: they need a CORS preflight for it.
fn is_json(headers: &HeaderMap) -> bool {
    if headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json")
        && !headers.contains_key(header::CONTENT_ENCODING)
    {
        return true;
    }
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = text(header::CONTENT_TYPE);
    let (essence, parameters) = kind.split_once(';').unwrap_or((kind, ""));
    let charset = parameters
        .split(';')
        .filter_map(|parameter| parameter.trim().split_once('='))
        .find(|(name, _)| name.eq_ignore_ascii_case("charset"));
    let utf8 = charset.is_none_or(|(_, charset)| charset.trim_matches('"').eq_ignore_ascii_case("utf-8"));
    let plain = matches!(text(header::CONTENT_ENCODING), "" | "identity");
    essence.trim().eq_ignore_ascii_case("application/json") && utf8 && plain
}

impl BodyRefusal {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    /// Seconds after which it may be sent again.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        (self.status == StatusCode::SERVICE_UNAVAILABLE).then_some(A_MOMENT)
    }

    /// The answer to a request of MCP.
    pub(super) fn respond(self) -> Response<Body> {
        let wait = self.retry_after();
        let object = match wait {
            Some(_) => Fault::new(FaultKind::Overloaded, self.text).to_error(Era::Modern),
            None => ErrorObject::new(-32600, self.text),
        };
        with_retry_after(error(self.status, None, object), wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h03_h06_only_plain_json_is_taken() {
        let with = |kind: &str, coding: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, kind.parse().unwrap());
            if let Some(coding) = coding {
                headers.insert(header::CONTENT_ENCODING, coding.parse().unwrap());
            }
            is_json(&headers)
        };
        assert!(
            with("application/json", None) && with("Application/JSON; charset=\"UTF-8\"", Some("identity"))
        );
        for bad in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "application/json; charset=utf-16",
            "",
        ] {
            assert!(!with(bad, None), "{bad}");
        }
        assert!(!with("application/json", Some("gzip")));
    }
}
