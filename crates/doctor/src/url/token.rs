//! Explains a refused token from its unverified JWT claims.

use super::Site;
use crate::{cause::Cause, diagnosis::Problem, evidence::Evidence};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;
use std::time::{SystemTime, UNIX_EPOCH};

/// Explains why a token is refused. Reports show only its times and audience.
pub(super) fn explain(site: &Site<'_>, token: &str) -> Problem {
    let refused = Problem::new(Cause::TokenRefused, "it refuses the token that was sent");
    let fix =
        "-H 'Authorization: Bearer {env:TOKEN}'    # with a token that is whole, valid and for this server";
    if token.starts_with(['"', '\'']) || token.trim() != token {
        return refused.proof(Evidence::fact("the token has quotation marks or blanks around it")).fix(fix);
    }
    let Some(claims) = claims(token) else { return refused.fix(fix) };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    if let Some(end) = claims.get("exp").and_then(Value::as_u64).filter(|end| *end <= now) {
        return Problem::new(Cause::TokenExpired, format!("the token expired {} ago", ago(now - end)))
            .fix("get a new token, then: -H 'Authorization: Bearer {env:TOKEN}'");
    }
    let audience: Vec<&str> = match claims.get("aud") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => return refused.fix(fix),
    };
    let address = site.address.as_str().trim_end_matches('/');
    if audience.iter().any(|one| address.starts_with(one.trim_end_matches('/'))) {
        return refused.fix(fix);
    }
    Problem::new(Cause::TokenAudience, format!("the token is for {}, not for {address}", audience.join(", ")))
        .fix(format!("ask for a token with resource={address}"))
}

/// The claims of a JWT, without checking its signature.
fn claims(token: &str) -> Option<Value> {
    let part = token.split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).ok()?).ok()
}

fn ago(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        7200..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86400),
    }
}
