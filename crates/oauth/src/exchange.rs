//! Tokens in exchange for others: RFC 8693, and the ID-JAG of enterprise-managed authorization.

use crate::{
    ClientIdentity, Discovered, IssuerMetadata, OAuthError, Secret,
    token_request::{Granted, TokenRequest},
    web::Web,
};

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// Exchanges a caller's token for one of the upstream server (RFC 8693). The caller's own token
/// goes to the exchange endpoint only, never to the upstream server.
#[derive(Debug, Clone)]
pub struct TokenExchange {
    pub subject: Secret,
    /// The token type URN of `subject`; an access token if `None`.
    pub subject_type: Option<String>,
    pub audience: Option<String>,
}

/// Enterprise-managed authorization: the identity provider vouches for the user with an ID-JAG,
/// which the server's authorization server takes in exchange for an access token.
#[derive(Debug, Clone)]
pub struct Enterprise {
    /// The user's ID token.
    pub id_token: Secret,
    /// The identity provider, with its token endpoint.
    pub provider: IssuerMetadata,
    /// Our client at the identity provider.
    pub provider_client: ClientIdentity,
}

impl TokenExchange {
    pub(crate) async fn run(
        &self,
        web: &Web,
        discovered: &Discovered,
        client: &ClientIdentity,
        scopes: &[String],
    ) -> Result<Granted, OAuthError> {
        let mut request = TokenRequest::new(EXCHANGE, client)
            .with("subject_token", self.subject.expose())
            .with("subject_token_type", self.subject_type.as_deref().unwrap_or(ACCESS_TOKEN))
            .with("requested_token_type", ACCESS_TOKEN)
            .with("resource", &discovered.resource);
        if let Some(audience) = &self.audience {
            request = request.with("audience", audience);
        }
        request.scope(scopes).send(web, &discovered.issuer).await
    }
}

impl Enterprise {
    pub(crate) async fn run(
        &self,
        web: &Web,
        discovered: &Discovered,
        client: &ClientIdentity,
        scopes: &[String],
    ) -> Result<Granted, OAuthError> {
        let jag = TokenRequest::new(EXCHANGE, &self.provider_client)
            .with("requested_token_type", ID_JAG)
            .with("audience", &discovered.issuer.issuer)
            .with("resource", &discovered.resource)
            .with("subject_token", self.id_token.expose())
            .with("subject_token_type", ID_TOKEN)
            .scope(scopes)
            .send(web, &self.provider)
            .await?;
        if jag.issued_token_type.as_deref() != Some(ID_JAG) {
            let reason = "the identity provider issued no ID-JAG".to_owned();
            return Err(OAuthError::Malformed { url: self.provider.issuer.clone(), reason });
        }
        TokenRequest::new(JWT_BEARER, client)
            .with("assertion", jag.tokens.access.expose())
            .with("resource", &discovered.resource)
            .scope(scopes)
            .send(web, &discovered.issuer)
            .await
    }
}
