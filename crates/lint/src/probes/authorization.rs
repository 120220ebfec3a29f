//! What a client without a token meets: the challenge, the documents it leads to, and whether made-up tokens are refused.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{Dressed, Expect, Heard, HttpAsk, bytes, initialize_params, request},
};
use http::Method;
use serde_json::{Value, json};
use trunkline_protocol::{Era, Revision};
use url::Url;

/// The introduction, without a token.
pub const AUTH_BARE_STEP: Step = Step("auth-bare");
/// Other methods without a token; the variant is the method.
pub const AUTH_METHOD_STEP: Step = Step("auth-method");
/// The introduction with a token that nobody issued.
pub const AUTH_TOKEN_STEP: Step = Step("auth-token");
/// RFC 9728; the variant is the address.
pub const AUTH_RESOURCE_STEP: Step = Step("auth-resource-metadata");
/// RFC 8414 or `OpenID` Connect discovery; the variant is the issuer.
pub const AUTH_ISSUER_STEP: Step = Step("auth-issuer-metadata");

/// Observed: the address of the server.
pub const AUTH_URL_STEP: Step = Step("auth-url");

/// Authorization servers that are looked up.
const ISSUERS: usize = 3;

/// A token of the right form that is worth nothing.
const MADE_UP: &str = "trunkline-lint-made-up-token";

/// The same as an expired JSON Web Token, signed by nobody: `{"alg":"none"}`, `{"exp":1}`.
const EXPIRED: &str = "eyJhbGciOiJub25lIn0.eyJleHAiOjF9.";

pub static AUTHORIZATION: Probe = Probe {
    name: "authorization",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    line: LineUse::Fresh,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    let Some(url) = stage.speaker.url() else { return };
    stage.speaker.observe(AUTH_URL_STEP, url.as_str());
    let bare = ask(stage, (AUTH_BARE_STEP, ""), None, Vec::new()).await;
    if bare.http.as_ref().is_none_or(|head| head.status != 401) {
        return;
    }
    for (variant, token) in [("made up", MADE_UP), ("expired and unsigned", EXPIRED)] {
        let header = vec![("authorization", format!("Bearer {token}"))];
        ask(stage, (AUTH_TOKEN_STEP, variant), None, header).await;
    }
    let mut in_query = url.clone();
    in_query.query_pairs_mut().append_pair("access_token", MADE_UP);
    ask(stage, (AUTH_TOKEN_STEP, "in the query"), Some(in_query), Vec::new()).await;
    for method in ["tools/list", "resources/list", "prompts/list"] {
        let id = stage.speaker.fresh_id();
        let message = request(stage.era(), &id, method, json!({}));
        let ask = HttpAsk { dressed: Dressed::Stranger, ..HttpAsk::post(bytes(&message)) };
        stage.speaker.http((AUTH_METHOD_STEP, method), ask, Expect::Answer(id)).await;
    }
    let challenge = bare.http.as_ref().and_then(|head| head.header("www-authenticate")).unwrap_or_default();
    let document = resource_document(stage, &url, challenge).await;
    let issuers: Vec<String> = document
        .as_ref()
        .and_then(|document| document["authorization_servers"].as_array())
        .map(|servers| servers.iter().filter_map(Value::as_str).map(str::to_owned).take(ISSUERS).collect())
        .unwrap_or_default();
    for issuer in issuers {
        issuer_document(stage, &issuer).await;
    }
}

async fn ask(
    stage: &mut Stage,
    at: (Step, &str),
    url: Option<Url>,
    headers: Vec<(&'static str, String)>,
) -> Heard {
    let id = stage.speaker.fresh_id();
    let message = match stage.era() {
        Era::Legacy => {
            request(Era::Legacy, &id, "initialize", initialize_params(Revision::NEWEST_LEGACY.as_str()))
        }
        Era::Modern => request(Era::Modern, &id, "server/discover", json!({})),
    };
    let mut ask = HttpAsk { dressed: Dressed::Stranger, url, ..HttpAsk::post(bytes(&message)) };
    for (name, value) in headers {
        ask = ask.header(name, value);
    }
    stage.speaker.http(at, ask, Expect::Answer(id)).await
}

/// The first document found where a client looks: named in the challenge, below the path, at the root.
async fn resource_document(stage: &mut Stage, url: &Url, challenge: &str) -> Option<Value> {
    let mut places = Vec::new();
    places.extend(parameter(challenge, "resource_metadata").and_then(|text| url.join(text).ok()));
    places.extend(well_known(url, "oauth-protected-resource"));
    places.extend(url.join("/.well-known/oauth-protected-resource").ok());
    places.dedup();
    for place in places {
        if let Some(document) = fetch(stage, AUTH_RESOURCE_STEP, (place.as_str(), &place)).await {
            return Some(document);
        }
    }
    None
}

async fn issuer_document(stage: &mut Stage, issuer: &str) {
    let Ok(url) = Url::parse(issuer) else { return };
    let mut places = Vec::new();
    places.extend(well_known(&url, "oauth-authorization-server"));
    places.extend(well_known(&url, "openid-configuration"));
    let path = url.path().trim_end_matches('/');
    if !path.is_empty() {
        places.extend(url.join(&format!("{path}/.well-known/openid-configuration")).ok());
    }
    for place in places {
        if fetch(stage, AUTH_ISSUER_STEP, (issuer, &place)).await.is_some() {
            return;
        }
    }
}

async fn fetch(stage: &mut Stage, step: Step, (variant, url): (&str, &Url)) -> Option<Value> {
    let ask = HttpAsk { url: Some(url.clone()), ..HttpAsk::bare(Method::GET) };
    let ask = HttpAsk { dressed: Dressed::Stranger, ..ask }.header("accept", "application/json");
    let heard = stage.speaker.http((step, variant), ask, Expect::Nothing).await;
    let head = heard.http.filter(|head| head.status == 200)?;
    serde_json::from_str(&head.body).ok()
}

/// The well-known address with the path of `url` behind it.
fn well_known(url: &Url, name: &str) -> Option<Url> {
    let path = url.path().trim_end_matches('/');
    url.join(&format!("/.well-known/{name}{path}")).ok()
}

/// A parameter of a challenge.
fn parameter<'a>(challenge: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = challenge.split_once(&format!("{name}="))?;
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split([',', ' ']).next(),
    }
}
