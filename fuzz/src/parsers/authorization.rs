//! Credentials: for any headers, only the key or a token with valid claims authenticates.
//!
//! The first byte of an input gives the kind of the rest: `h` the `Authorization` headers, one per
//! line; `s` the header and the claims of a token, one per line, which is then signed with the
//! correct key; `k` a key file; `j` a set of signing keys.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::HeaderValue;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use std::{
    cell::LazyCell,
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
    sync::LazyLock,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::runtime::Runtime;
use trunkline_auth::{
    ApiKeys, AttemptLimit, AuthError, Authenticator, Challenge, Gate, Identity, JwtVerifier, Principal,
    TokenOptions, Unidentified,
};

const KEY: &str = "tl_q3J-8vYk0WdZ5hXn2RbTfLs7uCmGaPe9iOoKyE4xNw1";
const ISSUER: &str = "https://id.example";
const AUDIENCE: &str = "https://tools.example/mcp";
/// Allowance in seconds for clock skew and the duration of the check.
const SLACK: u64 = 60;

static SIGNER: LazyLock<Ed25519KeyPair> =
    LazyLock::new(|| Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("any seed is a key"));

static GATE: LazyLock<Gate> = LazyLock::new(|| {
    let identity = Identity {
        principal: Principal::key("ada"),
        roles: Vec::new(),
        scopes: Vec::new(),
        claims: BTreeMap::new(),
    };
    let keys = ApiKeys::from_token(identity, KEY).expect("a strong key");
    let verifier = JwtVerifier::with_keys(options(), signing_keys().as_bytes()).expect("sound keys");
    let limit = AttemptLimit { burst: u32::MAX, interval: Duration::ZERO, ..AttemptLimit::default() };
    Gate::new(Authenticator::Both(keys.into(), verifier.into()), Unidentified::Refuse, limit)
});

pub fn holds(data: &[u8]) {
    match data.split_first() {
        Some((b'h', headers)) => headers_are_judged(headers),
        Some((b's', parts)) => tokens_are_judged(parts),
        Some((b'k', file)) => key_files_are_read(file),
        Some((b'j', keys)) => drop(JwtVerifier::with_keys(options(), keys)),
        _ => {}
    }
}

fn options() -> TokenOptions {
    TokenOptions::new(ISSUER, AUDIENCE)
}

fn signing_keys() -> String {
    let point = URL_SAFE_NO_PAD.encode(SIGNER.public_key().as_ref());
    json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "one", "use": "sig", "x": point}]}).to_string()
}

fn admit(headers: &[&[u8]]) -> Result<Principal, AuthError> {
    thread_local! {
        static RUNTIME: LazyCell<Runtime> = LazyCell::new(|| {
            tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be made")
        });
    }
    let judged = GATE.admit(headers, IpAddr::V4(Ipv4Addr::LOCALHOST));
    RUNTIME.with(|runtime| runtime.block_on(judged)).map(|identity| identity.principal.clone())
}

fn headers_are_judged(text: &[u8]) {
    let headers: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    match admit(&headers) {
        Ok(principal) => {
            let [header] = headers[..] else { panic!("accepted with more than one header") };
            let header = std::str::from_utf8(header).expect("a key is text").trim_matches([' ', '\t']);
            let (scheme, token) = header.split_at("bearer".len());
            assert!(scheme.eq_ignore_ascii_case("bearer") && token.trim_start_matches(' ') == KEY);
            assert_eq!(principal, Principal::key("ada"));
        }
        Err(error) => challenge_is_valid(&error, text),
    }
}

/// Checks that the challenge of a refusal is a valid header for any settings.
fn challenge_is_valid(error: &AuthError, text: &[u8]) {
    assert!(matches!(error.status(), 401 | 429 | 503));
    let text = String::from_utf8_lossy(text).into_owned();
    let challenge = Challenge { resource_metadata: Some(text.clone()), scopes: vec![text] };
    for header in [challenge.unauthorized(error), challenge.insufficient_scope(&challenge.scopes)] {
        HeaderValue::from_str(&header).expect("a challenge is a header");
        let (mut quoted, mut escaped) = (false, false);
        for byte in header.bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                _ => {}
            }
        }
        assert!(!quoted && !escaped, "{header}");
    }
}

/// A token with a valid signature is accepted only with our issuer and audience and within its
/// validity.
fn tokens_are_judged(parts: &[u8]) {
    let mut lines = parts.splitn(2, |byte| *byte == b'\n');
    let (header, claims) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signature = URL_SAFE_NO_PAD.encode(SIGNER.sign(message.as_bytes()));
    let Ok(principal) = admit(&[format!("Bearer {message}.{signature}").as_bytes()]) else { return };
    let Principal::Token { issuer, subject } = principal else { panic!("a token gave {principal}") };
    assert_eq!(issuer, ISSUER);

    let header: Value = serde_json::from_slice(header).expect("its header was read");
    assert_eq!(header["alg"], "EdDSA");
    assert!(header.get("crit").is_none_or(Value::is_null));
    let claims: Value = serde_json::from_slice(claims).expect("its claims were read");
    assert_eq!(claims["iss"], ISSUER);
    let for_us = |audience: &Value| audience == AUDIENCE;
    assert!(for_us(&claims["aud"]) || claims["aud"].as_array().is_some_and(|all| all.iter().any(for_us)));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since: Duration| since.as_secs());
    #[expect(clippy::cast_precision_loss, reason = "a clock is far below the bound")]
    let (earliest, latest) = ((now - SLACK) as f64, (now + SLACK) as f64);
    assert!(claims["exp"].as_f64().expect("it ends") >= earliest);
    assert!(claims["nbf"].as_f64().is_none_or(|begins| begins <= latest));
    let named = ["sub", "client_id", "azp"].iter().any(|claim| claims[*claim] == subject.as_str());
    assert!(named && !subject.is_empty());
}

fn key_files_are_read(file: &[u8]) {
    let Ok(text) = std::str::from_utf8(file) else { return };
    if let Ok(keys) = ApiKeys::from_json(text) {
        assert!(!keys.is_empty());
        assert!(keys.reload(text).is_ok());
        assert!(keys.check(KEY).is_err() && keys.check("").is_err());
    }
}
