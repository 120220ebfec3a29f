//! Follows the metadata from a 401 to the authorization server: RFC 9728, then RFC 8414.
//!
//! URLs that the server names are fetched without our headers, and only over https, from the
//! server's own origin, or from loopback if the server itself is on loopback.

use super::{
    Site,
    request::{self, Body, Reply},
};
use crate::{
    cause::Cause,
    diagnosis::Problem,
    evidence::{Evidence, Kind},
    examination::Stop,
    options::DoctorOptions,
};
use ::url::Url;
use http::{HeaderMap, header};
use serde_json::Value;
use trunkline_client::{Exposure, is_this_machine};
use trunkline_transport::http::{
    HttpClient, HttpOptions,
    well_known::{issuer_places, resource_places},
};

/// The authorization server to sign in at, with the evidence that leads to it.
pub(super) struct AuthorizationServer {
    pub(super) issuer: String,
    pub(super) authorize: String,
    /// The address that registers clients.
    pub(super) registration: Option<String>,
    /// True if a client may be named by the URL of its metadata document.
    pub(super) takes_documents: bool,
    pub(super) evidence: Vec<Evidence>,
}

/// `known` is the issuer of a stored login.
pub(super) async fn follow(
    site: &Site<'_>,
    reply: &Reply,
    known: Option<&str>,
) -> Result<AuthorizationServer, Stop> {
    let plain = without_headers(site);
    let site = &Site { address: site.address, options: &plain };
    let client = HttpClient::new(plain.http.clone())
        .map_err(|error| Box::new(Problem::new(Cause::SignInRequired, error.to_string())))?;
    let (place, resource) = resource(site, &client, reply).await?;
    check_resource(site, &resource, &place)?;
    let listed = resource.get("authorization_servers").and_then(Value::as_array);
    let issuers: Vec<&str> = listed.into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(issuer) = issuers.iter().find(|issuer| known == Some(issuer)).or(issuers.first()) else {
        return Err(Box::new(
            Problem::new(Cause::SignInMetadataWrong, "`authorization_servers` is missing or empty")
                .proof(Evidence::new(Kind::Body, resource.to_string()))
                .fix("\"authorization_servers\": [\"https://…\"]    # in the server's metadata"),
        ));
    };
    if let Some(known) = known.filter(|known| !issuers.contains(known)) {
        return Err(Box::new(
            moved(site, known, issuer).proof(Evidence::new(Kind::Body, resource.to_string())),
        ));
    }
    let server = authorization_server(site, &client, issuer).await?;
    check_server(issuer, &server)?;
    check_endpoints(site, &server)?;
    let text = |member: &str| server.get(member).and_then(Value::as_str).map(str::to_owned);
    let authorize = text("authorization_endpoint").unwrap_or_else(|| (*issuer).to_owned());
    let takes_documents = server.get("client_id_metadata_document_supported") == Some(&Value::Bool(true));
    let evidence =
        vec![Evidence::fact(format!("metadata at {place}")), Evidence::new(Kind::Body, resource.to_string())];
    let registration = text("registration_endpoint");
    Ok(AuthorizationServer {
        issuer: (*issuer).to_owned(),
        authorize,
        registration,
        takes_documents,
        evidence,
    })
}

fn moved(site: &Site<'_>, known: &str, issuer: &str) -> Problem {
    let summary = format!("the login is for {known}, and the server now names {issuer}");
    Problem::new(Cause::IssuerMoved, summary)
        .fix(format!("trunkline auth login {}    # if you trust {issuer}", site.address))
}

/// Refuses addresses that a client must not open or send secrets to.
fn check_endpoints(site: &Site<'_>, server: &Value) -> Result<(), Stop> {
    for member in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
        let Some(text) = server.get(member).and_then(Value::as_str) else { continue };
        let reason = match Url::parse(text) {
            Err(error) => error.to_string(),
            Ok(url) if is_allowed(site, &url) => continue,
            Ok(url) if url.scheme() == "http" => "plain http is allowed on this machine only".to_owned(),
            Ok(url) => format!("`{}:` is not a scheme of the web", url.scheme()),
        };
        let summary = format!("its `{member}` is `{text}`: {reason}");
        return Err(Box::new(
            Problem::new(Cause::EndpointUnusable, summary)
                .proof(Evidence::new(Kind::Body, server.to_string()))
                .fix(format!("\"{member}\": \"https://…\"    # in the authorization server's metadata")),
        ));
    }
    Ok(())
}

fn is_allowed(site: &Site<'_>, url: &Url) -> bool {
    let near = is_this_machine(url) && is_this_machine(site.address);
    let accepted = site.options.exposure == Exposure::Accept;
    url.scheme() == "https" || (url.scheme() == "http" && (near || accepted))
}

/// Our headers are meant for this server only, not for hosts that it names.
fn without_headers(site: &Site<'_>) -> DoctorOptions {
    let http = HttpOptions {
        extra_headers: HeaderMap::new(),
        credentials: None,
        client_certificate: None,
        head_timeout: Some(site.options.limits.step),
        ..site.options.http.clone()
    };
    DoctorOptions { http, ..site.options.clone() }
}

/// Fetches the protected-resource metadata (RFC 9728).
async fn resource(site: &Site<'_>, client: &HttpClient, reply: &Reply) -> Result<(Url, Value), Stop> {
    let challenges = reply.headers.get_all(header::WWW_AUTHENTICATE).iter();
    let places = resource_places(site.address, challenges.filter_map(|value| value.to_str().ok()));
    let mut tried = Vec::new();
    for place in places {
        match fetch(site, client, &place).await {
            Ok(document) => return Ok((place, document)),
            Err(why) => tried.push(Evidence::fact(format!("{place}: {why}"))),
        }
    }
    Err(Box::new(Problem::new(Cause::SignInMetadataMissing, "it asks for a token and names no authorization server")
        .proofs(tried)
        .fix("trunkline doctor -H 'Authorization: Bearer {env:TOKEN}' …    # with your token in TOKEN")
        .fix("WWW-Authenticate: Bearer resource_metadata=\"https://…/.well-known/oauth-protected-resource\"    # what the server should send")))
}

fn check_resource(site: &Site<'_>, document: &Value, place: &Url) -> Result<(), Stop> {
    if document.get("resource").is_some_and(|resource| !resource.is_string()) {
        let address = site.address.as_str();
        return Err(Box::new(
            Problem::new(Cause::SignInMetadataWrong, "`resource` in its metadata is not a string")
                .proof(Evidence::new(Kind::Body, document.to_string()))
                .fix(format!("\"resource\": \"{address}\"    # in the server's metadata")),
        ));
    }
    let named = document.get("resource").and_then(Value::as_str).unwrap_or_default();
    let address = site.address.as_str().trim_end_matches('/');
    let covers = Url::parse(named).is_ok_and(|url| {
        url.origin() == site.address.origin() && address.starts_with(named.trim_end_matches('/'))
    });
    if covers {
        return Ok(());
    }
    Err(Box::new(
        Problem::new(Cause::SignInMetadataWrong, format!("its metadata is for `{named}`, not for {address}"))
            .proof(Evidence::fact(format!("metadata at {place}")))
            .proof(Evidence::new(Kind::Body, document.to_string()))
            .fix(format!("\"resource\": \"{address}\"    # in the server's metadata")),
    ))
}

/// Fetches the authorization server's metadata (RFC 8414).
async fn authorization_server(site: &Site<'_>, client: &HttpClient, issuer: &str) -> Result<Value, Stop> {
    let unreachable = |tried: Vec<Evidence>| {
        Problem::new(Cause::IssuerUnreachable, format!("the authorization server {issuer} gives no metadata"))
            .proofs(tried)
            .fix(format!(
                "curl {}/.well-known/oauth-authorization-server    # it must answer with JSON",
                issuer.trim_end_matches('/')
            ))
    };
    let Ok(base) = Url::parse(issuer) else { return Err(Box::new(unreachable(Vec::new()))) };
    let mut tried = Vec::new();
    for place in issuer_places(&base) {
        match fetch(site, client, &place).await {
            Ok(document) => return Ok(document),
            Err(why) => tried.push(Evidence::fact(format!("{place}: {why}"))),
        }
    }
    Err(Box::new(unreachable(tried)))
}

fn check_server(issuer: &str, server: &Value) -> Result<(), Stop> {
    let named = server.get("issuer").and_then(Value::as_str).unwrap_or_default();
    let shown = Evidence::new(Kind::Body, server.to_string());
    if named.trim_end_matches('/') != issuer.trim_end_matches('/') {
        return Err(Box::new(
            Problem::new(
                Cause::IssuerMismatch,
                format!("expected issuer {issuer}, but its metadata says `{named}`"),
            )
            .proof(shown)
            .fix(format!("\"issuer\": \"{issuer}\"    # in the authorization server's metadata")),
        ));
    }
    let methods = server.get("code_challenge_methods_supported").and_then(Value::as_array);
    if !methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
        return Err(Box::new(Problem::new(Cause::NoPkce, format!("{issuer} offers {}, not S256", offered(methods))).proof(shown).fix(
            "\"code_challenge_methods_supported\": [\"S256\"]    # in the authorization server's metadata",
        )));
    }
    Ok(())
}

fn offered(methods: Option<&Vec<Value>>) -> String {
    let names: Vec<&str> = methods.into_iter().flatten().filter_map(Value::as_str).collect();
    if names.is_empty() { "no PKCE".to_owned() } else { format!("PKCE only with {}", names.join(", ")) }
}

async fn fetch(site: &Site<'_>, client: &HttpClient, place: &Url) -> Result<Value, String> {
    let near = is_this_machine(place) && is_this_machine(site.address);
    if place.scheme() != "https" && !near && place.origin() != site.address.origin() {
        return Err("not asked, as it is neither https nor on this machine".to_owned());
    }
    let reply = request::get(site, client, place).await.map_err(|error| error.to_string())?;
    match reply.body {
        Body::Json(document) if reply.status.is_success() && document.is_object() => Ok(document),
        _ if reply.status.is_success() => Err("not JSON".to_owned()),
        _ => Err(reply.status.to_string()),
    }
}
