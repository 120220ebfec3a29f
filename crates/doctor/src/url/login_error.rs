//! Explains an error of the OAuth client: the step that failed, and the cause.

use super::{Site, metadata::AuthorizationServer};
use crate::{cause::Cause, diagnosis::Problem, step::StepId};
use trunkline_oauth::OAuthError;

/// Hint that shows how to pass a token.
const GIVE: &str = "trunkline doctor -H 'Authorization: Bearer {env:TOKEN}' …    # with your token in TOKEN";
const CONFIGURE: &str = "\"oauth\": { \"clientId\": \"…\" }    # in the server's entry of trunkline.json";

/// The failed step and its problem, for an error of a login.
pub(super) fn explain(site: &Site<'_>, found: &AuthorizationServer, error: &OAuthError) -> (StepId, Problem) {
    let registers = |url: &str| found.registration.as_deref() == Some(url);
    let problem = match error {
        OAuthError::NoClient { .. } => return (StepId::ClientKnown, no_client(&found.issuer)),
        OAuthError::Registration { said } => {
            let summary = format!("{} says: {said}", found.issuer);
            let problem = Problem::new(Cause::RegistrationRefused, summary).fix(CONFIGURE);
            return (StepId::ClientKnown, problem);
        }
        OAuthError::Fetch { url, .. }
        | OAuthError::Malformed { url, .. }
        | OAuthError::Status { url, .. }
            if registers(url) =>
        {
            let problem = Problem::new(Cause::RegistrationMalformed, error.to_string()).fix(CONFIGURE);
            return (StepId::ClientKnown, problem);
        }
        _ => of_login(site, found, error),
    };
    (StepId::TokenObtained, problem)
}

/// The problem of a renewal.
pub(super) fn of_renewal(site: &Site<'_>, found: &AuthorizationServer, error: &OAuthError) -> Problem {
    let again = format!("trunkline auth login {}", site.address);
    match error {
        OAuthError::Expired { said } | OAuthError::Token { said, .. } => {
            Problem::new(Cause::RefreshRefused, format!("the refresh token was refused: {said}")).fix(again)
        }
        error if error.is_transient() => Problem::new(Cause::RefreshDown, error.to_string())
            .fix(format!("try again later, or ask the operator of {}", found.issuer)),
        _ => of_login(site, found, error),
    }
}

pub(super) fn no_client(issuer: &str) -> Problem {
    let summary = format!("{issuer} has no `registration_endpoint`, and no client id is configured");
    Problem::new(Cause::NoRegistration, summary).fix(CONFIGURE)
}

fn of_login(site: &Site<'_>, found: &AuthorizationServer, error: &OAuthError) -> Problem {
    let issuer = &found.issuer;
    match error {
        OAuthError::NotSignedIn => required(site, found),
        OAuthError::Denied { said } => Problem::new(Cause::LoginDenied, format!("{issuer} says: {said}"))
            .fix(format!("trunkline auth login {}    # and consent", site.address)),
        OAuthError::WrongState => {
            Problem::new(Cause::LoginAnswerWrong, "its `state` is not the one that was sent")
                .fix("let the authorization server return `state` unchanged")
        }
        OAuthError::WrongIssuer { found, .. } => wrong_issuer(issuer, found.as_deref()),
        OAuthError::Unfinished { .. } => Problem::new(Cause::LoginUnfinished, error.to_string())
            .fix("repeat it, and finish the login in the browser; --timeout gives more time"),
        OAuthError::Token { code, said } => {
            Problem::new(Cause::TokenEndpointRefused, format!("the token endpoint answers `{code}`: {said}"))
                .fix(format!("see the log of {issuer}; check client id, secret and redirect address"))
        }
        OAuthError::TokenType { kind } => {
            Problem::new(Cause::TokenTypeUnsupported, format!("the token is of the type `{kind}`"))
                .fix("\"token_type\": \"Bearer\"    # in the answer of the token endpoint")
        }
        OAuthError::Expired { said } => {
            Problem::new(Cause::RefreshRefused, format!("the refresh token was refused: {said}"))
                .fix(format!("trunkline auth login {}", site.address))
        }
        OAuthError::Refused { .. } => Problem::new(Cause::EndpointUnusable, error.to_string())
            .fix("correct the address in the authorization server's metadata"),
        error if error.is_transient() => Problem::new(Cause::TokenEndpointDown, error.to_string())
            .fix(format!("try again later, or ask the operator of {issuer}")),
        error => Problem::new(Cause::TokenEndpointMalformed, error.to_string())
            .fix(format!("compare the metadata and the answers of {issuer} with RFC 6749")),
    }
}

fn required(site: &Site<'_>, found: &AuthorizationServer) -> Problem {
    let AuthorizationServer { issuer, authorize, evidence, .. } = found;
    Problem::new(Cause::SignInRequired, format!("it asks for a token of {issuer}"))
        .proofs(evidence.clone())
        .fix(format!("trunkline auth login {}    # signs in at {authorize}", site.address))
        .fix(format!("trunkline doctor --sign-in {}    # signs in for this examination only", site.address))
        .fix(GIVE)
}

fn wrong_issuer(issuer: &str, found: Option<&str>) -> Problem {
    let summary = match found {
        None => "it has no `iss`, although the metadata promises one".to_owned(),
        Some(iss) if iss.trim_end_matches('/') == issuer.trim_end_matches('/') => {
            format!("its `iss` differs from the issuer by a slash: `{iss}`")
        }
        Some(iss) => format!("its `iss` is that of another issuer: `{iss}`"),
    };
    Problem::new(Cause::LoginAnswerWrong, summary)
        .fix(format!("iss={issuer}    # what the authorization server must append to the redirect"))
}
