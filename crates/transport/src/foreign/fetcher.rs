//! Fetches a foreign URL.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use hyper::body::Body as _;
use trunkline_resilience::{Reservation, hold_reserved, timeout};
use url::Url;

use super::error::ForeignError;
use super::guard::{AddressGuard, AddressPolicy};
use super::gzip::{Content, Refused};
use super::limits::FetchLimits;
use crate::http::{Arriving, HttpClient, HttpError, HttpOptions, InvalidUrl, Redirects, Target};

/// A response with a success status.
#[derive(Debug)]
pub struct Fetched {
    /// The URL that answered, after redirects.
    pub url: Url,
    /// The headers of the response.
    pub headers: HeaderMap,
    /// The content, decompressed.
    pub body: Bytes,
}

/// Fetches foreign URLs with GET, within limits. It keeps neither connections nor cookies between
/// two fetches, and uses no proxy.
#[derive(Clone)]
pub struct ForeignFetcher {
    client: HttpClient,
    limits: FetchLimits,
}

impl ForeignFetcher {
    /// A fetcher whose connections are made as `options` say, and only where `guard` lets pass.
    /// Extra headers, credentials and client certificates of `options` are not used: they are not
    /// for a server that a stranger chose.
    pub fn new(guard: AddressGuard, options: HttpOptions, limits: FetchLimits) -> Self {
        let options = HttpOptions {
            extra_headers: HeaderMap::new(),
            credentials: None,
            client_certificate: None,
            addresses: AddressPolicy::Guarded(Arc::new(guard)),
            redirects: Redirects::Returned,
            pool_max_idle: 0,
            ..options
        };
        let client = HttpClient::new(options).expect("no extra header can be forbidden");
        Self { client, limits }
    }

    pub fn limits(&self) -> &FetchLimits {
        &self.limits
    }

    /// Fetches a URL, with `headers` for the origin of that URL only.
    pub async fn fetch(&self, url: &str, headers: HeaderMap) -> Result<Fetched, ForeignError> {
        let target = Target::parse(url).map_err(ForeignError::InvalidUrl)?;
        let limit = self.limits.total;
        timeout(limit, self.follow(target, headers)).await.unwrap_or(Err(ForeignError::TimedOut { limit }))
    }

    async fn follow(&self, mut target: Target, mut headers: HeaderMap) -> Result<Fetched, ForeignError> {
        for _ in 0..=self.limits.redirects {
            let response = self.send(&target, headers.clone()).await?;
            let Some(next) = redirect(&target, response.status(), response.headers())? else {
                return self.read(target, response).await;
            };
            if !target.same_origin(&next) {
                headers = HeaderMap::new();
            }
            target = next;
        }
        Err(ForeignError::TooManyRedirects { limit: self.limits.redirects })
    }

    async fn send(
        &self,
        target: &Target,
        mut headers: HeaderMap,
    ) -> Result<Response<Arriving>, ForeignError> {
        let usual = [
            (header::ACCEPT, HeaderValue::from_static("*/*")),
            (header::ACCEPT_ENCODING, HeaderValue::from_static("gzip")),
            (header::USER_AGENT, HeaderValue::from_static(concat!("trunkline/", env!("CARGO_PKG_VERSION")))),
        ];
        for (name, value) in usual {
            set_default(&mut headers, name, value);
        }
        let limit = self.limits.silence;
        let sending = self.client.send(Method::GET, target, headers, Bytes::new());
        match timeout(limit, sending).await {
            Some(Ok(response)) => Ok(response),
            Some(Err(error @ HttpError::Broken(_))) => Err(ForeignError::Broken(Box::new(error))),
            Some(Err(error)) => Err(ForeignError::Unreachable(Box::new(error))),
            None => Err(ForeignError::TooSlow { limit }),
        }
    }

    async fn read(&self, target: Target, response: Response<Arriving>) -> Result<Fetched, ForeignError> {
        let (head, mut body) = response.into_parts();
        if head.status != StatusCode::OK {
            return Err(ForeignError::Status { status: head.status });
        }
        let limit = self.limits.body;
        let mut content = content(&head.headers, limit)?;
        if usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX) > limit {
            return Err(ForeignError::TooLarge { limit });
        }
        let mut memory = Reservation::default();
        while self.read_some(&mut body, &mut content).await? {
            memory.grow_to(content.capacity()).map_err(|_| ForeignError::OutOfMemory)?;
        }
        let body = content.end().map_err(|refused| refusal(refused, limit))?;
        let body = hold_reserved(body.into(), memory);
        Ok(Fetched { url: target.url().clone(), headers: head.headers, body })
    }

    /// Reads about [`FetchLimits::PROGRESS`] bytes in time; returns false at the end of the body.
    async fn read_some(&self, body: &mut Arriving, content: &mut Content) -> Result<bool, ForeignError> {
        let limit = self.limits.silence;
        let reading = async {
            let mut read = 0;
            while read < FetchLimits::PROGRESS {
                let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await;
                let Some(frame) = frame else { return Ok(false) };
                let frame =
                    frame.map_err(|error| ForeignError::Broken(Box::new(HttpError::from_broken(error))))?;
                let Ok(data) = frame.into_data() else { continue };
                read += data.len();
                content.push(&data).map_err(|refused| refusal(refused, self.limits.body))?;
            }
            Ok(true)
        };
        timeout(limit, reading).await.unwrap_or(Err(ForeignError::TooSlow { limit }))
    }
}

/// The next target, if the response is a redirect.
fn redirect(from: &Target, status: StatusCode, headers: &HeaderMap) -> Result<Option<Target>, ForeignError> {
    let is_redirect = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = headers.get(header::LOCATION).filter(|_| is_redirect) else {
        return Ok(None);
    };
    let location = location.to_str().map_err(|_| InvalidUrl::Syntax {
        text: "the Location header".to_owned(),
        reason: "it is not ASCII".to_owned(),
    });
    let next = location.and_then(|location| from.resolve(location)).map_err(ForeignError::BadRedirect)?;
    if next.is_plain() && !from.is_plain() {
        return Err(ForeignError::Downgrade);
    }
    Ok(Some(next))
}

fn content(headers: &HeaderMap, limit: usize) -> Result<Content, ForeignError> {
    let mut codings = headers.get_all(header::CONTENT_ENCODING).iter();
    let coding = codings.next().map_or(&b"identity"[..], |coding| coding.as_bytes().trim_ascii());
    let is = |name: &str| coding.eq_ignore_ascii_case(name.as_bytes());
    match codings.next() {
        None if is("identity") || is("") => Ok(Content::plain(limit)),
        None if is("gzip") || is("x-gzip") => Ok(Content::gzip(limit)),
        _ => Err(ForeignError::Coding { coding: String::from_utf8_lossy(coding).into_owned() }),
    }
}

fn refusal(refused: Refused, limit: usize) -> ForeignError {
    match refused {
        Refused::TooLarge => ForeignError::TooLarge { limit },
        Refused::Damaged => ForeignError::Damaged,
    }
}

fn set_default(headers: &mut HeaderMap, name: HeaderName, value: HeaderValue) {
    headers.entry(name).or_insert(value);
}

impl fmt::Debug for ForeignFetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignFetcher").field("limits", &self.limits).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(from: &str, location: &'static str) -> Result<Option<Target>, ForeignError> {
        let headers = HeaderMap::from_iter([(header::LOCATION, HeaderValue::from_static(location))]);
        redirect(&Target::parse(from).unwrap(), StatusCode::FOUND, &headers)
    }

    #[test]
    fn r02_a_redirect_keeps_https_and_leads_to_http_urls_only() {
        let next = after("https://a.example/x", "//b.example/y").unwrap().unwrap();
        assert_eq!(next.to_string(), "https://b.example/y");
        assert!(after("http://a.example/", "https://b.example/").unwrap().is_some());
        let down = after("https://a.example/", "http://a.example/");
        assert!(matches!(down, Err(ForeignError::Downgrade)), "{down:?}");
        for location in ["file:///etc/passwd", "gopher://b/", "data:,x", "https://u:p@b.example/", "https://"]
        {
            let refused = after("https://a.example/", location);
            assert!(matches!(refused, Err(ForeignError::BadRedirect(_))), "{location}: {refused:?}");
        }
    }
}
