//! A login: the steps from an authorization server to tokens.

use crate::{
    AccountOptions, ClientIdentity, ClientSource, DeviceCode, DevicePrompt, Discovered, Interaction, Means,
    OAuthError, StoredLogin,
    authorization::PendingLogin,
    registration,
    token_request::{Granted, TokenRequest},
    web::Web,
};
use std::sync::Arc;

/// The way in which a user signs in.
#[derive(Clone)]
pub enum LoginOptions<'a> {
    /// The user signs in on a page, which redirects to us.
    Page(Arc<dyn Interaction>),
    /// By a code that is entered on another device.
    Device(DevicePrompt<'a>),
}

/// The parts of a login under way.
pub(crate) struct Login<'a> {
    pub(crate) options: &'a AccountOptions,
    pub(crate) web: &'a Web,
    pub(crate) discovered: &'a Discovered,
    /// The last login, whose registered client is used again at the same issuer.
    pub(crate) before: Option<&'a StoredLogin>,
    pub(crate) scopes: &'a [String],
}

impl Login<'_> {
    /// Signs a user in.
    pub(crate) async fn interactive(
        &self,
        way: LoginOptions<'_>,
    ) -> Result<(ClientIdentity, Granted), OAuthError> {
        match way {
            LoginOptions::Page(interaction) => self.by_page(&*interaction).await,
            LoginOptions::Device(prompt) => self.by_device(prompt).await,
        }
    }

    /// Obtains a token without a user; `None` if these means need one.
    pub(crate) async fn unattended(&self) -> Result<Option<(ClientIdentity, Granted)>, OAuthError> {
        let (web, discovered, scopes) = (self.web, self.discovered, self.scopes);
        if matches!(self.options.means, Means::Stored | Means::Interactive(_)) {
            return Ok(None);
        }
        let no_client = || OAuthError::NoClient { issuer: crate::error::said(&discovered.issuer.issuer) };
        let client = self.configured().ok_or_else(no_client)?;
        let granted = match &self.options.means {
            Means::Stored | Means::Interactive(_) => return Ok(None),
            Means::ClientCredentials => {
                TokenRequest::new("client_credentials", &client)
                    .with("resource", &discovered.resource)
                    .scope(scopes)
                    .send(web, &discovered.issuer)
                    .await?
            }
            Means::Exchange(exchange) => exchange.run(web, discovered, &client, scopes).await?,
            Means::Enterprise(enterprise) => enterprise.run(web, discovered, &client, scopes).await?,
        };
        Ok(Some((client, granted)))
    }

    async fn by_page(&self, interaction: &dyn Interaction) -> Result<(ClientIdentity, Granted), OAuthError> {
        self.discovered.issuer.require_pkce()?;
        let redirect_uri = interaction.redirect_uri();
        let client = self.client(&redirect_uri).await?;
        let pending = PendingLogin::new(self.discovered, &client, &redirect_uri, self.scopes)?;
        self.web.check(&pending.url)?;
        let answer = interaction.visit(pending.url.clone(), pending.state().clone()).await?;
        let granted = pending.finish(answer, self.web, self.discovered, &client).await?;
        Ok((client, granted))
    }

    async fn by_device(&self, prompt: DevicePrompt<'_>) -> Result<(ClientIdentity, Granted), OAuthError> {
        self.discovered.issuer.device_endpoint()?;
        let client = self.client("http://127.0.0.1/callback").await?;
        let code = DeviceCode::request(self.web, self.discovered, &client, self.scopes).await?;
        prompt(&code);
        let granted = code.wait(self.web, self.discovered, &client, self.scopes).await?;
        Ok((client, granted))
    }

    /// Our client at this issuer: configured, else by metadata document, else registered.
    async fn client(&self, redirect_uri: &str) -> Result<ClientIdentity, OAuthError> {
        let issuer = &self.discovered.issuer;
        if let Some(client) = self.configured() {
            return Ok(client);
        }
        if let Some(url) = &self.options.client_document
            && issuer.client_id_metadata_document_supported
        {
            return Ok(ClientIdentity::document(url.clone()));
        }
        if let Some(before) = self.before
            && before.issuer.issuer == issuer.issuer
            && before.resource == self.discovered.resource
            && before.client.source == ClientSource::Registered
            && before.client.redirect_uri.as_deref() == Some(redirect_uri)
            && before.client.may_ask_for(self.scopes)
        {
            return Ok(before.client.clone());
        }
        registration::register(self.web, issuer, &self.options.client_name, redirect_uri, self.scopes).await
    }

    fn configured(&self) -> Option<ClientIdentity> {
        let options = self.options;
        let id = options.client_id.clone()?;
        Some(match &options.signing_key {
            Some(key) => ClientIdentity::with_key(id, key.clone()),
            None => ClientIdentity::configured(id, options.client_secret.clone(), &self.discovered.issuer),
        })
    }
}

impl std::fmt::Debug for LoginOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Page(_) => "Page",
            Self::Device(_) => "Device",
        })
    }
}
