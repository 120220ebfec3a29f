//! Asks a running gateway: for its status page, or to carry out a command.

use crate::failure::Failure;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use std::time::Duration;
use trunkline_protocol::{Fault, FaultKind, Raw};
use trunkline_transport::{
    body,
    http::{HttpClient, HttpError, HttpOptions, Target},
};
use url::{Host, Url};

/// Path of the status page.
pub(super) const STATUS: &str = "/status";
/// Timeout for fetching a page.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of the response body.
const LIMIT: usize = 8 * 1024 * 1024;

/// Asks one gateway at one path.
#[derive(Debug)]
pub(crate) struct Asker {
    client: HttpClient,
    target: Target,
    headers: HeaderMap,
}

impl Asker {
    pub(crate) fn new(address: &str, key: Option<&str>, path: &str) -> Result<Self, Failure> {
        let target = target(address, path)?;
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(key) = key {
            if !is_private(target.url()) {
                let text = "a key is not sent over plain HTTP to another machine";
                return Err(Failure::usage(text).hint("use an https address"));
            }
            let mut value = HeaderValue::try_from(format!("Bearer {key}"))
                .map_err(|_| Failure::usage("the key has characters that are not allowed in a header"))?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        let client =
            HttpClient::new(HttpOptions::default()).map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Self { client, target, headers })
    }

    /// This asker, with a query.
    pub(crate) fn with_query(mut self, query: &[(&str, String)]) -> Self {
        if !query.is_empty() {
            let mut url = self.target.url().clone();
            url.query_pairs_mut().extend_pairs(query);
            if let Ok(target) = Target::new(url) {
                self.target = target;
            }
        }
        self
    }

    /// This asker, with a header whose value is secret.
    pub(crate) fn with_header(mut self, name: HeaderName, value: &str) -> Result<Self, Failure> {
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| Failure::usage("the secret has characters that are not allowed in a header"))?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(self)
    }

    /// True if the gateway is on this machine.
    pub(crate) fn stays_here(&self) -> bool {
        self.target.url().scheme() == "http" && is_private(self.target.url())
    }

    /// Fetches a page.
    pub(super) async fn ask(&self) -> Result<Raw, Failure> {
        let (status, answer) = within(TIMEOUT, self.target.url(), self.send(Method::GET, None)).await?;
        if status != StatusCode::OK {
            return Err(unreachable(&format!("{} answers {status}; is it a gateway?", self.target.url())));
        }
        self.parse(answer)
    }

    /// Sends a command, which may take as long as `limit`. The answer of a gateway that refuses it
    /// has another status than 200.
    pub(crate) async fn command(&self, limit: Duration) -> Result<(StatusCode, Raw), Failure> {
        self.request(Method::POST, None, limit).await
    }

    /// Sends a command to the operator's part of a gateway; its refusal becomes a failure.
    pub(crate) async fn operate(&self, limit: Duration) -> Result<Raw, Failure> {
        let (status, page) = self.command(limit).await?;
        if status == StatusCode::OK {
            return Ok(page);
        }
        if let Some(error) = page.member_as::<String>("error") {
            return Err(Failure::usage(error));
        }
        let text = format!("the gateway answers {status}: {}", page.as_str());
        Err(Failure::connecting(Fault::new(FaultKind::BadAnswer, text)))
    }

    /// Sends any request; the answer may have any status but 401 and 403.
    pub(crate) async fn request(
        &self,
        method: Method,
        body: Option<Raw>,
        limit: Duration,
    ) -> Result<(StatusCode, Raw), Failure> {
        let (status, answer) = within(limit, self.target.url(), self.send(method, body)).await?;
        self.parse(answer).map(|answer| (status, answer))
    }

    /// Adds headers to all requests.
    pub(crate) fn with_headers(mut self, headers: HeaderMap) -> Self {
        self.headers.extend(headers);
        self
    }

    async fn send(&self, method: Method, body: Option<Raw>) -> Result<(StatusCode, Bytes), Failure> {
        let url = self.target.url();
        let mut headers = self.headers.clone();
        if body.is_some() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let body = body.map(|body| body.bytes().clone()).unwrap_or_default();
        let asked = self.client.send(method, &self.target, headers, body).await;
        let (head, answer) = asked.map_err(|error| unanswered(url, &error))?.into_parts();
        let mut place = url.clone();
        place.set_query(None);
        let refused = || Failure::usage(format!("{place} refused access"));
        match head.status {
            StatusCode::UNAUTHORIZED => {
                return Err(refused().hint("pass a valid API key with --key or TRUNKLINE_KEY"));
            }
            // A refused command says why.
            StatusCode::FORBIDDEN if !url.path().contains("/control/") => {
                return Err(refused().hint("the API key needs a role with `\"operate\": true`"));
            }
            _ => {}
        }
        let answer = body::read(answer, LIMIT).await.map_err(|error| unreachable(&error.to_string()))?;
        Ok((head.status, answer))
    }

    fn parse(&self, answer: Bytes) -> Result<Raw, Failure> {
        let url = self.target.url();
        Raw::parse(answer).map_err(|_| unreachable(&format!("{url} answers with something else than JSON")))
    }
}

async fn within<T>(
    limit: Duration,
    url: &Url,
    asked: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let late = || unreachable(&format!("{url} does not answer within {} s", limit.as_secs()));
    tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| Err(late()))
}

/// A path of the gateway at an address, which may also be its MCP endpoint or status page.
fn target(address: &str, path: &str) -> Result<Target, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
    let mut url = Url::parse(address).map_err(|error| {
        usage(&format!("`{address}` is not an address such as http://127.0.0.1:8425: {error}"))
    })?;
    let given = url.path().trim_end_matches('/');
    let base = given.strip_suffix(STATUS).or_else(|| given.strip_suffix("/mcp")).unwrap_or(given);
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let path = format!("{base}{path}");
    url.set_path(&path);
    url.set_query(query.filter(|query| !query.is_empty()));
    Target::new(url).map_err(|error| usage(&error))
}

/// The address of the gateway that has this page or endpoint, without secrets.
pub(super) fn gateway_of(url: &Url) -> String {
    let is_base = |part: &&str| !["mcp", "status", "control"].contains(part);
    let base = url.path().split('/').take_while(is_base).collect::<Vec<_>>().join("/");
    format!("{}{}", url.origin().ascii_serialization(), base.trim_end_matches('/'))
}

/// True if the connection is encrypted or stays on this machine.
fn is_private(url: &Url) -> bool {
    let here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    here || url.scheme() == "https"
}

fn unanswered(url: &Url, error: &HttpError) -> Failure {
    if !matches!(error, HttpError::Connect(_)) {
        return unreachable(&error.to_string());
    }
    let text =
        format!("no gateway runs at {}; start `trunkline serve`, or give its address", gateway_of(url));
    let fault = Fault::new(FaultKind::CannotConnect, text).with_detail(error.to_string());
    Failure::connecting(fault.with_action("`trunkline serve` says where it listens"))
}

fn unreachable(why: &str) -> Failure {
    Failure::connecting(Fault::new(FaultKind::CannotConnect, why))
        .hint("`trunkline serve` says where it listens")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_found_beside_the_endpoint() {
        for (given, want) in [
            ("http://127.0.0.1:8425", "http://127.0.0.1:8425/status"),
            ("http://h/mcp?x=1", "http://h/status"),
            ("https://h/tools/mcp/", "https://h/tools/status"),
            ("https://h/gw/", "https://h/gw/status"),
            ("http://h/status", "http://h/status"),
        ] {
            assert_eq!(target(given, STATUS).unwrap().url().as_str(), want);
        }
        assert_eq!(target("gateway", STATUS).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn the_gateway_is_named_without_path_and_secrets() {
        for (given, want) in [
            ("http://127.0.0.1:8425/mcp", "http://127.0.0.1:8425"),
            ("https://u:p@h/gw/mcp/server/git?key=s", "https://h/gw"),
            ("http://h:1/", "http://h:1"),
            ("http://h/mcp-gw/status", "http://h/mcp-gw"),
        ] {
            assert_eq!(gateway_of(&given.parse().unwrap()), want);
        }
    }

    #[test]
    fn a_key_does_not_travel_in_the_open() {
        for fine in ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost", "https://example.org"] {
            assert!(Asker::new(fine, Some("k"), STATUS).is_ok(), "{fine}");
        }
        assert_eq!(Asker::new("http://example.org", Some("k"), STATUS).unwrap_err().exit_code(), 2);
        assert!(Asker::new("http://example.org", None, STATUS).is_ok());
    }
}
