//! The claims of a verified token.

use super::TokenOptions;
use crate::{AuthError, Identity, Principal, error::Reason};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Most roles or scopes that are taken from one token.
const MAX_GRANTS: usize = 256;

#[derive(Debug, Deserialize)]
pub(crate) struct Claims {
    iss: String,
    sub: Option<String>,
    client_id: Option<String>,
    azp: Option<String>,
    scope: Option<Value>,
    scp: Option<Value>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Claims {
    pub(crate) fn identity(self, options: &TokenOptions) -> Result<Identity, AuthError> {
        // The library accepts a list of issuers that contains ours; we accept one issuer per
        // token.
        if self.iss != options.issuer {
            return Err(AuthError::Invalid(Reason::Issuer));
        }
        let mut roles = self.roles(&options.roles_claim)?;
        if !options.roles.is_empty() {
            roles = roles.iter().filter_map(|value| options.roles.get(value)).cloned().collect();
        }
        let mut scopes = words(self.scope.as_ref())?;
        scopes.extend(words(self.scp.as_ref())?);
        scopes.sort();
        scopes.dedup();
        let claim = |name: &String| Some((name.clone(), values(self.at(name)?)));
        let claims = options.claims.iter().filter_map(claim).collect();
        let id = [self.sub, self.client_id, self.azp].into_iter().flatten().find(|id| !id.is_empty());
        let id = id.ok_or(AuthError::Invalid(Reason::Claims))?;
        let identity = Identity { principal: Principal::token(self.iss, id), roles, scopes, claims };
        let missing = identity.missing_scopes(&options.scopes);
        if missing.is_empty() { Ok(identity) } else { Err(AuthError::Scope { missing }) }
    }

    fn roles(&self, path: &str) -> Result<Vec<String>, AuthError> {
        words(self.at(path))
    }

    /// The claim at a path.
    fn at(&self, path: &str) -> Option<&Value> {
        // The name of a claim may contain dots, as a URL does, so the whole path is tried first.
        if let Some(claim) = self.rest.get(path) {
            return Some(claim);
        }
        let mut names = path.split('.');
        let first = names.next().and_then(|name| self.rest.get(name));
        names.try_fold(first, |at, name| at.map(|at| at.get(name))).flatten()
    }
}

/// The values of a claim as texts. A text is one value, unlike in the lists of roles and scopes;
/// an object has none.
fn values(claim: &Value) -> Vec<String> {
    let scalar = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    match claim {
        Value::Array(items) => items.iter().take(MAX_GRANTS).filter_map(scalar).collect(),
        one => scalar(one).into_iter().collect(),
    }
}

/// Reads a list of words: an array, or one text separated by spaces. Absent means empty. Any other
/// shape is an error, because guessing could grant too many rights.
fn words(claim: Option<&Value>) -> Result<Vec<String>, AuthError> {
    let malformed = || AuthError::Invalid(Reason::Claims);
    let words: Vec<String> = match claim {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => text.split_ascii_whitespace().map(str::to_owned).collect(),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned).ok_or_else(malformed))
            .collect::<Result<_, _>>()?,
        Some(_) => return Err(malformed()),
    };
    if words.len() > MAX_GRANTS { Err(malformed()) } else { Ok(words) }
}
