//! Finds the cause when a URL does not answer as an MCP server.

use super::{
    Site,
    certificate::{self, Certificate},
    contact::Failed,
    page,
    request::{self, Body, Reply},
    sign_in,
};
use crate::{
    cause::Cause,
    diagnosis::Problem,
    evidence::Evidence,
    examination::{Checked, passed},
    step::StepId,
};
use ::url::Url;
use http::header;
use trunkline_client::{Exposure, is_this_machine};
use trunkline_transport::http::{HttpError, RedirectError, TlsError};

/// Parts of header names that mark a credential.
const CREDENTIAL_WORDS: [&str; 5] = ["token", "key", "secret", "auth", "cookie"];

/// The `Accept` header of every request, as shown in reports.
const ACCEPT: &str = "Accept: application/json, text/event-stream";
const CONTENT_TYPE: &str = "Content-Type: application/json";
const USUAL_PATHS: &str = "the endpoint is mostly /mcp, for old servers /sse";

/// Refuses to send a credential over plain http to another machine.
pub(super) fn address(site: &Site<'_>) -> Checked<()> {
    let credential = site
        .options
        .http
        .extra_headers
        .keys()
        .find(|name| CREDENTIAL_WORDS.iter().any(|word| name.as_str().contains(word)));
    let exposed = site.address.scheme() == "http"
        && !is_this_machine(site.address)
        && site.options.exposure == Exposure::Refuse;
    match credential.filter(|_| exposed) {
        Some(name) => {
            let secure = with_scheme(site.address, "https");
            Err(Box::new(
                Problem::new(
                    Cause::CredentialsInClear,
                    format!("the header `{name}` would go over plain http"),
                )
                .fix(secure.to_string())
                .fix("or accept it, inside a network you trust: --allow-plain-http"),
            ))
        }
        None => passed((), site.address.to_string()),
    }
}

/// The step that fails with this cause.
pub(super) fn step_of(cause: Cause) -> StepId {
    use Cause as C;
    match cause {
        C::TlsSelfSigned
        | C::TlsUnknownAuthority
        | C::TlsWrongName
        | C::TlsExpired
        | C::TlsNotYetValid
        | C::TlsOnPlainPort
        | C::TlsClientCertificate
        | C::TlsRoots
        | C::TlsOther => StepId::Secure,
        C::NotHttp
        | C::ClosedAtOnce
        | C::HeadNeverCame
        | C::PlainOnTlsPort
        | C::HeadTooLong
        | C::BackendDown
        | C::ServerError
        | C::RateLimited => StepId::HttpAnswers,
        C::NotAcceptable | C::MediaTypeRefused | C::StreamHeld | C::ForeignEndpoint | C::ContentEncoded => {
            StepId::TransportFound
        }
        C::NotMcp | C::NotJsonRpc | C::ConnectionBreaks => StepId::SpeaksJsonRpc,
        C::AddressInvalid => StepId::Address,
        _ if cause.entry().area == crate::cause::Area::SignIn => StepId::LetIn,
        _ => StepId::PathRight,
    }
}

/// Picks the most informative of the failed attempts and explains it.
pub(super) async fn explain(site: &Site<'_>, failed: Failed) -> Problem {
    let Failed { posts, stream, unusable } = failed;
    if let Some(problem) = unusable {
        return *problem;
    }
    if let Some(HttpError::ForeignEndpoint { target }) = &stream {
        return Problem::new(Cause::ForeignEndpoint, format!("the event stream names {target}"))
            .fix(format!("let the server name a path: event: endpoint, data: {}", path_of(target)));
    }
    if let Some(held) = stream.as_ref().filter(|error| matches!(error, HttpError::Timeout { .. })) {
        return held_stream(site, &held.to_string());
    }
    let mut replies = Vec::new();
    let mut errors = Vec::new();
    for post in posts {
        match post {
            Ok(reply) => replies.push(reply),
            Err(error) => errors.push(error),
        }
    }
    match (replies.last(), errors.last()) {
        (Some(reply), _) => of_reply(site, reply).await,
        (None, Some(error)) => of_error(site, error).await,
        (None, None) => Problem::new(Cause::HeadNeverCame, "nothing came back"),
    }
}

async fn of_reply(site: &Site<'_>, reply: &Reply) -> Problem {
    let path = site.address.path();
    let problem = match reply.status.as_u16() {
        401 => return sign_in::explain(site, reply).await,
        403 | 421 => sign_in::forbidden(site, reply),
        407 => Problem::new(Cause::ProxyNotUsed, "a proxy requires authentication")
            .fix("reach the server without that proxy"),
        429 => later(Cause::RateLimited, reply, "it has had too many requests"),
        502..=504 => later(Cause::BackendDown, reply, "the proxy cannot reach the server"),
        500.. => later(Cause::ServerError, reply, "it fails inside"),
        404 | 410 if !page::is_challenge_or_login(reply) => {
            Problem::new(Cause::WrongPath, format!("there is nothing at the path `{path}`")).fix(USUAL_PATHS)
        }
        _ if reply.is_html() => page::explain(site, reply),
        405 => Problem::new(Cause::PostRefused, format!("the path `{path}` takes no POST"))
            .fix(format!("allowed there: {}", reply.header("allow").unwrap_or("not said"))),
        406 => Problem::new(Cause::NotAcceptable, format!("it refuses `{ACCEPT}`"))
            .fix(format!("{ACCEPT}    # what must reach the server, through every proxy")),
        415 => Problem::new(Cause::MediaTypeRefused, format!("it refuses `{CONTENT_TYPE}`"))
            .fix(format!("{CONTENT_TYPE}    # what must reach the server, through every proxy")),
        _ => return of_body(site, reply),
    };
    problem.proofs(reply.evidence())
}

/// The status is fine, but the body is no JSON-RPC message.
fn of_body(site: &Site<'_>, reply: &Reply) -> Problem {
    let problem = match &reply.body {
        Body::Held(waited) => held_stream(site, &format!("no event within {} s", waited.as_secs_f64())),
        Body::Encoded(coding) => {
            Problem::new(Cause::ContentEncoded, format!("the answer comes as `{coding}`"))
                .fix("turn compression off for this path (nginx: gzip off;)")
        }
        Body::Ended => Problem::new(Cause::ConnectionBreaks, "the event stream ended without an answer")
            .fix("see what the server logged at that time"),
        _ => Problem::new(Cause::NotMcp, format!("status {} and no JSON-RPC", reply.status.as_u16()))
            .fix("is this the MCP endpoint? it is mostly /mcp, for old servers /sse"),
    };
    problem.proofs(reply.evidence())
}

async fn of_error(site: &Site<'_>, error: &HttpError) -> Problem {
    let problem = match error {
        HttpError::Tls(error) => return of_tls(site, error).await,
        HttpError::Redirect(RedirectError::LosesBody { status, target }) => {
            Problem::new(Cause::RedirectLosesPost, format!("status {} sends us to {target}", status.as_u16()))
                .fix(format!("use {target}"))
        }
        HttpError::Redirect(RedirectError::OtherOrigin { target }) => {
            Problem::new(Cause::RedirectElsewhere, format!("it sends us to {target}"))
                .fix(format!("use {target}, if you trust it"))
        }
        HttpError::Redirect(error) => Problem::new(Cause::RedirectLoop, error.to_string())
            .fix("correct the redirects of the proxy or server"),
        HttpError::Timeout { limit, .. } => Problem::new(
            Cause::HeadNeverCame,
            format!("the request was sent, and no status came within {} s", limit.as_secs_f64()),
        )
        .fix("see what the server does with the request; a proxy that holds event streams looks the same"),
        HttpError::Broken(_) | HttpError::Connect(_) => broken(site, error).await,
        other => Problem::new(Cause::ClosedAtOnce, other.to_string()).fix("see what the server logged"),
    };
    problem.proof(Evidence::fact(chain(error)))
}

/// Explains a connection that broke before a response: not HTTP, closed, or the wrong scheme.
async fn broken(site: &Site<'_>, source: &(dyn std::error::Error + 'static)) -> Problem {
    if site.address.scheme() == "http"
        && certificate::look(site.address, site.options.limits.step).await.is_some()
    {
        return not_plain(site);
    }
    if site.address.scheme() == "https" && speaks_plain(site).await {
        return not_tls(site);
    }
    let told = chain(source).to_ascii_lowercase();
    if told.contains("the head of the answer is longer") {
        return Problem::new(Cause::HeadTooLong, "the headers of the answer are longer than 64 KB")
            .fix("shorten `WWW-Authenticate` and the other headers of the answer");
    }
    if told.contains("invalid http") || told.contains("parse") || told.contains("version") {
        return Problem::new(Cause::NotHttp, "the response is not HTTP")
            .fix("correct the port; another service listens there");
    }
    Problem::new(Cause::ClosedAtOnce, "the connection was closed before an answer")
        .fix("see what the server logged at that time; check that the port is the server's own")
}

fn not_plain(site: &Site<'_>) -> Problem {
    let secure = with_scheme(site.address, "https");
    Problem::new(Cause::PlainOnTlsPort, "the port speaks TLS").fix(secure.to_string())
}

fn not_tls(site: &Site<'_>) -> Problem {
    let plain = with_scheme(site.address, "http");
    Problem::new(Cause::TlsOnPlainPort, "the response is not TLS").fix(plain.to_string())
}

/// True if the port answers plain http. The request carries none of our headers.
async fn speaks_plain(site: &Site<'_>) -> bool {
    let mut options = site.options.clone();
    options.http.extra_headers.clear();
    let plain = with_scheme(site.address, "http");
    let site = Site { address: &plain, options: &options };
    match request::client(&site) {
        Ok(client) => request::get(&site, &client, &plain).await.is_ok(),
        Err(_) => false,
    }
}

fn with_scheme(address: &Url, scheme: &str) -> Url {
    let mut other = address.clone();
    // Cannot fail: `set_scheme` allows a change between http and https.
    other.set_scheme(scheme).ok();
    other
}

async fn of_tls(site: &Site<'_>, error: &TlsError) -> Problem {
    let shown = certificate::look(site.address, site.options.limits.step).await;
    let host = site.address.host_str().unwrap_or_default();
    let port = site.address.port_or_known_default().unwrap_or(443);
    let save = format!(
        "openssl s_client -connect {host}:{port} -showcerts </dev/null | openssl x509 > server.pem    # look at it before you trust it"
    );
    let trust = format!("trunkline doctor --cacert server.pem {}", site.address);
    let names = shown.as_ref().map(|shown| shown.names.join(", ")).unwrap_or_default();
    let until = shown.as_ref().map(|shown| shown.not_after.clone()).unwrap_or_default();
    let issuer = shown.as_ref().map(|shown| shown.issuer.clone()).unwrap_or_default();
    let self_signed = shown.as_ref().is_some_and(Certificate::is_self_signed);
    let problem = match error {
        TlsError::UnknownIssuer if self_signed => {
            let told = format!("its subject and its issuer are both `{issuer}`");
            Problem::new(Cause::TlsSelfSigned, told).fix(save).fix(trust)
        }
        TlsError::UnknownIssuer => Problem::new(
            Cause::TlsUnknownAuthority,
            format!("the certificate is issued by `{issuer}`, which is not trusted here"),
        )
        .fix("trunkline doctor --cacert authority.pem …    # the certificate of that authority")
        .fix("NODE_EXTRA_CA_CERTS=authority.pem, SSL_CERT_FILE=authority.pem    # for other clients"),
        TlsError::WrongHost if names.is_empty() => nameless(host),
        TlsError::WrongHost => {
            Problem::new(Cause::TlsWrongName, format!("the certificate is for {names}, not for {host}"))
                .fix(format!("use one of these names in the address: {names}"))
        }
        TlsError::Expired => Problem::new(Cause::TlsExpired, format!("the certificate expired at {until}"))
            .fix("renew the certificate of the server")
            .fix("date    # whether the clock of this machine is right"),
        TlsError::NotYetValid => Problem::new(Cause::TlsNotYetValid, "the certificate is not valid yet")
            .fix("date    # whether the clock of this machine is right"),
        TlsError::NotTls => not_tls(site),
        TlsError::PlainRequest => not_plain(site),
        TlsError::ClientCertificateRequired
        | TlsError::ClientCertificateRefused
        | TlsError::BadClientCertificate(_) => Problem::new(Cause::TlsClientCertificate, error.to_string())
            .fix("trunkline doctor --cert client.pem --key client.key …"),
        TlsError::NoRoots | TlsError::UnreadableFile { .. } | TlsError::BadPem { .. } => {
            Problem::new(Cause::TlsRoots, error.to_string())
                .fix("install ca-certificates, or correct the file after --cacert")
        }
        TlsError::Other(_) => Problem::new(Cause::TlsOther, error.to_string())
            .fix("see the message; TLS 1.2 is the least that is accepted"),
    };
    let shown = shown
        .map(|shown| Evidence::fact(format!("the certificate: {shown}; valid from {}", shown.not_before)));
    problem.proofs(shown)
}

/// Clients ignore the common name of a certificate since RFC 6125.
fn nameless(host: &str) -> Problem {
    let bare = host.trim_matches(['[', ']']);
    let kind = if bare.parse::<std::net::IpAddr>().is_ok() { "IP" } else { "DNS" };
    Problem::new(Cause::TlsWrongName, format!("the certificate has no subjectAltName, so not {host} either"))
        .fix("make a new certificate with that name, and start the server with it:")
        .fix(format!(
            "openssl req -x509 -newkey rsa:2048 -nodes -days 365 -keyout server.key -out server.pem -subj /CN={bare} -addext subjectAltName={kind}:{bare}"
        ))
}

fn held_stream(site: &Site<'_>, why: &str) -> Problem {
    Problem::new(Cause::StreamHeld, format!("the event stream opened, and {why}"))
        .fix(format!(
            "nginx: location {} {{ proxy_buffering off; proxy_read_timeout 1h; }}",
            site.address.path()
        ))
        .fix("or let the server send the header `X-Accel-Buffering: no`")
}

fn later(cause: Cause, reply: &Reply, what: &str) -> Problem {
    let problem = Problem::new(cause, format!("status {}: {what}", reply.status.as_u16()));
    match reply.header(header::RETRY_AFTER.as_str()) {
        Some(wait) => problem.fix(format!("wait until it allows more: Retry-After: {wait}")),
        None if cause == Cause::RateLimited => problem.fix("wait, then try again; it does not say how long"),
        None => problem.fix("read the log of the server, and of the proxy in front of it"),
    }
}

fn path_of(target: &str) -> String {
    Url::parse(target).map_or_else(|_| target.to_owned(), |url| url.path().to_owned())
}

/// An error and its sources as one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let further = source.to_string();
        if !text.contains(&further) {
            text.push_str(": ");
            text.push_str(&further);
        }
        next = source.source();
    }
    text
}
