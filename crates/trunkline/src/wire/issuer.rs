//! An issuer's signing keys: a file, or a URL from which they are fetched and refreshed.

use crate::failure::Failure;
use ::http::{HeaderMap, HeaderValue, Method, header};
use bytes::Bytes;
use std::{net::IpAddr, path::Path};
use trunkline_auth::{
    JwtOptions, JwtVerifier,
    jwt::{Fetch, FetchError, MAX_JWKS_BYTES, RefreshOptions},
};
use trunkline_config::read_regular;
use trunkline_transport::{
    body,
    http::{HttpClient, HttpOptions, Target},
};
use url::{Host, Url};

/// A verifier with the keys from `source`.
pub(super) fn verifier(options: JwtOptions, source: &str) -> Result<JwtVerifier, Failure> {
    let unusable = |why: &dyn std::fmt::Display| Failure::usage(format!("--jwks {source}: {why}"));
    if !source.contains("://") {
        let text =
            read_regular(Path::new(source), MAX_JWKS_BYTES as u64).map_err(|error| unusable(&error))?;
        return JwtVerifier::with_keys(options, &text).map_err(|error| unusable(&error));
    }
    let target = Target::parse(source).map_err(|error| unusable(&error))?;
    if !is_private(target.url()) {
        let failure = unusable(&"keys that decide who comes in must be fetched over https");
        return Err(failure.hint("use https; plain http is allowed only for an issuer on this machine"));
    }
    let client = HttpClient::new(HttpOptions::default()).map_err(|error| unusable(&error))?;
    let fetch = fetch_from(client, target);
    JwtVerifier::with_fetch(options, fetch, RefreshOptions::default()).map_err(|error| unusable(&error))
}

fn fetch_from(client: HttpClient, target: Target) -> Fetch {
    Box::new(move || Box::pin(fetch(client.clone(), target.clone())))
}

/// True if the response cannot be modified in transit: https, or a loopback address.
fn is_private(url: &Url) -> bool {
    let loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => IpAddr::from(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::from(ip).is_loopback(),
        None => false,
    };
    url.scheme() == "https" || loopback
}

/// Fetches the key set once; the verifier sets the timeout.
async fn fetch(client: HttpClient, target: Target) -> Result<Vec<u8>, FetchError> {
    let accepted = HeaderValue::from_static("application/jwk-set+json, application/json");
    let headers = HeaderMap::from_iter([(header::ACCEPT, accepted)]);
    let response = client.send(Method::GET, &target, headers, Bytes::new()).await?;
    if !response.status().is_success() {
        return Err(format!("{target} answered {}", response.status()).into());
    }
    Ok(body::read(response.into_body(), MAX_JWKS_BYTES).await?.to_vec())
}

#[cfg(test)]
#[path = "../../../auth/tests/signer/mod.rs"]
#[expect(dead_code, reason = "only a part of the test issuer is used here")]
mod signer;

#[cfg(test)]
mod tests {
    use super::{signer::Signer, *};
    use std::{
        io::{BufRead, BufReader, Write},
        net::TcpListener,
        sync::{Arc, Mutex},
        time::Duration,
    };
    use trunkline_auth::AuthError;

    /// A local issuer whose response (status and key set) can be changed.
    struct Issuer {
        address: String,
        answer: Arc<Mutex<(u16, String)>>,
    }

    impl Issuer {
        fn start(keys: &Signer) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = format!("http://{}/jwks", listener.local_addr().unwrap());
            let answer = Arc::new(Mutex::new((200, keys.jwks())));
            let told = answer.clone();
            std::thread::spawn(move || {
                for stream in listener.incoming() {
                    let mut stream = stream.unwrap();
                    let mut head = BufReader::new(stream.try_clone().unwrap()).lines();
                    while head.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                    let (status, text) = told.lock().unwrap().clone();
                    let length = text.len();
                    let head = format!(
                        "HTTP/1.1 {status} x\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
                    );
                    stream.write_all(format!("{head}{text}").as_bytes()).ok();
                }
            });
            Self { address, answer }
        }

        fn answers(&self, status: u16, text: String) {
            *self.answer.lock().unwrap() = (status, text);
        }

        /// A verifier without a minimum time between fetches.
        fn verifier(&self, max_age: Duration) -> JwtVerifier {
            let options = JwtOptions::new(signer::ISSUER, signer::AUDIENCE);
            let client = HttpClient::new(HttpOptions::default()).unwrap();
            let fetch = fetch_from(client, Target::parse(&self.address).unwrap());
            let refresh =
                RefreshOptions { max_age, min_interval: Duration::ZERO, ..RefreshOptions::default() };
            JwtVerifier::with_fetch(options, fetch, refresh).unwrap()
        }
    }

    fn token(signer: &Signer) -> String {
        signer.sign(&signer.header(), &signer::claims())
    }

    #[tokio::test]
    async fn keys_are_fetched_over_http_and_again_when_a_token_names_a_new_one() {
        let (old, new) = (Signer::new("old"), Signer::new("new"));
        let issuer = Issuer::start(&old);
        let verifier = issuer.verifier(Duration::from_mins(10));
        assert_eq!(
            verifier.verify(&token(&old)).await.unwrap().principal,
            trunkline_auth::Principal::token(signer::ISSUER, "ada")
        );
        assert!(matches!(verifier.verify(&token(&new)).await, Err(AuthError::Invalid(_))));
        issuer.answers(200, new.jwks());
        assert!(verifier.verify(&token(&new)).await.is_ok());
        assert!(
            matches!(verifier.verify(&token(&old)).await, Err(AuthError::Invalid(_))),
            "revoked with its key"
        );
    }

    #[tokio::test]
    async fn an_issuer_that_fails_or_floods_leaves_the_keys_we_have_and_gives_none_to_who_has_none() {
        let signer = Signer::new("k");
        let issuer = Issuer::start(&signer);
        let known = issuer.verifier(Duration::ZERO);
        assert!(known.verify(&token(&signer)).await.is_ok());
        for (status, text) in [
            (500, String::new()),
            (200, "x".repeat(MAX_JWKS_BYTES + 1)),
            (200, "{}".to_owned()),
            (302, String::new()),
        ] {
            issuer.answers(status, text);
            assert!(known.verify(&token(&signer)).await.is_ok(), "{status}");
            let unknown = issuer.verifier(Duration::ZERO).verify(&token(&signer)).await;
            assert_eq!(unknown, Err(AuthError::Unavailable), "{status}");
        }
    }

    #[test]
    fn keys_from_elsewhere_come_over_https_only() {
        let private = |text: &str| is_private(&Url::parse(text).unwrap());
        for good in
            ["https://id.example/jwks", "http://127.0.0.1:8/j", "http://[::1]/j", "http://localhost/j"]
        {
            assert!(private(good), "{good}");
        }
        for bad in ["http://id.example/jwks", "http://localhost.evil/j", "http://10.0.0.1/j"] {
            assert!(!private(bad), "{bad}");
        }
        let options = JwtOptions::new("https://id.example", "https://tools.example");
        let refused = verifier(options, "http://id.example/jwks").unwrap_err().to_text();
        assert!(refused.contains("https"), "{refused}");
    }
}
