//! Reading what a client posts, within its limits.

use super::{
    Visit,
    answer::{Answer, error},
    connection::Incoming,
};
use ::http::{HeaderMap, Response, StatusCode, header};
use bytes::Bytes;
use trunkline_protocol::ErrorObject;
use trunkline_resilience::within_time;
use trunkline_transport::body;

/// The body of a POST, or the answer that says why it is not taken.
pub(super) async fn read(visit: &Visit, body: Incoming) -> Result<Bytes, Box<Response<Answer>>> {
    if !is_json(&visit.headers) {
        let text = "the body must be application/json, in UTF-8 and not compressed";
        return Err(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    let limits = &visit.service.options.limits;
    let body = match body {
        Incoming::Whole(bytes) if bytes.len() <= limits.body => return Ok(bytes),
        body => body,
    };
    let read = within_time(limits.body_timeout, body::read(body, limits.body));
    match read.await {
        Some(Ok(bytes)) => Ok(bytes),
        Some(Err(body::BodyError::TooLarge { limit })) => {
            Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, &format!("the body is larger than {limit} bytes")))
        }
        Some(Err(body::BodyError::Broken(_))) => Err(refuse(StatusCode::BAD_REQUEST, "the body broke off")),
        None => Err(refuse(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time")),
    }
}

/// Only JSON is taken. A page of a browser can post other types without asking first, so this is a guard, too.
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

fn refuse(status: StatusCode, text: &str) -> Box<Response<Answer>> {
    Box::new(error(status, None, ErrorObject::new(-32600, text)))
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
