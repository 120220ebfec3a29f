//! Renews tokens: one request, however many calls and processes wait for it.

use super::{Account, LoginEvent, RENEWAL_PAUSE};
use crate::{
    OAuthError, StoredLogin, Tokens,
    token::Freshness,
    token_request::{Granted, TokenRequest},
};
use http::{HeaderValue, StatusCode};
use tokio::time::Instant;
use tracing::Instrument;
use trunkline_transport::http::{CredentialsError, Refusal};

impl Account {
    /// Renews a token that is still valid, without keeping anybody waiting.
    pub(super) fn renew_in_background(&self) {
        if !self.0.begin_renewal() {
            return;
        }
        let account = self.clone();
        let renewing = async move {
            let stale = account.header_now();
            let _flight = account.0.flight.lock().await;
            if account.header_now() == stale
                && let Err(error) = account.renew_locked(stale.as_ref(), Freshness::Ending).await
            {
                tracing::warn!(%error, "the token cannot be renewed yet; it is still valid");
                *account.0.next_renewal.lock() = Some(Instant::now() + RENEWAL_PAUSE);
            }
            account.0.end_renewal();
        };
        tokio::spawn(renewing.in_current_span());
    }

    /// The header of a new token in place of one that has expired.
    pub(super) async fn renew_expired(&self) -> Result<Option<HeaderValue>, CredentialsError> {
        let stale = self.header_now();
        let _flight = self.0.flight.lock().await;
        if self.header_now() != stale && self.freshness() != Some(Freshness::Expired) {
            return Ok(self.header_now());
        }
        match self.renew_locked(stale.as_ref(), Freshness::Expired).await {
            // Without a refresh token the server decides: our clock may be wrong.
            Err(OAuthError::Expired { .. }) if self.header_now() == stale => Ok(stale),
            renewed => renewed.map_err(|error| self.error(&error)),
        }
    }

    /// The header of a new token in place of one that the server refused.
    pub(super) async fn renew_refused(&self) -> Result<Option<HeaderValue>, OAuthError> {
        let stale = self.header_now();
        self.renew_locked(stale.as_ref(), Freshness::Expired).await
    }

    /// Renews the token, unless another process has done so. The caller holds `flight`.
    async fn renew_locked(
        &self,
        stale: Option<&HeaderValue>,
        because: Freshness,
    ) -> Result<Option<HeaderValue>, OAuthError> {
        let options = self.options();
        let lock = options.store.lock(&self.0.key).await?;
        self.reload()?;
        let fresh = |account: &Self| account.freshness() == Some(Freshness::Valid);
        if self.header_now().as_ref() != stale && fresh(self) {
            return Ok(self.header_now());
        }
        let login = self.login().ok_or(OAuthError::NotSignedIn)?;
        let Some(tokens) = &login.tokens else { return Err(OAuthError::NotSignedIn) };
        if tokens.refresh.is_none() && options.means.is_unattended() {
            let refusal =
                Refusal { status: StatusCode::UNAUTHORIZED, challenges: Vec::new(), sent: None, attempt: 0 };
            return self.obtain(&refusal, Some(&lock)).await;
        }
        if tokens.refresh.is_none() && because == Freshness::Ending {
            // Nothing can be done before the token ends.
            *self.0.next_renewal.lock() = Some(Instant::now() + RENEWAL_PAUSE);
            return Ok(self.header_now());
        }
        let renewed = self.refresh(&login, tokens).await?;
        let login = StoredLogin { tokens: Some(renewed), ..(*login).clone() };
        self.adopt(Some(login.clone()));
        self.report(LoginEvent::Renewed { login: &login });
        if let Err(error) = self.store(&login) {
            tracing::warn!(%error, "the new token is used, but was not kept");
        }
        Ok(self.header_now())
    }

    async fn refresh(&self, login: &StoredLogin, tokens: &Tokens) -> Result<Tokens, OAuthError> {
        let gone = |said: &str| OAuthError::Expired { said: said.to_owned() };
        let refresh = tokens.refresh.as_ref().ok_or_else(|| gone("there is no refresh token"))?;
        let asked = TokenRequest::new("refresh_token", &login.client)
            .with("refresh_token", refresh.expose())
            .with("resource", &login.resource)
            .send(self.web().await?, &login.issuer)
            .await;
        match asked {
            Ok(Granted { tokens: renewed, has_scope, .. }) => Ok(renewed.renewed_from(tokens, has_scope)),
            Err(OAuthError::Token { code, said }) if code == "invalid_grant" => {
                self.report(LoginEvent::Expired { said: &said });
                self.forget_tokens(login)?;
                Err(OAuthError::Expired { said })
            }
            // The registration is gone, so the refresh token is worthless, too.
            Err(OAuthError::Token { code, said }) if code == "invalid_client" => {
                self.report(LoginEvent::Expired { said: &said });
                self.options().store.remove(&self.0.key)?;
                self.adopt(None);
                Err(OAuthError::Expired { said })
            }
            Err(error) => Err(error),
        }
    }

    fn forget_tokens(&self, login: &StoredLogin) -> Result<(), OAuthError> {
        let login = StoredLogin { tokens: None, ..login.clone() };
        self.adopt(Some(login.clone()));
        Ok(self.store(&login)?)
    }

    /// Revokes the refresh token and the access token, where the server can.
    pub(super) async fn revoke(&self, login: &StoredLogin) -> Result<(), OAuthError> {
        let Some(tokens) = &login.tokens else { return Ok(()) };
        let Some(endpoint) = login.issuer.revocation_endpoint() else { return Ok(()) };
        let endpoint = endpoint?;
        let named = [("refresh_token", tokens.refresh.as_ref()), ("access_token", Some(&tokens.access))];
        for (kind, token) in named.into_iter().filter_map(|(kind, token)| Some((kind, token?))) {
            let mut form = vec![("token", token.expose().to_owned()), ("token_type_hint", kind.to_owned())];
            let authorization = login.client.prove(&mut form, &login.issuer.issuer)?;
            let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let reply = self.web().await?.post_form(&endpoint, &form, authorization).await?;
            if !reply.status.is_success() {
                return Err(OAuthError::Status { url: reply.url, status: reply.status.as_u16() });
            }
        }
        Ok(())
    }
}
