//! Builds the OAuth account of a server.

use crate::{
    environment::{self, Environment},
    keychain,
};
use std::{path::PathBuf, sync::Arc};
use trunkline_client::{ConnectOptions, Exposure, Target, is_this_machine};
use trunkline_config::{GrantSetting, OAuth, OAuthClient, Remote, Secret as ConfiguredSecret, Server};
use trunkline_oauth::{Account, AccountOptions, Discovery, FileStore, Means, Secret, SigningKey};
use url::Url;

/// The logins of the user; `None` if the environment names no place for them.
pub(crate) fn logins(environment: &Environment) -> Option<FileStore> {
    logins_directory(environment).map(|folder| FileStore::new(folder, keychain::sealer(environment)))
}

/// The folder of logins in the user's data directory.
pub(crate) fn logins_directory(environment: &Environment) -> Option<PathBuf> {
    Some(environment::data_directory(environment)?.join("trunkline/logins"))
}

/// The account of a configured server. `None` if there is nothing to sign in for: OAuth is off, a
/// header has the credential, or the connection is not private.
pub(crate) fn configured(
    remote: &Remote,
    server: &Server,
    environment: &Environment,
) -> Result<Option<AccountOptions>, String> {
    let OAuth::Auto(client) = &remote.oauth else { return Ok(None) };
    let mut sent = remote.headers.keys().chain(remote.caller_headers.values());
    if sent.any(|name| name.eq_ignore_ascii_case("authorization")) {
        return Ok(None);
    }
    let url = Url::parse(remote.url.expose()).map_err(|error| error.to_string())?;
    let Some(mut options) = of_url(&url, remote.insecure, environment) else { return Ok(None) };
    options.login_command = format!("trunkline auth login {}", server.name);
    apply(&mut options, client, environment)?;
    Ok(Some(options))
}

/// The account of a server that is known only by its address.
pub(crate) fn of_url(url: &Url, insecure: bool, environment: &Environment) -> Option<AccountOptions> {
    if url.scheme() != "https" && !insecure && !is_this_machine(url) {
        return None;
    }
    let mut options = AccountOptions::new(url.clone(), Arc::new(logins(environment)?));
    let concealed = environment.concealed.clone();
    options.conceal = Some(Arc::new(move |token| concealed.add_token(token)));
    options.insecure = insecure;
    let mut shown = url.clone();
    shown.set_query(None);
    options.login_command = format!("trunkline auth login {shown}");
    Some(options)
}

/// Gives a connection to a server that is not configured the login that is stored for its address.
pub(crate) fn attach(options: &mut ConnectOptions, target: &Target, environment: &Environment) {
    let Target::Url(url) = target else { return };
    let insecure = options.exposure == Exposure::Accept;
    if let Some(account) = of_url(url, insecure, environment) {
        give(options, account);
    }
}

/// Gives a connection a login, unless a header has a credential already. The login uses the
/// connection's certificates.
pub(crate) fn give(options: &mut ConnectOptions, mut account: AccountOptions) {
    if !options.http.extra_headers.contains_key(http::header::AUTHORIZATION) {
        account.http = options.http.clone();
        options.http.credentials = Some(Arc::new(Account::new(account)));
    }
}

fn apply(
    options: &mut AccountOptions,
    client: &OAuthClient,
    environment: &Environment,
) -> Result<(), String> {
    let url = |name: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => Url::parse(text).map(Some).map_err(|error| format!("`oauth.{name}`: {error}")),
    };
    options.discovery = Discovery {
        metadata_url: url("metadataUrl", &client.metadata_url)?,
        authorization_endpoint: url("authEndpoint", &client.auth_endpoint)?,
        token_endpoint: url("tokenEndpoint", &client.token_endpoint)?,
        resource: client.resource.clone(),
        scopes: client.scopes.clone(),
    };
    for secret in client.client_secret.iter().chain(&client.private_key) {
        environment.concealed.add(secret.expose());
    }
    options.client_id.clone_from(&client.client_id);
    options.client_secret = client.client_secret.as_ref().map(|secret| Secret::new(secret.expose()));
    options.client_document.clone_from(&client.client_metadata_url);
    options.redirect_uri.clone_from(&client.redirect_uri);
    options.callback_port = client.callback_port;
    options.signing_key = match &client.private_key {
        Some(pem) => Some(signing_key(pem, client.key_id.clone())?),
        None => None,
    };
    options.means = match client.grant {
        // The gateway replaces the means of callers' own tokens for each caller.
        GrantSetting::Login | GrantSetting::CallerLogin | GrantSetting::TokenExchange => Means::Stored,
        GrantSetting::ClientCredentials => Means::ClientCredentials,
    };
    Ok(())
}

fn signing_key(pem: &ConfiguredSecret, id: Option<String>) -> Result<SigningKey, String> {
    SigningKey::from_pem(pem.expose().as_bytes(), id).map_err(|error| format!("`oauth.privateKey`: {error}"))
}
