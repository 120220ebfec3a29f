//! Fetches documents whose addresses others choose: bounded, and guarded against requests to
//! addresses that only this machine can reach.

use crate::{OAuthError, Reach, error::said};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde::de::DeserializeOwned;
use std::{sync::Arc, time::Duration};
use trunkline_resilience::timeout;
use trunkline_transport::{
    body,
    foreign::{Resolve, SystemResolver},
    http::{ForbiddenHeader, HttpClient, HttpOptions, Target, is_this_machine},
};
use url::Url;

/// Size limit of a metadata document, registration or token response.
const MAX_DOCUMENT: usize = 256 * 1024;
/// Timeout of one request, from the connection to the last byte.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The HTTP client for metadata and tokens. It sends no headers of the MCP server.
#[derive(Debug, Clone)]
pub struct Web {
    client: HttpClient,
    reach: Reach,
}

/// A response, whatever its status.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) url: String,
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl Web {
    /// `options` give certificates and the connect timeout; their headers and credentials are for
    /// the MCP server and are not used.
    pub fn new(options: &HttpOptions, reach: Reach) -> Result<Self, ForbiddenHeader> {
        Self::with_resolver(options, reach, Arc::new(SystemResolver))
    }

    pub(crate) fn with_resolver(
        options: &HttpOptions,
        reach: Reach,
        resolver: Arc<dyn Resolve>,
    ) -> Result<Self, ForbiddenHeader> {
        let options = HttpOptions {
            extra_headers: HeaderMap::new(),
            credentials: None,
            head_timeout: Some(TIMEOUT),
            body_limit: MAX_DOCUMENT,
            addresses: reach.addresses(resolver),
            ..options.clone()
        };
        Ok(Self { client: HttpClient::new(options)?, reach })
    }

    /// Fetches a JSON document; `None` if there is none at this address.
    pub(crate) async fn document<T: DeserializeOwned>(&self, url: &Url) -> Result<Option<T>, OAuthError> {
        let reply = self.send(Method::GET, url, HeaderMap::new(), Bytes::new()).await?;
        if reply.status.is_client_error() || reply.status.is_redirection() {
            return Ok(None);
        }
        if !reply.status.is_success() {
            return Err(OAuthError::Status { url: reply.url, status: reply.status.as_u16() });
        }
        // A page for browsers in place of the document means that there is none.
        if reply.body.trim_ascii_start().first() == Some(&b'<') {
            return Ok(None);
        }
        reply.json().map(Some)
    }

    pub(crate) async fn post_form(
        &self,
        url: &Url,
        form: &[(&str, &str)],
        authorization: Option<HeaderValue>,
    ) -> Result<Reply, OAuthError> {
        let mut headers = typed("application/x-www-form-urlencoded");
        if let Some(value) = authorization {
            headers.insert(header::AUTHORIZATION, value);
        }
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        self.send(Method::POST, url, headers, body.into()).await
    }

    pub(crate) async fn post_json(&self, url: &Url, value: &serde_json::Value) -> Result<Reply, OAuthError> {
        self.send(Method::POST, url, typed("application/json"), value.to_string().into()).await
    }

    /// Refuses a scheme that a server must not make us use. Addresses are checked when they are
    /// connected to.
    pub(crate) fn check(&self, url: &Url) -> Result<(), OAuthError> {
        check_scheme(url, &self.reach).map_err(|reason| OAuthError::Refused { url: told(url), reason })
    }

    /// Refuses a place of the server's own metadata where somebody else could have put it.
    pub(crate) fn check_source(&self, place: &Url) -> Result<(), OAuthError> {
        if self.reach.trusts(place) {
            return Ok(());
        }
        let reason = "metadata of a server with a private address must be at the server's own host";
        Err(OAuthError::Refused { url: told(place), reason })
    }

    async fn send(
        &self,
        method: Method,
        url: &Url,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Reply, OAuthError> {
        self.check(url)?;
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        let named = told(url);
        let failed = |source| OAuthError::Fetch { url: told(url), source: Box::new(source) };
        let target = Target::new(url.clone()).map_err(|error| failed(error.into()))?;
        let exchange = async {
            let response = self.client.send(method, &target, headers, body).await.map_err(failed)?;
            let (head, body) = response.into_parts();
            let body = body::read(body, MAX_DOCUMENT).await.map_err(|error| failed(error.into()))?;
            Ok(Reply { url: named.clone(), status: head.status, body })
        };
        let seconds = TIMEOUT.as_secs();
        timeout(TIMEOUT, exchange).await.unwrap_or(Err(OAuthError::Slow { url: named.clone(), seconds }))
    }
}

impl Reply {
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, OAuthError> {
        serde_json::from_slice(&self.body)
            // The text of a data error may quote a value, which may be a token.
            .map_err(|error| self.malformed(format!("{:?} error at line {}", error.classify(), error.line())))
    }

    pub(crate) fn malformed(&self, reason: impl Into<String>) -> OAuthError {
        OAuthError::Malformed { url: self.url.clone(), reason: reason.into() }
    }
}

/// Parses an endpoint of a metadata document, and refuses schemes that must not be opened.
pub(crate) fn endpoint(text: &str, at: &str) -> Result<Url, OAuthError> {
    let malformed = |reason: String| OAuthError::Malformed { url: at.to_owned(), reason };
    let url =
        Url::parse(text).map_err(|error| malformed(format!("`{}` is not a URL: {error}", said(text))))?;
    match Target::new(url.clone()) {
        Ok(_) => Ok(url),
        Err(error) => Err(malformed(said(&error.to_string()))),
    }
}

/// The URL without its query, which may hold secrets.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

/// The URL for an error; a server may have chosen a long one.
fn told(url: &Url) -> String {
    said(&shown(url))
}

fn check_scheme(url: &Url, reach: &Reach) -> Result<(), &'static str> {
    match (url.scheme(), reach) {
        ("https", _) | ("http", Reach::Insecure) => Ok(()),
        ("http", Reach::Private | Reach::PrivateName(_)) if is_this_machine(url) => Ok(()),
        ("http", _) => Err("plain http is allowed on this machine only, and only for a server on it"),
        _ => Err("only https is allowed"),
    }
}

fn typed(kind: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[tokio::test]
    async fn r01_a_public_server_cannot_name_a_private_address() {
        let web = Web::new(&HttpOptions::default(), Reach::Public).unwrap();
        for private in [
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/x",
            "https://[::ffff:127.0.0.1]/x",
            "https://2130706433/x",
            "https://0x7f.1/x",
            "https://0177.0.0.1/x",
            "https://100.64.0.1/x",
            "https://[64:ff9b::a9fe:a9fe]/x",
            "https://localhost/x",
        ] {
            let error = web.document::<serde_json::Value>(&url(private)).await.unwrap_err();
            assert!(matches!(error, OAuthError::Fetch { .. }), "{private}: {error}");
            let source = format!("{error:?}");
            assert!(source.contains("not a public address") || source.contains("AddressRefused"), "{source}");
        }
    }

    #[tokio::test]
    async fn r02_a_redirect_to_another_origin_is_not_followed() {
        use tokio::{
            io::{AsyncReadExt, AsyncWriteExt},
            net::TcpListener,
        };
        let (first, other) = (TcpListener::bind("127.0.0.1:0").await, TcpListener::bind("127.0.0.1:0").await);
        let (first, other) = (first.unwrap(), other.unwrap());
        let (start, target) = (first.local_addr().unwrap(), other.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            let (mut stream, _) = first.accept().await.unwrap();
            let mut head = [0; 4096];
            assert!(stream.read(&mut head).await.unwrap() > 0);
            let answer =
                format!("HTTP/1.1 302 X\r\nlocation: http://{target}/x\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        let web = Web::new(&HttpOptions::default(), Reach::Private).unwrap();
        let found = web.document::<serde_json::Value>(&url(&format!("http://{start}/x"))).await;
        assert!(!matches!(found, Ok(Some(_))), "{found:?}");
        serving.await.unwrap();
        let visited = std::future::poll_fn(|cx| std::task::Poll::Ready(other.poll_accept(cx).is_ready()));
        assert!(!visited.await, "the other origin was asked");
    }

    #[test]
    fn r05_only_https_or_this_machine_is_contacted() {
        let allowed = |text: &str, reach: Reach| check_scheme(&url(text), &reach).is_ok();
        for bad in ["ftp://h/", "file:///etc/passwd", "data:x", "gopher://h/", "unix:/x"] {
            for reach in [Reach::Public, Reach::Private, Reach::Insecure] {
                assert!(!allowed(bad, reach), "{bad}");
            }
        }
        assert!(!allowed("http://h/", Reach::Public) && !allowed("http://127.0.0.1/", Reach::Public));
        assert!(!allowed("http://h/", Reach::Private) && allowed("http://h/", Reach::Insecure));
        assert!(allowed("http://localhost:1/", Reach::Private) && allowed("https://h/", Reach::Public));
    }
}
