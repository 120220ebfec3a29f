//! The authentication rows of the attack catalogue, each test named by its id.

mod signer;

use signer::{AUDIENCE, ISSUER, Signer, now};
use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use trunkline_auth::{
    ApiKeys, AttemptLimit, AuthError, Authenticator, BadKeys, Challenge, Gate, Identity, JwtVerifier,
    Principal, TokenOptions, Unidentified, WeakToken,
    jwt::{Algorithm, BadJwks, BadTokenOptions, RefreshOptions},
    keys,
};

const HOME: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn key_file(hash: &str, expires: &str) -> String {
    format!(r#"{{"keys":[{{"id":"ci","sha256":"{hash}","roles":["dev"],"scopes":["a"]{expires}}}]}}"#)
}

fn ci() -> Arc<Identity> {
    let (roles, scopes) = (vec!["dev".to_owned()], vec!["a".to_owned()]);
    Arc::new(Identity { principal: Principal::key("ci"), roles, scopes, claims: BTreeMap::new() })
}

fn gate(authenticator: Authenticator) -> Gate {
    Gate::new(authenticator, Unidentified::Refuse, AttemptLimit::default())
}

fn verifier(signer: &Signer) -> JwtVerifier {
    JwtVerifier::with_keys(TokenOptions::new(ISSUER, AUDIENCE), signer.jwks().as_bytes())
        .expect("the keys are good")
}

fn is_invalid<I>(verdict: &Result<I, AuthError>) -> bool {
    matches!(verdict, Err(AuthError::Invalid(_)))
}

#[tokio::test]
async fn a01_no_empty_foreign_or_double_credentials_are_401_with_a_pointer() {
    let key = keys::generate();
    let gate = gate(Authenticator::Keys(ApiKeys::from_json(&key_file(&key.sha256, "")).unwrap().into()));
    let good = format!("Bearer {}", key.token);
    assert_eq!(gate.admit(&[&good], HOME).await, Ok(ci()));
    assert_eq!(gate.admit(&[good.replace("Bearer", "bEARER  ")], HOME).await, Ok(ci()));

    let challenge = Challenge { resource_metadata: Some("https://a/m".to_owned()), scopes: vec![] };
    let cases: &[(&[&[u8]], AuthError)] = &[
        (&[], AuthError::Missing),
        (&[b""], AuthError::Malformed),
        (&[b"Bearer"], AuthError::Malformed),
        (&[b"Bearer "], AuthError::Malformed),
        (&[b"Bearer a b"], AuthError::Malformed),
        (&[b"Bearer \xff\xfe"], AuthError::Malformed),
        (&[b"Basic YTpi"], AuthError::Scheme),
        (&[key.token.as_bytes()], AuthError::Scheme),
        (&[good.as_bytes(), good.as_bytes()], AuthError::Several),
        (&[good.as_bytes(), b"Basic YTpi"], AuthError::Several),
    ];
    for (headers, want) in cases {
        let error = gate.admit(headers, HOME).await.unwrap_err();
        assert_eq!(&error, want);
        assert_eq!(error.status(), 401);
        assert!(challenge.unauthorized(&error).contains(r#"resource_metadata="https://a/m""#));
    }
}

#[tokio::test]
async fn a02_a_good_token_names_its_bearer() {
    let signer = Signer::new("k1");
    let mut claims = signer::claims();
    claims["scope"] = "read write".into();
    claims["scp"] = serde_json::json!(["admin"]);
    claims["realm"] = serde_json::json!({"roles": ["ops"]});
    let mut options = TokenOptions::new(ISSUER, AUDIENCE);
    options.roles_claim = "realm.roles".to_owned();
    let verifier = JwtVerifier::with_keys(options, signer.jwks().as_bytes()).unwrap();
    let identity = verifier.verify(&signer.sign(&signer.header(), &claims)).await.unwrap();
    assert_eq!(
        (identity.principal, identity.roles),
        (Principal::token(ISSUER, "ada"), vec!["ops".to_owned()])
    );
    assert_eq!(identity.scopes, ["admin", "read", "write"]);
}

#[tokio::test]
async fn a02_a_token_signed_with_rsa_by_another_program_is_taken() {
    let jwks = include_bytes!("data/rsa-jwks.json");
    let token = include_str!("data/rsa-token.txt").trim();
    let verifier = JwtVerifier::with_keys(TokenOptions::new(ISSUER, AUDIENCE), jwks).unwrap();
    assert_eq!(verifier.verify(token).await.unwrap().scopes, ["tools:read"]);
    let middle = token.find('.').unwrap() + 9;
    let mut bent = token.as_bytes().to_vec();
    bent[middle] ^= 1;
    assert!(is_invalid(&verifier.verify(std::str::from_utf8(&bent).unwrap()).await));
}

#[tokio::test]
async fn a02_unsigned_confused_and_pointing_tokens_are_401() {
    let signer = Signer::new("k1");
    let verifier = verifier(&signer);
    let claims = signer::claims();
    let header = |change: serde_json::Value| {
        let mut header = signer.header();
        header.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        header
    };
    for change in [
        serde_json::json!({"alg": "RS256"}),
        serde_json::json!({"alg": "ES384"}),
        serde_json::json!({"kid": "../../etc/passwd"}),
        serde_json::json!({"kid": "k1\u{0}"}),
        serde_json::json!({"kid": ""}),
        serde_json::json!({"crit": ["exp"]}),
        serde_json::json!({"typ": "dpop+jwt"}),
    ] {
        let token = signer.sign(&header(change.clone()), &claims);
        assert!(is_invalid(&verifier.verify(&token).await), "{change}");
    }
    for alg in ["none", "None", "NONE", "nOnE", ""] {
        let token = signer.sign(&header(serde_json::json!({"alg": alg})), &claims);
        assert!(is_invalid(&verifier.verify(&token).await), "{alg}");
        let bare = format!("{}.", token.rsplit_once('.').unwrap().0);
        assert!(is_invalid(&verifier.verify(&bare).await), "{alg}");
    }
    for secret in [signer.public_key(), signer.jwks().into_bytes(), Vec::new()] {
        let token = signer::hmac(&secret, &header(serde_json::json!({"alg": "HS256"})), &claims);
        assert!(is_invalid(&verifier.verify(&token).await));
    }
    // The attacker signs with their own key, and the token says where to fetch it.
    let other = Signer::new("k1");
    let own: serde_json::Value = serde_json::from_str(&other.jwks()).unwrap();
    for change in [
        serde_json::json!({"jku": "https://evil.example/jwks"}),
        serde_json::json!({"x5u": "https://evil.example/cert"}),
        serde_json::json!({"jwk": own["keys"][0]}),
    ] {
        let token = other.sign(&header(change.clone()), &claims);
        assert!(is_invalid(&verifier.verify(&token).await), "{change}");
    }
    for junk in ["", ".", "..", "a.b.c", "ey.ey.ey", &"ey".repeat(20_000), &format!("{}.x.y.z.q", "ey")] {
        assert!(is_invalid(&verifier.verify(junk).await), "{junk:.20}");
    }
}

#[tokio::test]
async fn a02_wrong_times_and_issuers_are_401() {
    let signer = Signer::new("k1");
    let verifier = verifier(&signer);
    let check = async |name: &str, value: serde_json::Value| {
        let mut claims = signer::claims();
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value;
        }
        verifier.verify(&signer.sign(&signer.header(), &claims)).await
    };
    assert!(check("nbf", (now() - 5).into()).await.is_ok());
    assert!(check("exp", (now() - 5).into()).await.is_ok(), "clocks may differ a little");
    assert_eq!(check("exp", (now() - 120).into()).await, Err(AuthError::Expired));
    for (name, value) in [
        ("exp", serde_json::Value::Null),
        ("exp", "tomorrow".into()),
        ("exp", (-1).into()),
        ("nbf", (now() + 120).into()),
        ("nbf", "x".into()),
        ("iss", serde_json::Value::Null),
        ("iss", "https://evil.example".into()),
        ("iss", format!("{ISSUER}/").into()),
        ("iss", serde_json::json!([ISSUER, "https://evil.example"])),
        ("sub", serde_json::Value::Null),
        ("sub", "".into()),
        ("scope", serde_json::json!({"a": 1})),
        ("roles", serde_json::json!([1])),
    ] {
        assert!(is_invalid(&check(name, value.clone()).await), "{name} {value}");
    }
}

#[test]
fn a02_shared_secrets_and_useless_key_sets_are_refused_at_start() {
    let mut options = TokenOptions::new(ISSUER, AUDIENCE);
    options.algorithms = vec![Algorithm::ES256, Algorithm::HS256];
    let jwks = Signer::new("k").jwks();
    let error = JwtVerifier::with_keys(options, jwks.as_bytes()).unwrap_err();
    assert!(matches!(error, BadTokenOptions::SharedSecret(Algorithm::HS256)));
    let secret_only = br#"{"keys":[{"kty":"oct","k":"c2VjcmV0","alg":"HS256"}]}"#;
    let error = JwtVerifier::with_keys(TokenOptions::new(ISSUER, AUDIENCE), secret_only).unwrap_err();
    assert!(matches!(error, BadTokenOptions::Keys(BadJwks::NoKey)));
    for (issuer, audience) in [("", AUDIENCE), (ISSUER, "")] {
        assert!(JwtVerifier::with_keys(TokenOptions::new(issuer, audience), jwks.as_bytes()).is_err());
    }
}

#[tokio::test]
async fn a03_a_token_for_another_audience_is_401() {
    let signer = Signer::new("k1");
    let verifier = verifier(&signer);
    for (audience, good) in [
        (serde_json::json!(AUDIENCE), true),
        (serde_json::json!(["x", AUDIENCE]), true),
        (serde_json::json!("https://other.example/mcp"), false),
        (serde_json::json!(format!("{AUDIENCE}/admin")), false),
        (serde_json::json!(["x"]), false),
        (serde_json::json!([]), false),
        (serde_json::Value::Null, false),
        (serde_json::json!({"0": AUDIENCE}), false),
    ] {
        let mut claims = signer::claims();
        claims["aud"] = audience.clone();
        let verdict = verifier.verify(&signer.sign(&signer.header(), &claims)).await;
        assert_eq!(verdict.is_ok(), good, "{audience}");
        assert!(good || is_invalid(&verdict), "{audience}");
    }
}

#[tokio::test]
async fn a04_wrong_credentials_never_make_an_anonymous_caller() {
    let key = keys::generate();
    let signer = Signer::new("k1");
    let both = Authenticator::Both(
        ApiKeys::from_json(&key_file(&key.sha256, "")).unwrap().into(),
        verifier(&signer).into(),
    );
    let gate = Gate::new(both, Unidentified::Anonymous, AttemptLimit::default());
    let none: &[&str] = &[];
    assert_eq!(gate.admit(none, HOME).await, Ok(Identity::anonymous().into()));
    assert_eq!(gate.admit(&[format!("Bearer {}", key.token)], HOME).await, Ok(ci()));
    let signed = signer.sign(&signer.header(), &signer::claims());
    assert_eq!(
        gate.admit(&[format!("Bearer {signed}")], HOME).await.unwrap().principal,
        Principal::token(ISSUER, "ada")
    );
    for header in ["", "Bearer", "Bearer x", "Bearer ey.x.y", "Basic x", "Bearer null", "Bearer undefined"] {
        assert_eq!(gate.admit(&[header], HOME).await.unwrap_err().status(), 401, "{header}");
    }
}

#[tokio::test(start_paused = true)]
async fn a08_a13_guesses_are_limited_per_address_and_a_valid_key_always_passes() {
    let key = keys::generate();
    let limit = AttemptLimit { burst: 5, interval: Duration::from_secs(2), addresses: 100 };
    let keys = Authenticator::Keys(ApiKeys::from_json(&key_file(&key.sha256, "")).unwrap().into());
    let gate = Gate::new(keys, Unidentified::Refuse, limit);
    let mut looked_at = 0;
    for n in 0..10_000 {
        let verdict = gate.admit(&[format!("Bearer guess-{n}")], HOME).await;
        looked_at += usize::from(is_invalid(&verdict));
    }
    assert_eq!(looked_at, 5);
    let good = [format!("Bearer {}", key.token)];
    assert_eq!(gate.admit(&good, HOME).await, Ok(ci()));
    let guess = ["Bearer guess"];
    let error = gate.admit(&guess, HOME).await.unwrap_err();
    let retry_after = Duration::from_secs(2);
    assert_eq!(error, AuthError::TooManyAttempts { retry_after });
    assert_eq!((error.status(), error.retry_after()), (429, Some(retry_after)));
    let elsewhere = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    assert!(is_invalid(&gate.admit(&guess, elsewhere).await));
    tokio::time::advance(retry_after).await;
    assert!(is_invalid(&gate.admit(&guess, HOME).await));
}

#[test]
fn a09_empty_default_and_short_secrets_are_refused() {
    let from = |token: &str| ApiKeys::from_token(Identity::anonymous(), token).map(|_| ());
    assert_eq!(from(""), Err(WeakToken::Empty));
    assert_eq!(from("   "), Err(WeakToken::Empty));
    assert_eq!(from("changeme"), Err(WeakToken::Short(8)));
    assert_eq!(from("Zk3v9QpL2sXw7RtB1nHf5JcD8mGyAe4"), Err(WeakToken::Short(31)));
    assert_eq!(from("please-CHANGEME-please-changeme-1234"), Err(WeakToken::Placeholder));
    assert_eq!(from(&"ab".repeat(32)), Err(WeakToken::Monotonous));
    assert_eq!(from("Zk3v9QpL2sXw7RtB1nHf5JcD8mGy Ae4u\n"), Err(WeakToken::Characters));
    assert_eq!(from(&keys::generate().token), Ok(()));
    assert!(!format!("{:?}", keys::generate()).contains("tl_"));

    let hash_of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let hash_of_secret = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    for hash in [hash_of_nothing, hash_of_secret, &"0".repeat(64)] {
        assert!(
            matches!(ApiKeys::from_json(&key_file(hash, "")), Err(BadKeys::KnownSecret(id)) if id == "ci")
        );
    }
    let hash = keys::generate().sha256;
    let twice = key_file(&hash, "").replace("]}]}", &format!(r#"]}},{{"id":"two","sha256":"{hash}"}}]}}"#));
    assert!(matches!(ApiKeys::from_json(&twice), Err(BadKeys::SameToken(..))), "{twice}");
    assert!(matches!(ApiKeys::from_json(&twice.replace("two", "ci")), Err(BadKeys::SameId(_))));
    assert!(matches!(ApiKeys::from_json(&key_file("abc", "")), Err(BadKeys::NotHash(_))));
    assert!(matches!(ApiKeys::from_json(r#"{"keys":[]}"#), Err(BadKeys::Empty)));
    assert!(matches!(ApiKeys::from_json(&key_file(&hash, r#","expires":"soon""#)), Err(BadKeys::NotDate(_))));
    assert!(matches!(
        ApiKeys::from_json(&key_file(&hash, r#","expire":"2020-01-01""#)),
        Err(BadKeys::Shape(_))
    ));
}

#[tokio::test]
async fn s02_an_expired_or_revoked_key_is_401() {
    let (old, new) = (keys::generate(), keys::generate());
    let expired = ApiKeys::from_json(&key_file(&old.sha256, r#","expires":"2020-01-01""#)).unwrap();
    assert_eq!(expired.check(&old.token), Err(AuthError::Expired));
    let keys = ApiKeys::from_json(&key_file(&old.sha256, r#","expires":"2999-12-31T23:59:59Z""#)).unwrap();
    assert_eq!(keys.check(&old.token), Ok(ci()));
    assert!(keys.reload("{}").is_err());
    assert_eq!(keys.check(&old.token), Ok(ci()), "a bad file changes nothing");
    keys.reload(&key_file(&new.sha256, "")).unwrap();
    assert!(is_invalid(&keys.check(&old.token)));
    assert_eq!(keys.check(&new.token), Ok(ci()));
}

/// An issuer that serves each of `jwks` once, then the last one repeatedly, and counts requests.
fn issuer(jwks: Vec<Result<String, &'static str>>) -> (trunkline_auth::jwt::Fetch, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let fetch: trunkline_auth::jwt::Fetch = Box::new(move || {
        let n = count.fetch_add(1, Ordering::SeqCst);
        let answer = jwks[n.min(jwks.len() - 1)].clone();
        Box::pin(async move { answer.map(String::into_bytes).map_err(Into::into) })
    });
    (fetch, asked)
}

#[tokio::test(start_paused = true)]
async fn s02_a_rotated_signing_key_is_learnt_and_a_withdrawn_one_forgotten() {
    let (first, second) = (Signer::new("k1"), Signer::new("k2"));
    let (fetch, asked) = issuer(vec![Ok(first.jwks()), Ok(second.jwks())]);
    let refresh = RefreshOptions::default();
    let verifier = JwtVerifier::with_fetch(TokenOptions::new(ISSUER, AUDIENCE), fetch, refresh).unwrap();
    let token = |signer: &Signer| signer.sign(&signer.header(), &signer::claims());
    for _ in 0..3 {
        assert!(verifier.verify(&token(&first)).await.is_ok());
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    for n in 0..1000 {
        let stranger = Signer::new(&format!("unknown-{n}"));
        assert!(is_invalid(&verifier.verify(&token(&stranger)).await));
        assert!(is_invalid(&verifier.verify(&token(&second)).await));
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1, "unknown keys cannot make us ask more often");
    tokio::time::advance(refresh.min_interval).await;
    assert!(verifier.verify(&token(&second)).await.is_ok());
    assert!(is_invalid(&verifier.verify(&token(&first)).await));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_is_away_is_503_and_old_keys_serve_for_a_while() {
    let signer = Signer::new("k1");
    let token = signer.sign(&signer.header(), &signer::claims());
    let (fetch, _) = issuer(vec![Err("away"), Ok(signer.jwks()), Err("away")]);
    let refresh = RefreshOptions::default();
    let verifier = JwtVerifier::with_fetch(TokenOptions::new(ISSUER, AUDIENCE), fetch, refresh).unwrap();
    assert_eq!(verifier.verify(&token).await, Err(AuthError::Unavailable));
    assert_eq!(AuthError::Unavailable.status(), 503);
    tokio::time::advance(refresh.min_interval).await;
    assert!(verifier.verify(&token).await.is_ok());
    tokio::time::advance(refresh.max_age).await;
    assert!(verifier.verify(&token).await.is_ok());
    tokio::time::advance(refresh.max_stale).await;
    assert_eq!(verifier.verify(&token).await, Err(AuthError::Unavailable));
}
