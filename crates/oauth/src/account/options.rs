//! The settings of an account.

use crate::{
    AccountKey, Discovery, Enterprise, Interaction, LoginObserver, Secret, SigningKey, TokenExchange,
    TokenStore,
};
use std::{fmt, sync::Arc};
use trunkline_transport::http::HttpOptions;
use url::Url;

/// The settings of an [`Account`](crate::Account).
#[derive(Clone)]
pub struct AccountOptions {
    pub server: Url,
    /// The user, if a gateway keeps logins of several.
    pub principal: Option<String>,
    /// Certificates and timeouts; headers are not used.
    pub http: HttpOptions,
    /// True if tokens may go over plain http to another machine.
    pub insecure: bool,
    pub discovery: Discovery,
    /// A client that was registered beforehand.
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
    /// The key of `private_key_jwt`, instead of a secret.
    pub signing_key: Option<SigningKey>,
    /// URL of our client-id metadata document.
    pub client_document: Option<String>,
    /// The redirect URI that was registered with the client.
    pub redirect_uri: Option<String>,
    /// The loopback port to receive the answer of a login at.
    pub callback_port: Option<u16>,
    /// The name that users see when they consent.
    pub client_name: String,
    pub store: Arc<dyn TokenStore>,
    pub means: Means,
    /// The command that signs in, told if a login is needed.
    pub login_command: String,
    /// Told every token, so that no log shows it.
    pub conceal: Option<Conceal>,
    pub observe: Option<LoginObserver>,
}

pub(crate) type Conceal = Arc<dyn Fn(&str) + Send + Sync>;

/// The way to a token when the server asks for one.
#[derive(Debug, Clone)]
pub enum Means {
    /// Only a login that is stored; otherwise the refusal is passed on.
    Stored,
    /// A user signs in.
    Interactive(Arc<dyn Interaction>),
    /// The client's own credentials.
    ClientCredentials,
    /// In exchange for the caller's token.
    Exchange(TokenExchange),
    /// In exchange for an assertion of the identity provider.
    Enterprise(Box<Enterprise>),
}

impl AccountOptions {
    /// Settings without any configured value.
    pub fn new(server: Url, store: Arc<dyn TokenStore>) -> Self {
        Self {
            server,
            principal: None,
            http: HttpOptions::default(),
            insecure: false,
            discovery: Discovery::default(),
            client_id: None,
            client_secret: None,
            signing_key: None,
            client_document: None,
            redirect_uri: None,
            callback_port: None,
            client_name: "Trunkline".to_owned(),
            store,
            means: Means::Stored,
            login_command: "trunkline auth login".to_owned(),
            conceal: None,
            observe: None,
        }
    }

    pub(crate) fn key(&self) -> AccountKey {
        AccountKey { server: crate::web::shown(&self.server), principal: self.principal.clone() }
    }
}

impl Means {
    /// True if a token can be obtained at any time.
    pub(crate) fn is_active(&self) -> bool {
        !matches!(self, Self::Stored)
    }

    /// True if a token can be obtained without a user.
    pub(crate) fn is_unattended(&self) -> bool {
        matches!(self, Self::ClientCredentials | Self::Exchange(_) | Self::Enterprise(_))
    }
}

impl fmt::Debug for AccountOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountOptions")
            .field("server", &crate::web::shown(&self.server))
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}
