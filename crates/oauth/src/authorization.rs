//! The authorization request and the answer that comes back through the browser.

use crate::{
    CallbackParams, ClientIdentity, Discovered, OAuthError, Secret,
    error::said,
    random,
    token_request::{Granted, TokenRequest},
    web::Web,
};
use url::Url;

/// A login that waits for its answer. It can be answered once.
#[derive(Debug)]
pub(crate) struct PendingLogin {
    /// The page that the user has to visit.
    pub(crate) url: Url,
    state: Secret,
    verifier: Secret,
    redirect_uri: String,
    scopes: Vec<String>,
}

impl PendingLogin {
    /// Builds the request: PKCE with S256, `resource`, and a fresh `state`.
    pub(crate) fn new(
        discovered: &Discovered,
        client: &ClientIdentity,
        redirect_uri: &str,
        scopes: &[String],
    ) -> Result<Self, OAuthError> {
        discovered.issuer.require_pkce()?;
        let mut url = discovered.issuer.authorization_endpoint()?;
        let (state, verifier) = (random::token()?, random::token()?);
        let challenge = random::challenge(&verifier);
        {
            let mut query = url.query_pairs_mut();
            query.append_pair("response_type", "code");
            query.append_pair("client_id", &client.id);
            query.append_pair("redirect_uri", redirect_uri);
            query.append_pair("code_challenge", &challenge);
            query.append_pair("code_challenge_method", "S256");
            query.append_pair("state", &state);
            query.append_pair("resource", &discovered.resource);
            if !scopes.is_empty() {
                query.append_pair("scope", &scopes.join(" "));
            }
            // OpenID Connect servers give a refresh token only with consent.
            if scopes.iter().any(|scope| scope == crate::scopes::OFFLINE_ACCESS) {
                query.append_pair("prompt", "consent");
            }
        }
        let (state, verifier) = (Secret::new(state), Secret::new(verifier));
        let redirect_uri = redirect_uri.to_owned();
        Ok(Self { url, state, verifier, redirect_uri, scopes: scopes.to_vec() })
    }

    pub(crate) fn state(&self) -> &Secret {
        &self.state
    }

    /// Checks the answer and exchanges its code for tokens.
    pub(crate) async fn finish(
        self,
        answer: CallbackParams,
        web: &Web,
        discovered: &Discovered,
        client: &ClientIdentity,
    ) -> Result<Granted, OAuthError> {
        let code = self.code(answer, discovered)?;
        TokenRequest::new("authorization_code", client)
            .with("code", code.expose())
            .with("redirect_uri", &self.redirect_uri)
            .with("code_verifier", self.verifier.expose())
            .with("resource", &discovered.resource)
            .asked(&self.scopes)
            .send(web, &discovered.issuer)
            .await
    }

    /// The code of an answer to this request from this issuer. Errors of others are not repeated.
    fn code(&self, answer: CallbackParams, discovered: &Discovered) -> Result<Secret, OAuthError> {
        if answer.state.as_ref() != Some(&self.state) {
            return Err(OAuthError::WrongState);
        }
        let expected = &discovered.issuer.issuer;
        let promised = discovered.issuer.authorization_response_iss_parameter_supported;
        match &answer.iss {
            Some(iss) if iss != expected => {
                let found = Some(said(iss));
                return Err(OAuthError::WrongIssuer { expected: said(expected), found });
            }
            None if promised => {
                return Err(OAuthError::WrongIssuer { expected: said(expected), found: None });
            }
            Some(_) | None => {}
        }
        if let Some(error) = answer.error {
            let text = answer.error_description.unwrap_or(error);
            return Err(OAuthError::Denied { said: said(&text) });
        }
        answer.code.filter(|code| !code.expose().is_empty()).ok_or(OAuthError::NoCode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IssuerMetadata;

    fn discovered(promises_iss: bool) -> Discovered {
        let issuer = IssuerMetadata {
            issuer: "https://as".to_owned(),
            authorization_endpoint: Some("https://as/authorize?tenant=1".to_owned()),
            code_challenge_methods_supported: Some(vec!["S256".to_owned()]),
            authorization_response_iss_parameter_supported: promises_iss,
            ..IssuerMetadata::default()
        };
        Discovered { resource: "https://h/mcp".to_owned(), issuer, scopes: Vec::new(), metadata: None }
    }

    fn pending(discovered: &Discovered) -> PendingLogin {
        let client = ClientIdentity::document("https://me/client".to_owned());
        PendingLogin::new(discovered, &client, "http://127.0.0.1:1/callback", &[]).unwrap()
    }

    fn answer(login: &PendingLogin, iss: Option<&str>) -> CallbackParams {
        CallbackParams {
            code: Some(Secret::new("c")),
            state: Some(login.state.clone()),
            iss: iss.map(str::to_owned),
            ..CallbackParams::default()
        }
    }

    #[test]
    fn o04_an_answer_of_another_issuer_is_refused_and_its_text_hidden() {
        for (promised, iss, good) in [
            (true, Some("https://as"), true),
            (false, None, true),
            (false, Some("https://as"), true),
            (true, None, false),
            (true, Some("https://as/"), false),
            (false, Some("https://AS"), false),
            (false, Some("https://evil"), false),
        ] {
            let discovered = discovered(promised);
            let login = pending(&discovered);
            let mut answer = answer(&login, iss);
            assert_eq!(login.code(answer.clone(), &discovered).is_ok(), good, "{promised} {iss:?}");
            answer.error = Some("access_denied".to_owned());
            answer.error_description = Some("visit https://evil/".to_owned());
            let error = login.code(answer, &discovered).unwrap_err().to_string();
            assert_eq!(error.contains("evil/"), good, "{error}");
        }
    }

    #[test]
    fn o06_an_answer_with_a_wrong_or_absent_state_is_refused() {
        let discovered = discovered(false);
        let login = pending(&discovered);
        for state in [None, Some(Secret::new("")), Some(Secret::new("x")), Some(pending(&discovered).state)] {
            let answer = CallbackParams { state, ..answer(&login, None) };
            assert!(matches!(login.code(answer, &discovered), Err(OAuthError::WrongState)));
        }
    }

    #[test]
    fn o05_the_request_has_pkce_and_the_resource() {
        let login = pending(&discovered(false));
        let query: std::collections::HashMap<_, _> = login.url.query_pairs().collect();
        assert_eq!(query["code_challenge_method"], "S256");
        assert_eq!(query["resource"], "https://h/mcp");
        assert_eq!(query["tenant"], "1");
        assert!(!format!("{login:?}").contains(login.verifier.expose()));
    }
}
