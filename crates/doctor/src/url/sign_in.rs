//! Explains 401, 403 and 421: which credential is needed, and whether the sign-in metadata is
//! right.

use super::{Site, metadata, request::Reply, token};
use crate::{cause::Cause, diagnosis::Problem, evidence::Evidence};
use http::header;
use trunkline_transport::http::Challenge;

/// Hint that shows how to pass a token.
const GIVE: &str = "trunkline doctor -H 'Authorization: Bearer {env:TOKEN}' …    # with your token in TOKEN";

/// Explains a 401.
pub(super) async fn explain(site: &Site<'_>, reply: &Reply) -> Problem {
    let problem = match given_token(site) {
        Some(token) => token::explain(site, &token),
        None => match metadata::follow(site, reply, None).await {
            Ok(found) => {
                Problem::new(Cause::SignInRequired, format!("it asks for a token of {}", found.issuer))
                    .proofs(found.evidence)
                    .fix(format!(
                        "trunkline auth login {}    # signs in at {}",
                        site.address, found.authorize
                    ))
                    .fix(GIVE)
            }
            Err(problem) => *problem,
        },
    };
    problem.proofs(reply.evidence())
}

/// Explains a 403 or 421.
pub(super) fn forbidden(site: &Site<'_>, reply: &Reply) -> Problem {
    let challenge = reply.header(header::WWW_AUTHENTICATE.as_str()).unwrap_or_default();
    let text = reply.text().to_lowercase();
    let host = site.address.host_str().unwrap_or_default();
    let origin = site.options.http.extra_headers.get(header::ORIGIN).and_then(|value| value.to_str().ok());
    if challenge.contains("insufficient_scope") {
        let read = Challenge::read(challenge);
        let scope = read.iter().find_map(|one| one.get("scope")).unwrap_or("one that it does not name");
        return Problem::new(Cause::ScopeMissing, format!("the token lacks the scope `{scope}`"))
            .fix(format!("ask for a token with the scope: {scope}"));
    }
    if reply.status.as_u16() == 421
        || text.contains("host header")
        || text.contains("invalid host")
        || text.contains("host not allowed")
    {
        return Problem::new(Cause::HostRefused, format!("it does not know the host name `{host}`")).fix(
            format!("add `{host}` to the host names that the server allows (allowedHosts, --allow-host)"),
        );
    }
    if let Some(origin) = origin.filter(|_| text.contains("origin") || text.trim().is_empty()) {
        return Problem::new(Cause::OriginRefused, format!("it refuses the origin `{origin}`"))
            .fix("leave the header `Origin` out")
            .fix(format!("or add `{origin}` to the origins that the server allows"));
    }
    if reply.is_html() {
        return super::page::explain(site, reply);
    }
    Problem::new(Cause::Forbidden, "status 403: access denied")
        .fix("use an account or a token that may use it")
        .proofs((!challenge.is_empty()).then(|| Evidence::fact(format!("it says: {challenge}"))))
}

pub(super) fn given_token(site: &Site<'_>) -> Option<String> {
    let value = site.options.http.extra_headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    Some(value.split_once(' ').map_or(value, |(_, token)| token).to_owned())
}
