//! Sends one HTTP request and reads any kind of response, bounded in time and bytes.

use super::Site;
use crate::{
    evidence::{Evidence, Kind},
    frames,
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use serde_json::Value;
use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};
use trunkline_client::raw;
use trunkline_transport::{
    body::{Beginning, next_data, read_beginning},
    http::{Arriving, HttpClient, HttpError, Target},
    sse::Decoder,
};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Response headers worth showing: they identify the server or a proxy.
const SHOWN_HEADERS: [&str; 17] = [
    "content-type",
    "content-encoding",
    "server",
    "via",
    "location",
    "www-authenticate",
    "retry-after",
    "allow",
    "mcp-session-id",
    "mcp-protocol-version",
    "cf-ray",
    "cf-mitigated",
    "x-powered-by",
    "x-cache",
    "x-envoy-upstream-service-time",
    "accept",
    "x-accel-buffering",
];

/// A response, classified by its body.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Time until the response head.
    pub(super) after: Duration,
    pub(super) body: Body,
}

#[derive(Debug, Clone)]
pub(super) enum Body {
    Empty,
    /// A JSON body, or the first answer in an event stream.
    Json(Value),
    Text(String),
    /// An event stream without any event in this time.
    Held(Duration),
    /// An event stream that reached EOF before an answer.
    Ended,
    /// A `Content-Encoding` that we did not ask for.
    Encoded(String),
}

/// POSTs one message.
pub(super) async fn post(
    site: &Site<'_>,
    client: &HttpClient,
    frame: &Value,
    mut headers: HeaderMap,
) -> Result<Reply, HttpError> {
    headers.extend(raw::post_headers());
    let target = Target::new(site.address.clone())?;
    let start = Instant::now();
    let response = client.send(Method::POST, &target, headers, frame.to_string().into()).await?;
    Ok(read(site, response, frame.get("id").and_then(Value::as_u64), start).await)
}

/// GETs a JSON document.
pub(super) async fn get(
    site: &Site<'_>,
    client: &HttpClient,
    address: &::url::Url,
) -> Result<Reply, HttpError> {
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCEPT, JSON);
    let start = Instant::now();
    let response = client.send(Method::GET, &Target::new(address.clone())?, headers, Bytes::new()).await?;
    Ok(read(site, response, None, start).await)
}

/// Builds a new client, so that its requests use a new connection.
pub(super) fn client(site: &Site<'_>) -> Result<HttpClient, Box<crate::Problem>> {
    let limit = site.options.limits.step;
    let mut options = site.options.http.clone();
    options.connect_timeout = options.connect_timeout.min(limit);
    options.endpoint_timeout = options.endpoint_timeout.min(limit);
    options.head_timeout = Some(limit);
    options.body_limit = site.options.limits.bytes;
    options.event_limit = site.options.limits.bytes;
    HttpClient::new(options).map_err(|error| {
        let problem = crate::Problem::new(crate::Cause::AddressInvalid, error.to_string());
        Box::new(problem.fix("leave that --header out"))
    })
}

async fn read(site: &Site<'_>, response: Response<Arriving>, id: Option<u64>, start: Instant) -> Reply {
    let after = start.elapsed();
    let (head, body) = response.into_parts();
    let limits = site.options.limits;
    let text = |name: header::HeaderName| {
        head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_ascii_lowercase()
    };
    let coding = text(header::CONTENT_ENCODING);
    let kind = text(header::CONTENT_TYPE);
    let body = if !matches!(coding.as_str(), "" | "identity") {
        Body::Encoded(coding)
    } else if kind.starts_with("text/event-stream") {
        events(body, id, limits.bytes, limits.step).await
    } else {
        let (Beginning::Whole(bytes) | Beginning::Cut(bytes)) =
            read_beginning(body, limits.bytes, limits.step).await;
        match serde_json::from_slice(&bytes) {
            _ if bytes.is_empty() => Body::Empty,
            Ok(value) if !kind.starts_with("text/html") => Body::Json(value),
            _ => Body::Text(String::from_utf8_lossy(&bytes).into_owned()),
        }
    };
    Reply { status: head.status, headers: head.headers, after, body }
}

/// Reads events until the answer to our request, EOF or the time limit.
async fn events(mut body: Arriving, id: Option<u64>, limit: usize, within: Duration) -> Body {
    let mut decoder = Decoder::new(limit);
    let mut total = 0;
    let reading = async {
        loop {
            while let Ok(Some(event)) = decoder.next() {
                if let Ok(message) = serde_json::from_slice::<Value>(&event.data)
                    && id.is_none_or(|id| frames::answers(&message, id))
                {
                    return Body::Json(message);
                }
            }
            let Some(data) = next_data(&mut body).await else { return Body::Ended };
            total += data.len();
            if total > limit {
                return Body::Ended;
            }
            decoder.push(data);
        }
    };
    tokio::time::timeout(within, reading).await.unwrap_or(Body::Held(within))
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The status and the headers worth showing.
    pub(super) fn head(&self) -> String {
        let mut text = format!("HTTP {}", self.status);
        for name in SHOWN_HEADERS {
            for value in self.headers.get_all(name) {
                write!(text, "\n{name}: {}", String::from_utf8_lossy(value.as_bytes()))
                    .expect("a String takes any text");
            }
        }
        text
    }

    pub(super) fn evidence(&self) -> Vec<Evidence> {
        let body = match &self.body {
            Body::Json(value) => value.to_string(),
            Body::Text(text) => text.chars().take(600).collect(),
            Body::Empty | Body::Held(_) | Body::Ended | Body::Encoded(_) => String::new(),
        };
        vec![Evidence::new(Kind::Head, self.head()), Evidence::new(Kind::Body, body)]
    }

    /// The body, if it is a JSON-RPC message.
    pub(super) fn message(&self) -> Option<&Value> {
        match &self.body {
            Body::Json(value)
                if value.get("jsonrpc").is_some()
                    || value.get("error").is_some_and(|error| error.get("code").is_some()) =>
            {
                Some(value)
            }
            _ => None,
        }
    }

    pub(super) fn text(&self) -> String {
        match &self.body {
            Body::Text(text) => text.clone(),
            Body::Json(value) => value.to_string(),
            _ => String::new(),
        }
    }

    pub(super) fn is_html(&self) -> bool {
        let named = self
            .header("content-type")
            .is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/html"));
        let text = self.text();
        let start = text.trim_start().chars().take(15).collect::<String>().to_ascii_lowercase();
        named || start.starts_with("<!doctype html") || start.starts_with("<html")
    }
}
