//! Rules of the group `auth`.

mod auth_challenge;
mod auth_challenge_scope;
mod auth_encrypted_endpoints;
mod auth_query_tokens_offered;
mod auth_registration;
mod issuer_metadata;
mod pkce;
mod plain_http;
mod resource_metadata;
mod uneven_protection;
mod wrong_token_refused;

use crate::rule::Rule;
use crate::{
    evidence::{Asked, Evidence},
    outcome::Skip,
    probes::{AUTH_BARE_STEP, AUTH_ISSUER_STEP, AUTH_RESOURCE_STEP, AUTHORIZATION},
};
use serde_json::Value;

pub(super) static RULES: &[&Rule] = &[
    &auth_challenge::RULE,
    &auth_challenge_scope::RULE,
    &auth_encrypted_endpoints::RULE,
    &auth_query_tokens_offered::RULE,
    &auth_registration::RULE,
    &issuer_metadata::RULE,
    &pkce::RULE,
    &plain_http::RULE,
    &resource_metadata::RULE,
    &uneven_protection::RULE,
    &wrong_token_refused::RULE,
];

/// The refused request without a token, or the reason why rules about tokens have no verdict.
fn bare(evidence: &Evidence) -> Result<Asked<'_>, Skip> {
    let is_refused = |asked: &Asked<'_>| asked.http().is_some_and(|head| head.status == 401);
    let refused = evidence.asked(AUTH_BARE_STEP).find(is_refused);
    let Some(asked) = refused.or_else(|| evidence.asked(AUTH_BARE_STEP).next()) else {
        let why =
            evidence.why_missed(&AUTHORIZATION, None).unwrap_or("the probe `authorization` was not run");
        return Err(Skip::not_verified(why));
    };
    match asked.http() {
        Some(_) if is_refused(&asked) => Ok(asked),
        Some(_) => Err(Skip::not_applicable("the server asks for no token")),
        None => Err(Skip::not_verified(asked.describe())),
    }
}

/// The protected-resource metadata, if it was found.
fn document(evidence: &Evidence) -> Option<(Asked<'_>, Value)> {
    evidence.asked(AUTH_RESOURCE_STEP).find_map(|asked| Some((asked, json(asked)?)))
}

/// The identifier of an authorization server, the request for its metadata, and the metadata.
type Issuer<'a> = (&'a str, Asked<'a>, Option<Value>);

/// The authorization servers, each with its metadata if there is any.
fn issuers(evidence: &Evidence) -> Result<Vec<Issuer<'_>>, Skip> {
    let mut all: Vec<Issuer<'_>> = Vec::new();
    for asked in evidence.asked(AUTH_ISSUER_STEP) {
        let found = json(asked);
        match all.iter_mut().find(|(issuer, _, _)| *issuer == asked.variant()) {
            Some(known) if known.2.is_none() && found.is_some() => *known = (asked.variant(), asked, found),
            Some(_) => {}
            None => all.push((asked.variant(), asked, found)),
        }
    }
    if all.is_empty() { Err(Skip::not_verified("no authorization server is known")) } else { Ok(all) }
}

fn json(asked: Asked<'_>) -> Option<Value> {
    let head = asked.http().filter(|head| head.status == 200)?;
    serde_json::from_str(&head.body).ok().filter(Value::is_object)
}
