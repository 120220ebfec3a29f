//! Refuses to send credentials unencrypted.

use crate::options::{ConnectOptions, Exposure};
use ::http::{HeaderName, header};
use ::url::Url;
use trunkline_protocol::{Fault, FaultKind};
use trunkline_transport::http::is_this_machine;

/// Words in the names of headers that carry credentials.
const CREDENTIAL_WORDS: [&str; 4] = ["token", "key", "secret", "auth"];

/// Fails if a credential header would go over plain http to another machine.
pub(super) fn check(address: &Url, options: &ConnectOptions) -> Result<(), Fault> {
    if address.scheme() == "https" || options.exposure == Exposure::Accept || is_this_machine(address) {
        return Ok(());
    }
    let Some(name) = options.http.extra_headers.keys().find(|name| is_credential(name)) else {
        return Ok(());
    };
    let fault = format!("the header `{name}` would go over plain http, where others can read it");
    Err(Fault::new(FaultKind::UrlRefused, fault)
        .with_detail("use https, or accept the risk with --allow-plain-http"))
}

fn is_credential(name: &HeaderName) -> bool {
    name == header::COOKIE || CREDENTIAL_WORDS.iter().any(|word| name.as_str().contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(address: &str, header: &'static str, exposure: Exposure) -> bool {
        let mut options = ConnectOptions { exposure, ..ConnectOptions::default() };
        options.http.extra_headers.insert(header, "x".parse().unwrap());
        check(&Url::parse(address).unwrap(), &options).is_ok()
    }

    #[test]
    fn h18_a_token_does_not_travel_in_the_clear_to_another_machine() {
        for address in ["http://example.com/mcp", "http://10.0.0.1/", "http://localhost.example.com/"] {
            for name in ["authorization", "x-api-key", "cookie", "private-token"] {
                assert!(!verdict(address, name, Exposure::Refuse), "{address} {name}");
                assert!(verdict(address, name, Exposure::Accept));
            }
            assert!(verdict(address, "x-request-source", Exposure::Refuse));
        }
        for address in
            ["https://example.com/mcp", "http://localhost:1/", "http://127.0.0.1/", "http://[::1]/"]
        {
            assert!(verdict(address, "authorization", Exposure::Refuse), "{address}");
        }
    }
}
