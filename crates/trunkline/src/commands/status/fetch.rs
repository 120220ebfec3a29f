//! Fetches the status page of a gateway.

use crate::failure::Failure;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use std::time::Duration;
use trunkline_protocol::{Fault, FaultKind, Raw};
use trunkline_transport::{
    body,
    http::{HttpClient, HttpOptions, Target},
};
use url::{Host, Url};

/// Path of the status page.
const PATH: &str = "/status";
/// Timeout for the whole request.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of the response body.
const LIMIT: usize = 8 * 1024 * 1024;

/// Fetches the status of one gateway.
#[derive(Debug)]
pub(super) struct Asker {
    client: HttpClient,
    target: Target,
    headers: HeaderMap,
}

impl Asker {
    pub(super) fn new(address: &str, key: Option<&str>) -> Result<Self, Failure> {
        let target = target(address)?;
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

    pub(super) async fn ask(&self) -> Result<Raw, Failure> {
        tokio::time::timeout(TIMEOUT, self.fetch()).await.unwrap_or_else(|_| {
            Err(unreachable(&format!("{} does not answer within {} s", self.target.url(), TIMEOUT.as_secs())))
        })
    }

    async fn fetch(&self) -> Result<Raw, Failure> {
        let url = self.target.url();
        let asked = self.client.send(Method::GET, &self.target, self.headers.clone(), Bytes::new()).await;
        let (head, answer) = asked.map_err(|error| unreachable(&error.to_string()))?.into_parts();
        match head.status {
            StatusCode::OK => {}
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                return Err(Failure::usage(format!("{url} refused access"))
                    .hint("pass a valid API key with --key or TRUNKLINE_KEY"));
            }
            status => return Err(unreachable(&format!("{url} answers {status}; is it a gateway?"))),
        }
        let answer = body::read(answer, LIMIT).await.map_err(|error| unreachable(&error.to_string()))?;
        Raw::parse(answer).map_err(|_| unreachable(&format!("{url} answers with something else than JSON")))
    }
}

/// The status page for an address, which may also be the gateway's MCP endpoint.
fn target(address: &str) -> Result<Target, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
    let mut url = Url::parse(address).map_err(|error| {
        usage(&format!("`{address}` is not an address such as http://127.0.0.1:8425: {error}"))
    })?;
    let path = url.path().trim_end_matches('/');
    let base = path.strip_suffix(PATH).or_else(|| path.strip_suffix("/mcp")).unwrap_or(path);
    let path = format!("{base}{PATH}");
    url.set_path(&path);
    url.set_query(None);
    Target::new(url).map_err(|error| usage(&error))
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
            assert_eq!(target(given).unwrap().url().as_str(), want);
        }
        assert_eq!(target("gateway").unwrap_err().exit_code(), 2);
    }

    #[test]
    fn a_key_does_not_travel_in_the_open() {
        for fine in ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost", "https://example.org"] {
            assert!(Asker::new(fine, Some("k")).is_ok(), "{fine}");
        }
        assert_eq!(Asker::new("http://example.org", Some("k")).unwrap_err().exit_code(), 2);
        assert!(Asker::new("http://example.org", None).is_ok());
    }
}
