//! A request to the token endpoint (RFC 6749 §5, with RFC 8707).

use crate::{
    ClientIdentity, IssuerMetadata, OAuthError, Tokens, error::said, token::WrittenTokens, web::Web,
};
use http::StatusCode;
use serde::Deserialize;

/// Longest token. No server takes a header of this length.
const MAX_TOKEN: usize = 32 * 1024;

/// A token request being built.
pub(crate) struct TokenRequest<'a> {
    client: &'a ClientIdentity,
    form: Vec<(&'static str, String)>,
    asked: Vec<String>,
}

/// The answer, with what only the sender can judge.
pub(crate) struct Granted {
    pub(crate) tokens: Tokens,
    /// True if the answer itself named the scopes.
    pub(crate) has_scope: bool,
    pub(crate) issued_token_type: Option<String>,
}

#[derive(Deserialize)]
struct WrittenScope {
    scope: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Failed {
    error: String,
    error_description: Option<String>,
}

impl<'a> TokenRequest<'a> {
    pub(crate) fn new(grant: &str, client: &'a ClientIdentity) -> Self {
        Self { client, form: vec![("grant_type", grant.to_owned())], asked: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.form.push((name, value.to_owned()));
        self
    }

    /// The scopes that were asked for; sent only where the grant wants them.
    pub(crate) fn asked(mut self, scopes: &[String]) -> Self {
        self.asked = scopes.to_vec();
        self
    }

    pub(crate) fn scope(self, scopes: &[String]) -> Self {
        let this = self.asked(scopes);
        match scopes {
            [] => this,
            scopes => this.with("scope", &scopes.join(" ")),
        }
    }

    pub(crate) async fn send(mut self, web: &Web, issuer: &IssuerMetadata) -> Result<Granted, OAuthError> {
        let endpoint = issuer.token_endpoint()?;
        let audience = if issuer.issuer.is_empty() { endpoint.as_str() } else { &issuer.issuer };
        let authorization = self.client.prove(&mut self.form, audience)?;
        let form: Vec<(&str, &str)> = self.form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let reply = web.post_form(&endpoint, &form, authorization).await?;
        if !reply.status.is_success() {
            let failed: Failed = reply.json().unwrap_or_default();
            if failed.error.is_empty() || reply.status.is_server_error() {
                return Err(OAuthError::Status { url: reply.url, status: reply.status.as_u16() });
            }
            return Err(failed.into_error());
        }
        // Some servers report errors with status 200.
        if reply.status == StatusCode::OK
            && let Ok(failed) = reply.json::<Failed>()
            && !failed.error.is_empty()
        {
            return Err(failed.into_error());
        }
        let has_scope = reply.json::<WrittenScope>().is_ok_and(|written| written.scope.is_some());
        let written: WrittenTokens = reply.json()?;
        if written.access_token.expose().is_empty() {
            return Err(reply.malformed("the access token is empty"));
        }
        if written.longest() > MAX_TOKEN {
            return Err(reply.malformed(format!("a token has more than {MAX_TOKEN} bytes")));
        }
        let kind = written.token_type.as_deref().unwrap_or("Bearer");
        if !kind.eq_ignore_ascii_case("bearer") && !kind.eq_ignore_ascii_case("n_a") {
            return Err(OAuthError::TokenType { kind: said(kind) });
        }
        let issued_token_type = written.issued_token_type.clone();
        Ok(Granted { tokens: written.tokens(&self.asked), has_scope, issued_token_type })
    }
}

impl Failed {
    fn into_error(self) -> OAuthError {
        let text = match &self.error_description {
            Some(description) => format!("{} ({})", self.error, description),
            None => self.error.clone(),
        };
        OAuthError::Token { code: said(&self.error), said: said(&text) }
    }
}
