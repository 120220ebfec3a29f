//! The `WWW-Authenticate` header of a refused request (RFC 6750 §3, RFC 9728 §5.1).

use crate::AuthError;
use std::fmt::Write;

/// The part that all challenges of one server share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    /// The URL of the RFC 9728 document.
    pub resource_metadata: Option<String>,
    /// Scopes that a token should carry.
    pub scopes: Vec<String>,
}

impl Challenge {
    /// The challenge of a refusal: which scopes are missing, or what is wrong with the credentials.
    pub fn of(&self, error: &AuthError) -> String {
        match error {
            AuthError::Scope { missing } => self.insufficient_scope(missing),
            other => self.unauthorized(other),
        }
    }

    /// For a 401. Without credentials the challenge carries no error code (RFC 6750 §3.1).
    pub fn unauthorized(&self, error: &AuthError) -> String {
        let code = match error {
            AuthError::Missing
            | AuthError::Scope { .. }
            | AuthError::TooManyAttempts { .. }
            | AuthError::Unavailable => None,
            AuthError::Several | AuthError::Malformed | AuthError::Scheme => Some("invalid_request"),
            AuthError::Invalid(_) | AuthError::Expired => Some("invalid_token"),
        };
        let described = code.map(|code| (code, error.to_string()));
        self.header(described, &self.scopes)
    }

    /// For a 403: every scope that the request needs, at once.
    pub fn insufficient_scope<S: AsRef<str>>(&self, needed: &[S]) -> String {
        let described = ("insufficient_scope", "the token does not carry every scope needed".to_owned());
        self.header(Some(described), needed)
    }

    fn header<S: AsRef<str>>(&self, error: Option<(&str, String)>, scopes: &[S]) -> String {
        let mut fields = Vec::new();
        if let Some((code, description)) = error {
            fields.push(("error", code.to_owned()));
            fields.push(("error_description", description));
        }
        if !scopes.is_empty() {
            fields.push(("scope", scopes.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" ")));
        }
        if let Some(url) = &self.resource_metadata {
            fields.push(("resource_metadata", url.clone()));
        }
        let mut header = "Bearer".to_owned();
        for (i, (name, value)) in fields.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(header, "{comma} {name}=\"{}\"", quoted(value))
                .expect("writing to a String does not fail");
        }
        header
    }
}

/// The content of a quoted-string. Characters that a header cannot hold are dropped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| (' '..='~').contains(c)) {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reason;

    fn challenge() -> Challenge {
        Challenge {
            resource_metadata: Some("https://a.example/.well-known/oauth-protected-resource/mcp".to_owned()),
            scopes: vec!["tools:read".to_owned()],
        }
    }

    #[test]
    fn a_request_without_credentials_is_pointed_to_the_metadata() {
        assert_eq!(
            challenge().unauthorized(&AuthError::Missing),
            r#"Bearer scope="tools:read", resource_metadata="https://a.example/.well-known/oauth-protected-resource/mcp""#
        );
        assert_eq!(Challenge::default().unauthorized(&AuthError::Missing), "Bearer");
    }

    #[test]
    fn a_wrong_token_is_told_that_and_not_why() {
        let header = Challenge::default().unauthorized(&AuthError::Invalid(Reason::Signature));
        assert_eq!(header, r#"Bearer error="invalid_token", error_description="the token is not valid""#);
    }

    #[test]
    fn a_lack_of_scopes_names_all_of_them() {
        let header = challenge().insufficient_scope(&["a", "b"]);
        assert!(header.starts_with(r#"Bearer error="insufficient_scope", "#), "{header}");
        assert!(header.contains(r#"scope="a b", resource_metadata="#), "{header}");
    }

    #[test]
    fn no_value_can_leave_its_quotes_or_its_line() {
        assert_eq!(quoted("a\"b\\c\r\nd\u{e9}"), r#"a\"b\\cd"#);
    }
}
