//! The operator's secret: proves that a command comes from the user who runs the gateway.
//!
//! Without authentication, an agent on this machine is the same caller as its user.
//! The secret is in a file that only the user can read, and never in a message of the protocol, so
//! no tool call can give consent.

use super::settings::state_home;
use crate::{commands::status::Asker, environment::Environment, failure::Failure};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::path::PathBuf;
use trunkline_config::{Secret, read_regular_text, write_secret};

/// The header of a command that carries the secret.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("trunkline-operator");
/// Longest file.
const MOST: u64 = 256;

/// The file of the secret; `None` if there is no home directory.
pub(crate) fn file(environment: &Environment) -> Option<PathBuf> {
    Some(state_home(environment)?.join("trunkline/operator"))
}

/// The secret. It is created the first time.
pub(crate) fn secret(environment: &Environment) -> Option<String> {
    let path = file(environment)?;
    if let Some(known) = read(&path) {
        return Some(known);
    }
    let made = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
    if let Err(error) = write_secret(&path, &Secret::new(made, "…")) {
        tracing::warn!(file = %path.display(), %error, "the operator's secret cannot be written");
    }
    // Another process may have written it first.
    read(&path)
}

/// Adds the operator's secret to the request, unless an API key identifies the operator or the
/// gateway is on another machine.
pub(crate) fn proven(asker: Asker, key: Option<&str>, environment: &Environment) -> Result<Asker, Failure> {
    if key.is_some() || !asker.stays_here() {
        return Ok(asker);
    }
    match secret(environment) {
        Some(secret) => asker.with_header(HEADER, &secret),
        None => Ok(asker),
    }
}

/// True if the request proves to come from the operator.
pub(crate) fn is_proven(headers: &HeaderMap, secret: Option<&str>) -> bool {
    let given = headers.get(HEADER).map(HeaderValue::as_bytes);
    match (given, secret) {
        (Some(given), Some(secret)) => {
            let same = given.iter().zip(secret.as_bytes()).fold(0, |seen, (one, other)| seen | (one ^ other));
            given.len() == secret.len() && same == 0
        }
        _ => false,
    }
}

fn read(path: &std::path::Path) -> Option<String> {
    let text = read_regular_text(path, MOST).ok()?;
    Some(text.trim().to_owned()).filter(|text| text.len() >= 32)
}
