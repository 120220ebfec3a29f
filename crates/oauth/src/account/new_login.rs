//! A login in two steps: a gateway keeps the tokens only when the caller has proved to be the
//! person who signed in.

use super::Account;
use crate::{
    AccountKey, ClientIdentity, ClientSource, Discovered, LoginOptions, OAuthError, StoredLogin,
    login::Login, scopes::union, token_request::Granted,
};

/// The principal under which the client is kept that all users of a gateway share. No caller has
/// an empty id.
const EVERYBODY: &str = "";

/// Tokens that were issued and are not used yet.
pub struct NewLogin {
    discovered: Discovered,
    client: ClientIdentity,
    granted: Granted,
}

impl Account {
    /// Signs in without keeping the login. If the server asked for more scopes than the login has,
    /// the new one has both.
    pub async fn obtain_login(
        &self,
        way: LoginOptions<'_>,
        challenges: &[String],
        scopes: &[String],
    ) -> Result<NewLogin, OAuthError> {
        self.reload()?;
        let discovered = self.discover(challenges).await?;
        let scopes = union(&discovered.scopes, scopes.iter().map(String::as_str));
        let scopes = union(&scopes, self.wider_scopes().iter().map(String::as_str));
        let before = match self.login() {
            Some(own) => Some(own),
            None => self.registration()?.map(Into::into),
        };
        let login = Login {
            options: self.options(),
            web: self.web().await?,
            discovered: &discovered,
            before: before.as_deref(),
            scopes: &scopes,
        };
        let (client, granted) = login.interactive(way).await?;
        Ok(NewLogin { discovered, client, granted })
    }

    /// The scopes of the login and those that the server asked for; none if it did not.
    fn wider_scopes(&self) -> Vec<String> {
        let missing = self.missing_scopes();
        let held = self.login().filter(|_| !missing.is_empty());
        let held = held.and_then(|login| login.tokens.as_ref().map(|tokens| tokens.scopes.clone()));
        union(&held.unwrap_or_default(), missing.iter().map(String::as_str))
    }

    /// Keeps a login; its tokens are used from now on. A renewal of the old ones that another
    /// process has begun ends before that, so that it cannot replace the new ones.
    pub async fn keep_login(&self, new: NewLogin) -> Result<StoredLogin, OAuthError> {
        let _flight = self.0.flight.lock().await;
        let _lock = self.options().store.lock(&self.0.key).await?;
        let login = self.keep(&new.discovered, new.client, new.granted)?;
        if self.options().principal.is_some() && login.client.source == ClientSource::Registered {
            let shared = StoredLogin { principal: Some(EVERYBODY.to_owned()), tokens: None, ..login.clone() };
            self.options().store.save(&self.registration_key(), &shared)?;
        }
        Ok(login)
    }

    /// Revokes the tokens of a login that is not kept.
    pub async fn discard_login(&self, new: NewLogin) -> Result<(), OAuthError> {
        let login = StoredLogin {
            server: self.0.key.server.clone(),
            principal: self.0.key.principal.clone(),
            resource: new.discovered.resource,
            issuer: new.discovered.issuer,
            client: new.client,
            tokens: Some(new.granted.tokens),
        };
        self.revoke(&login).await
    }

    /// The client that another user of this gateway registered for the same server.
    fn registration(&self) -> Result<Option<StoredLogin>, OAuthError> {
        if self.options().principal.is_none() {
            return Ok(None);
        }
        Ok(self.options().store.load(&self.registration_key())?)
    }

    fn registration_key(&self) -> AccountKey {
        AccountKey { server: self.0.key.server.clone(), principal: Some(EVERYBODY.to_owned()) }
    }
}

impl std::fmt::Debug for NewLogin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewLogin").field("issuer", &self.discovered.issuer.issuer).finish_non_exhaustive()
    }
}
