//! Issuers of tokens: their signing keys (a file, or a URL from which they are fetched and
//! refreshed), and their introspection endpoints.

use crate::failure::Failure;
use ::http::{HeaderMap, HeaderValue, Method, header};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use std::{collections::BTreeMap, net::IpAddr, path::Path};
use trunkline_auth::{
    Introspect, Introspector, JwtVerifier, MAX_INTROSPECTION_BYTES, ProtectedResource, TokenOptions, Tokens,
    jwt::{Fetch, FetchError, MAX_JWKS_BYTES, RefreshOptions},
};
use trunkline_config::{Auth, Introspection, IssuedTokens, Issuer, JwksPlace, Jwt, read_regular};
use trunkline_transport::{
    body,
    http::{HttpClient, HttpOptions, Target},
};
use url::{Host, Url, form_urlencoded};

/// All issuers whose tokens are accepted.
pub(super) fn all(auth: &Auth) -> Vec<Issuer> {
    let short = auth.jwt.iter().cloned().map(|jwt| {
        let Jwt { issuer, audience, jwks, roles_claim, scopes, claims } = jwt;
        let tokens = IssuedTokens::Signed(jwks);
        Issuer { issuer, audience, tokens, roles_claim, roles: BTreeMap::new(), scopes, claims }
    });
    short.chain(auth.issuers.values().cloned()).collect()
}

/// The RFC 9728 document; `None` if no tokens are accepted.
pub(super) fn resource(issuers: &[Issuer]) -> Result<Option<ProtectedResource>, Failure> {
    let Some(first) = issuers.first() else { return Ok(None) };
    if let Some(other) = issuers.iter().find(|issuer| issuer.audience != first.audience) {
        let message = format!("two audiences of tokens: {} and {}", first.audience, other.audience);
        return Err(Failure::usage(message).hint("this server has one address; use it for all issuers"));
    }
    let mut names: Vec<&str> = issuers.iter().map(|issuer| issuer.issuer.as_str()).collect();
    names.dedup();
    let mut resource = ProtectedResource::new(&first.audience, &names)
        .map_err(|error| Failure::usage(format!("the audience of tokens: {error}")))?;
    resource.scopes_supported = required_scopes(issuers);
    Ok(Some(resource))
}

/// The scopes that an issuer's tokens must carry, of all issuers.
pub(super) fn required_scopes(issuers: &[Issuer]) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in issuers.iter().flat_map(|issuer| &issuer.scopes) {
        if !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
    }
    scopes
}

pub(super) fn tokens(issuers: &[Issuer]) -> Result<Tokens, Failure> {
    let mut tokens = Tokens::default();
    for issuer in issuers {
        let options = TokenOptions {
            roles_claim: issuer.roles_claim.clone(),
            roles: issuer.roles.clone(),
            scopes: issuer.scopes.clone(),
            claims: issuer.claims.clone(),
            ..TokenOptions::new(&issuer.issuer, &issuer.audience)
        };
        match &issuer.tokens {
            IssuedTokens::Signed(place) => tokens.signed.push(verifier(options, place)?),
            IssuedTokens::Opaque(endpoint) => tokens.opaque = Some(introspector(options, endpoint)?),
        }
    }
    Ok(tokens)
}

/// A verifier with the keys from a file or a URL.
fn verifier(options: TokenOptions, place: &JwksPlace) -> Result<JwtVerifier, Failure> {
    let url = match place {
        JwksPlace::File(path) => return fixed_verifier(options, path),
        JwksPlace::Url(url) => url,
    };
    let unusable = |why: &dyn std::fmt::Display| Failure::usage(format!("--jwks {url}: {why}"));
    let (client, target) = private_target(url).map_err(|why| {
        unusable(&why).hint("use https; plain http is allowed only for an issuer on this machine")
    })?;
    let fetch = fetch_from(client, target);
    JwtVerifier::with_fetch(options, fetch, RefreshOptions::default()).map_err(|error| unusable(&error))
}

fn fixed_verifier(options: TokenOptions, path: &Path) -> Result<JwtVerifier, Failure> {
    let unusable = |why: &dyn std::fmt::Display| Failure::usage(format!("--jwks {}: {why}", path.display()));
    let text = read_regular(path, MAX_JWKS_BYTES as u64).map_err(|error| unusable(&error))?;
    JwtVerifier::with_keys(options, &text).map_err(|error| unusable(&error))
}

fn introspector(options: TokenOptions, endpoint: &Introspection) -> Result<Introspector, Failure> {
    let unusable =
        |why: &dyn std::fmt::Display| Failure::usage(format!("introspection at {}: {why}", endpoint.url));
    let (client, target) = private_target(&endpoint.url).map_err(|why| unusable(&why))?;
    // RFC 6749 §2.3.1: both parts are form-encoded before they are joined.
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(&endpoint.client_id), encoded(endpoint.client_secret.expose()));
    let mut credentials = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair)))
        .map_err(|error| unusable(&error))?;
    credentials.set_sensitive(true);
    let ask: Introspect = Box::new(move |token| {
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("token", token)
            .append_pair("token_type_hint", "access_token")
            .finish();
        let headers = HeaderMap::from_iter([
            (header::AUTHORIZATION, credentials.clone()),
            (header::ACCEPT, HeaderValue::from_static("application/json")),
            (header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded")),
        ]);
        Box::pin(introspect(client.clone(), target.clone(), headers, form))
    });
    Introspector::new(options, ask, endpoint.keep).map_err(|error| unusable(&error))
}

async fn introspect(
    client: HttpClient,
    target: Target,
    headers: HeaderMap,
    form: String,
) -> Result<Vec<u8>, FetchError> {
    let response = client.send(Method::POST, &target, headers, Bytes::from(form)).await?;
    if !response.status().is_success() {
        return Err(format!("{target} answered {}", response.status()).into());
    }
    Ok(body::read(response.into_body(), MAX_INTROSPECTION_BYTES).await?.to_vec())
}

/// A client for an address whose answers decide who comes in, so nobody may change them on the way.
fn private_target(url: &str) -> Result<(HttpClient, Target), String> {
    let target = Target::parse(url).map_err(|error| error.to_string())?;
    if !is_private(target.url()) {
        return Err("answers that decide who comes in must be fetched over https".to_owned());
    }
    let client = HttpClient::new(HttpOptions::default()).map_err(|error| error.to_string())?;
    Ok((client, target))
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
            let options = TokenOptions::new(signer::ISSUER, signer::AUDIENCE);
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

    fn issuer(name: &str, tokens: IssuedTokens) -> trunkline_config::Issuer {
        trunkline_config::Issuer {
            issuer: name.to_owned(),
            audience: signer::AUDIENCE.to_owned(),
            tokens,
            roles_claim: "groups".to_owned(),
            roles: [("platform-admins".to_owned(), "admin".to_owned())].into(),
            scopes: Vec::new(),
            claims: Vec::new(),
        }
    }

    #[tokio::test]
    async fn a15_each_issuer_vouches_for_its_own_tokens_only() {
        let (ours, theirs) = (Signer::new("a"), Signer::new("b"));
        let (first, second) = (Issuer::start(&ours), Issuer::start(&theirs));
        let place = |issuer: &Issuer| IssuedTokens::Signed(JwksPlace::Url(issuer.address.clone()));
        let other = "https://other.example";
        let tokens = tokens(&[issuer(signer::ISSUER, place(&first)), issuer(other, place(&second))]).unwrap();
        let signed = |by: &Signer, name: &str| {
            let mut claims = signer::claims();
            claims["iss"] = name.into();
            claims["groups"] = serde_json::json!(["platform-admins", "admin", "staff"]);
            by.sign(&by.header(), &claims)
        };
        let ada = tokens.verify(&signed(&ours, signer::ISSUER)).await.unwrap();
        assert_eq!(ada.roles, ["admin"], "only mapped values give roles");
        let bob = tokens.verify(&signed(&theirs, other)).await.unwrap();
        assert_ne!(ada.principal, bob.principal, "the same subject of another issuer is another caller");
        for forged in [signed(&theirs, signer::ISSUER), signed(&ours, other), signed(&ours, "https://third")]
        {
            assert!(matches!(tokens.verify(&forged).await, Err(AuthError::Invalid(_))));
        }
        assert!(matches!(tokens.verify("opaque").await, Err(AuthError::Invalid(_))));
    }

    #[tokio::test]
    async fn opaque_tokens_are_introspected_over_http() {
        let server = Issuer::start(&Signer::new("k"));
        let endpoint = Introspection {
            url: server.address.clone(),
            client_id: "gate way".to_owned(),
            client_secret: trunkline_config::Secret::hidden("s:1".to_owned()),
            keep: Duration::ZERO,
        };
        let tokens = tokens(&[issuer(signer::ISSUER, IssuedTokens::Opaque(endpoint))]).unwrap();
        let active = serde_json::json!({
            "active": true, "sub": "ada", "aud": signer::AUDIENCE, "groups": ["platform-admins"]
        });
        server.answers(200, active.to_string());
        assert_eq!(tokens.verify("opaque").await.unwrap().roles, ["admin"]);
        server.answers(200, r#"{"active": false}"#.to_owned());
        assert!(matches!(tokens.verify("opaque").await, Err(AuthError::Invalid(_))), "revoked");
        server.answers(500, String::new());
        assert_eq!(tokens.verify("opaque").await, Err(AuthError::Unavailable));
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
        let options = TokenOptions::new("https://id.example", "https://tools.example");
        let place = JwksPlace::Url("http://id.example/jwks".to_owned());
        let refused = verifier(options, &place).unwrap_err().to_text();
        assert!(refused.contains("https"), "{refused}");
    }
}
