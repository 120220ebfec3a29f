//! Connects to a server with the identity of the caller: its headers, login or exchanged token.

use crate::wire::{
    account,
    observed::Observation,
    sign_in::{LoginConnect, LoginDesk},
};
use futures_util::future::{BoxFuture, FutureExt};
use http::{HeaderName, HeaderValue};
use std::{future, sync::Arc};
use trunkline_client::{ConnectOptions, Connector, Target};
use trunkline_config::{GrantSetting, OAuth, OAuthClient, Remote};
use trunkline_gateway::upstream::{ConnectAs, Identity};
use trunkline_oauth::{Account, AccountOptions, Means, MemoryStore, Secret, TokenExchange};
use trunkline_protocol::{Caller, Connect, ConnectError, Fault, FaultKind, Profile, ServerName, Session};

/// A server that each caller reaches with an identity of its own.
pub(super) struct PersonalServer {
    pub(super) name: ServerName,
    pub(super) target: Target,
    pub(super) options: ConnectOptions,
    /// Names of headers: the caller's, and the server's.
    pub(super) headers: Vec<(String, HeaderName)>,
    pub(super) tokens: CallerTokens,
    pub(super) observation: Observation,
}

/// The origin of a caller's token.
pub(super) enum CallerTokens {
    /// All callers have the same token, or none.
    Common,
    /// Each caller signs in.
    Login(Box<AccountOptions>, LoginDesk),
    /// The caller's own token is exchanged.
    Exchange { account: Box<AccountOptions>, audience: Option<String>, kind: Option<String> },
}

/// True if callers of this server differ.
pub(super) fn is_personal(remote: &Remote) -> bool {
    !remote.caller_headers.is_empty() || client(remote).is_some()
}

/// The settings of a client whose tokens belong to callers.
fn client(remote: &Remote) -> Option<&OAuthClient> {
    match &remote.oauth {
        OAuth::Auto(client)
            if matches!(client.grant, GrantSetting::CallerLogin | GrantSetting::TokenExchange) =>
        {
            Some(client)
        }
        OAuth::Auto(_) | OAuth::Off => None,
    }
}

/// The headers of callers that the server gets.
pub(super) fn headers(remote: &Remote) -> Result<Vec<(String, HeaderName)>, String> {
    let named = |(theirs, sent): (&String, &String)| match sent.parse() {
        Ok(sent) => Ok((theirs.clone(), sent)),
        Err(_) => Err(format!("`{sent}` is not the name of a header")),
    };
    remote.caller_headers.iter().map(named).collect()
}

/// The way to the tokens of callers. If all have the same, `options` get it.
pub(super) fn tokens(
    remote: &Remote,
    account: Option<AccountOptions>,
    desk: &LoginDesk,
    options: &mut ConnectOptions,
) -> Result<CallerTokens, String> {
    match (client(remote), account) {
        (None, account) => {
            if let Some(account) = account {
                account::give(options, account);
            }
            Ok(CallerTokens::Common)
        }
        (Some(_), None) => {
            let needs = "needs a home directory, an https address, and no other `Authorization` header";
            Err(format!("`oauth.grant` {needs}"))
        }
        (Some(client), Some(account)) if client.grant == GrantSetting::CallerLogin => {
            Ok(CallerTokens::Login(Box::new(account), desk.clone()))
        }
        (Some(client), Some(mut account)) => {
            // With a token endpoint nothing has to be discovered; an exchange has no page.
            if let Some(endpoint) = account.discovery.token_endpoint.clone() {
                account.discovery.authorization_endpoint.get_or_insert(endpoint);
                let server = account.server.to_string();
                account.discovery.resource.get_or_insert(server);
            }
            let (audience, kind) = (client.audience.clone(), client.subject_token_type.clone());
            Ok(CallerTokens::Exchange { account: Box::new(account), audience, kind })
        }
    }
}

impl PersonalServer {
    fn connector(&self, options: ConnectOptions) -> Arc<dyn Connect> {
        self.observation.observe(Arc::new(Connector::new(self.target.clone(), options)))
    }

    /// Connects with the tokens of this account.
    fn with_account(
        &self,
        mut options: ConnectOptions,
        mut account: AccountOptions,
    ) -> (Account, Arc<dyn Connect>) {
        account.http = options.http.clone();
        let account = Account::new(account);
        options.http.credentials = Some(Arc::new(account.clone()));
        (account, self.connector(options))
    }
}

impl ConnectAs for PersonalServer {
    fn identity(&self, caller: &Caller) -> Identity {
        // The local user is no client, whatever id a client has.
        let kind = if Caller::is_local(caller) { "local" } else { "caller" };
        let mut parts = vec![kind, caller.id.as_str()];
        for (theirs, _) in &self.headers {
            // An absent header and an empty one are different requests.
            let value = caller.header(theirs);
            parts.extend([if value.is_some() { "given" } else { "absent" }, value.unwrap_or_default()]);
        }
        // Tokens of one caller may differ in what they allow, so what one was exchanged for is not
        // used with another.
        if let (CallerTokens::Exchange { .. }, Some(token)) = (&self.tokens, caller.token()) {
            parts.push(token);
        }
        Identity::of(parts)
    }

    fn connect_as(&self, caller: &Caller) -> Arc<dyn Connect> {
        let mut options = self.options.clone();
        for (theirs, sent) in &self.headers {
            let value = caller.header(theirs).and_then(|value| HeaderValue::from_str(value).ok());
            if let Some(mut value) = value {
                value.set_sensitive(true);
                options.http.extra_headers.insert(sent.clone(), value);
            }
        }
        match &self.tokens {
            CallerTokens::Common => self.connector(options),
            CallerTokens::Login(account, desk) => {
                let mut account = AccountOptions::clone(account);
                // The local user has the login of `trunkline auth login`.
                account.principal = (!Caller::is_local(caller)).then(|| caller.id.clone());
                let (account, inner) = self.with_account(options, account);
                Arc::new(LoginConnect::new(desk.clone(), caller, &self.name, account, inner))
            }
            CallerTokens::Exchange { account, audience, kind } => {
                let Some(token) = caller.token() else { return Arc::new(NoToken) };
                let mut account = AccountOptions::clone(account);
                account.principal = Some(caller.id.clone());
                account.store = Arc::new(MemoryStore::default());
                account.means = Means::Exchange(TokenExchange {
                    subject: Secret::new(token.to_string()),
                    subject_type: kind.clone(),
                    audience: audience.clone(),
                });
                self.with_account(options, account).1
            }
        }
    }
}

/// A caller without a token, at a server that needs one in exchange.
struct NoToken;

impl Connect for NoToken {
    fn connect(&self, _: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, ConnectError>> {
        let text = "the caller has no token that could be exchanged; keys and certificates cannot be";
        let fault = Fault::new(FaultKind::Forbidden, text);
        future::ready(Err(ConnectError { fault, permanent: true })).boxed()
    }
}
