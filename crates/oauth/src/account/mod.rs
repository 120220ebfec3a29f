//! One user's access to one server: keeps the token valid and answers refusals.

mod event;
mod new_login;
mod options;
mod renewal;

use crate::{
    LockGuard, LoginOptions, OAuthError, Reach, StoreError, StoredLogin, Web,
    discovery::{Discovered, challenged},
    login::Login,
    scopes::{bounded, covers, union},
    store::{AccountKey, Stamp},
    token::Freshness,
    token_request::Granted,
};
use http::{HeaderValue, StatusCode};
use parking_lot::Mutex;
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{sync::OnceCell, time::Instant};
use trunkline_transport::http::{Challenge, Credentials, CredentialsError, Refusal, Supply, Supplying};

pub use event::{LoginEvent, LoginObserver};
pub use new_login::NewLogin;
pub use options::{AccountOptions, Means};

/// Pause after a failed renewal of a token that is still valid.
const RENEWAL_PAUSE: Duration = Duration::from_secs(10);

/// Advice if the client itself is refused, which no login can change.
const CHECK_CLIENT: &str =
    "check the client's credentials and scopes: `oauth` of the server, and at the authorization server";

/// One user's access to one server; clones share it.
#[derive(Clone)]
pub struct Account(Arc<Inner>);

struct Inner {
    options: AccountOptions,
    key: AccountKey,
    web: OnceCell<Web>,
    has_oauth: OnceCell<bool>,
    held: Mutex<Held>,
    /// The stored login that `held` was read from or written to.
    stamp: Mutex<Option<Stamp>>,
    /// Held by the one that renews or obtains a token; all others wait for its result.
    flight: tokio::sync::Mutex<()>,
    renewing: AtomicBool,
    /// No renewal of a valid token is tried before this moment.
    next_renewal: Mutex<Option<Instant>>,
    /// The scopes that the server asked for last, until there is another login.
    wanted_scopes: Mutex<Vec<String>>,
}

/// The login in memory.
#[derive(Clone, Default)]
enum Held {
    #[default]
    NotLoaded,
    None,
    Login {
        login: Arc<StoredLogin>,
        header: Option<HeaderValue>,
    },
}

impl Account {
    pub fn new(options: AccountOptions) -> Self {
        let key = options.key();
        Self(Arc::new(Inner {
            options,
            key,
            web: OnceCell::new(),
            has_oauth: OnceCell::new(),
            held: Mutex::default(),
            stamp: Mutex::default(),
            flight: tokio::sync::Mutex::new(()),
            renewing: AtomicBool::new(false),
            next_renewal: Mutex::new(None),
            wanted_scopes: Mutex::default(),
        }))
    }

    pub fn options(&self) -> &AccountOptions {
        &self.0.options
    }

    /// The place where the login is kept, for people.
    pub fn place(&self) -> String {
        self.0.options.store.place(&self.0.key)
    }

    /// The stored login, read anew.
    pub fn stored(&self) -> Result<Option<StoredLogin>, OAuthError> {
        Ok(self.0.options.store.load(&self.0.key)?)
    }

    /// True if there is a token to send, valid or not. Another process may have signed in or out.
    pub fn is_signed_in(&self) -> bool {
        self.reload().is_ok() && self.header_now().is_some()
    }

    /// The scopes that the server asked for in a refusal, and that the login lacks. Only a new
    /// login helps; it asks for them together with those that the login has.
    pub fn missing_scopes(&self) -> Vec<String> {
        let login = self.login();
        let held = login.as_ref().and_then(|login| login.tokens.as_ref()).map(|tokens| &tokens.scopes);
        let is_missing = |scope: &&String| held.is_none_or(|held| !held.contains(scope));
        self.0.wanted_scopes.lock().iter().filter(is_missing).cloned().collect()
    }

    /// Finds the server's authorization server.
    pub async fn discover(&self, challenges: &[String]) -> Result<Discovered, OAuthError> {
        let known = self.login().map(|login| login.issuer.issuer.clone());
        let options = self.options();
        options.discovery.run(self.web().await?, &options.server, challenges, known.as_deref()).await
    }

    /// Signs in and keeps the login. `scopes` are asked for in addition to those that the server
    /// names.
    pub async fn login_with(
        &self,
        way: LoginOptions<'_>,
        challenges: &[String],
        scopes: &[String],
    ) -> Result<StoredLogin, OAuthError> {
        let new = self.obtain_login(way, challenges, scopes).await?;
        self.keep_login(new).await
    }

    /// A token for a request: the stored one, renewed if it has expired, or a new one where that
    /// needs no user.
    pub async fn obtain_token(&self, challenges: &[String]) -> Result<Option<HeaderValue>, OAuthError> {
        let _flight = self.0.flight.lock().await;
        self.reload()?;
        match self.freshness() {
            Some(Freshness::Expired) => self.renew_refused().await,
            Some(Freshness::Valid | Freshness::Ending) => Ok(self.header_now()),
            None => {
                let status = StatusCode::UNAUTHORIZED;
                let refusal = Refusal { status, challenges: challenges.to_vec(), sent: None, attempt: 0 };
                self.obtain(&refusal, None).await
            }
        }
    }

    /// Renews the token, even if it is still valid.
    pub async fn renew(&self) -> Result<Option<HeaderValue>, OAuthError> {
        let _flight = self.0.flight.lock().await;
        self.renew_refused().await
    }

    /// Revokes the tokens (RFC 7009) and forgets them. Returns false if nobody was signed in. The
    /// tokens are forgotten even if the revocation fails, which is then returned.
    pub async fn logout(&self) -> Result<bool, OAuthError> {
        let _flight = self.0.flight.lock().await;
        let _lock = self.0.options.store.lock(&self.0.key).await?;
        self.reload()?;
        let Some(login) = self.login() else { return Ok(false) };
        let revoked = self.revoke(&login).await;
        self.options().store.remove(&self.0.key)?;
        *self.0.held.lock() = Held::None;
        self.0.wanted_scopes.lock().clear();
        if login.tokens.is_some() {
            let can_revoke = login.issuer.revocation_endpoint.is_some();
            self.report(LoginEvent::SignedOut { revoked: can_revoke && revoked.is_ok() });
        }
        revoked.map(|()| login.tokens.is_some())
    }

    fn report(&self, event: LoginEvent<'_>) {
        if let Some(observe) = &self.options().observe {
            observe(&self.0.key, event);
        }
    }

    /// True if the server leads to an authorization server. Other servers want another credential,
    /// such as a key. Metadata is looked for once.
    async fn has_oauth(&self, challenges: &[String]) -> bool {
        if names_metadata(challenges) {
            return true;
        }
        let options = self.options();
        let looking = async {
            let web = self.web().await?;
            options.discovery.is_published(web, &options.server, challenges).await
        };
        // An error leaves the question open, so the next refusal asks again.
        self.0.has_oauth.get_or_try_init(|| looking).await.is_ok_and(|found| *found)
    }

    async fn web(&self) -> Result<&Web, OAuthError> {
        let options = self.options();
        let making = async {
            let reach = if options.insecure { Reach::Insecure } else { Reach::of(&options.server).await };
            Web::new(&options.http, reach).map_err(|error| OAuthError::Malformed {
                url: options.server.to_string(),
                reason: error.to_string(),
            })
        };
        self.0.web.get_or_try_init(|| making).await
    }

    fn login(&self) -> Option<Arc<StoredLogin>> {
        match &*self.0.held.lock() {
            Held::Login { login, .. } => Some(login.clone()),
            Held::NotLoaded | Held::None => None,
        }
    }

    fn header_now(&self) -> Option<HeaderValue> {
        match &*self.0.held.lock() {
            Held::Login { header, .. } => header.clone(),
            Held::NotLoaded | Held::None => None,
        }
    }

    fn freshness(&self) -> Option<Freshness> {
        self.login()?.tokens.as_ref().map(crate::Tokens::freshness)
    }

    /// Reads the stored login, which another process may have changed.
    fn reload(&self) -> Result<(), OAuthError> {
        // Taken before the login is read, so that no change in between is missed.
        let stamp = self.options().store.stamp(&self.0.key);
        let found = self.options().store.load(&self.0.key)?;
        self.adopt(found);
        *self.0.stamp.lock() = stamp;
        Ok(())
    }

    /// Reads the stored login where waiting for the keychain's user delays no other call.
    async fn reload_aside(&self) -> Result<(), OAuthError> {
        let account = self.clone();
        let reading = tokio::task::spawn_blocking(move || account.reload());
        reading.await.unwrap_or_else(|stopped| {
            let (path, reason) = (self.place(), stopped.to_string());
            Err(StoreError::File { path, verb: "read", reason }.into())
        })
    }

    /// Reads the stored login if it was not read yet, or if another process has changed it. A login
    /// that can no longer be read stays in use.
    async fn look_again(&self) -> Result<(), OAuthError> {
        let _flight = self.0.flight.lock().await;
        let is_loaded = !matches!(*self.0.held.lock(), Held::NotLoaded);
        if is_loaded && !self.is_outdated() {
            return Ok(());
        }
        let stamp = self.options().store.stamp(&self.0.key);
        match self.reload_aside().await {
            Err(error) if self.header_now().is_some() => {
                tracing::warn!(%error, "the stored login cannot be read; the one in memory stays in use");
                *self.0.stamp.lock() = stamp;
                Ok(())
            }
            read => read,
        }
    }

    /// True if another process has signed in or out since the login was read.
    fn is_outdated(&self) -> bool {
        self.options().store.stamp(&self.0.key) != *self.0.stamp.lock()
    }

    /// Stores a login that is already in use. It stays in use if that fails.
    fn store(&self, login: &StoredLogin) -> Result<(), StoreError> {
        let stored = self.options().store.save(&self.0.key, login);
        *self.0.stamp.lock() = self.options().store.stamp(&self.0.key);
        stored
    }

    fn adopt(&self, login: Option<StoredLogin>) {
        let held = match login {
            Some(mut login) => {
                // The key of `private_key_jwt` is not stored.
                login.client.key.clone_from(&self.options().signing_key);
                let header = login.tokens.as_ref().and_then(|tokens| bearer(tokens.access.expose()));
                if let (Some(tokens), Some(conceal)) = (&login.tokens, &self.options().conceal) {
                    conceal(tokens.access.expose());
                    tokens.refresh.iter().for_each(|token| conceal(token.expose()));
                }
                Held::Login { login: Arc::new(login), header }
            }
            None => Held::None,
        };
        *self.0.held.lock() = held;
    }

    fn keep(
        &self,
        discovered: &Discovered,
        client: crate::ClientIdentity,
        granted: Granted,
    ) -> Result<StoredLogin, OAuthError> {
        let login = StoredLogin {
            server: self.0.key.server.clone(),
            principal: self.0.key.principal.clone(),
            resource: discovered.resource.clone(),
            issuer: discovered.issuer.clone(),
            client,
            tokens: Some(granted.tokens),
        };
        self.adopt(Some(login.clone()));
        self.0.wanted_scopes.lock().clear();
        self.report(LoginEvent::SignedIn { login: &login });
        self.store(&login)?;
        Ok(login)
    }

    /// The header to repeat a refused request with.
    async fn answer(self, refusal: Refusal) -> Result<Option<HeaderValue>, OAuthError> {
        let _flight = self.0.flight.lock().await;
        // Another call, or another process, may have a new token by now.
        if self.header_now().is_none() || self.header_now() == refusal.sent {
            let stamp = self.options().store.stamp(&self.0.key);
            let found = self.options().store.load(&self.0.key)?;
            // A token that only lacks scopes is valid, even if it could not be kept.
            let is_valid = refusal.status == StatusCode::FORBIDDEN;
            if !is_valid || found.as_ref().is_some_and(|login| login.tokens.is_some()) {
                self.adopt(found);
                *self.0.stamp.lock() = stamp;
            }
        }
        let now = self.header_now();
        if now.is_some() && now != refusal.sent {
            return Ok(now);
        }
        if refusal.status == StatusCode::UNAUTHORIZED && refusal.attempt == 0 && now.is_some() {
            match self.renew_refused().await {
                Ok(header) => return Ok(header),
                Err(error) if error.needs_login() && self.options().means.is_active() => {}
                Err(error) => return Err(error),
            }
        }
        self.obtain(&refusal, None).await
    }

    /// Obtains a new token, where that needs no user or somebody is there to ask. `lock` is that of
    /// the store, if the caller holds it; else it is taken to keep the token.
    async fn obtain(
        &self,
        refusal: &Refusal,
        lock: Option<&LockGuard>,
    ) -> Result<Option<HeaderValue>, OAuthError> {
        let options = self.options();
        let before = self.login();
        let held = before.as_ref().and_then(|login| login.tokens.as_ref());
        if !options.means.is_active() {
            return match (refusal.status, held) {
                (StatusCode::FORBIDDEN, Some(_)) => {
                    let wanted = challenged(&refusal.challenges).unwrap_or_default();
                    *self.0.wanted_scopes.lock() = bounded(wanted);
                    let scopes = crate::error::said(&self.missing_scopes().join(" "));
                    Err(OAuthError::MissingScopes { scopes })
                }
                (StatusCode::UNAUTHORIZED, None) if self.has_oauth(&refusal.challenges).await => {
                    Err(OAuthError::NotSignedIn)
                }
                _ => Ok(None),
            };
        }
        let discovered = self.discover(&refusal.challenges).await?;
        let mut scopes = discovered.scopes.clone();
        if refusal.status == StatusCode::FORBIDDEN {
            let same_issuer = before.as_ref().filter(|login| login.issuer.issuer == discovered.issuer.issuer);
            let earlier = same_issuer.and_then(|login| login.tokens.as_ref());
            scopes = union(
                &earlier.map(|tokens| tokens.scopes.clone()).unwrap_or_default(),
                scopes.iter().map(String::as_str),
            );
            if earlier.is_some_and(|tokens| covers(&tokens.scopes, &scopes)) && refusal.attempt > 0 {
                let scopes = crate::error::said(&scopes.join(" "));
                return Err(OAuthError::StepUpLoop { tries: refusal.attempt, scopes });
            }
        }
        let login = Login {
            options,
            web: self.web().await?,
            discovered: &discovered,
            before: before.as_deref(),
            scopes: &scopes,
        };
        let (client, granted) = match (&options.means, login.unattended().await?) {
            (_, Some(granted)) => granted,
            (Means::Interactive(way), None) => login.interactive(LoginOptions::Page(way.clone())).await?,
            (_, None) => return Ok(None),
        };
        let locking = match lock {
            Some(_) => Ok(LockGuard::none()),
            None => options.store.lock(&self.0.key).await,
        };
        let kept = self.keep(&discovered, client, granted);
        if let Err(error) = locking.map_err(Into::into).and(kept) {
            tracing::warn!(%error, "the new token is used, but was not kept");
        }
        Ok(self.header_now())
    }

    /// The command that signs in, with the missing scopes if they can be typed as they are.
    pub fn login_command(&self) -> String {
        let mut command = self.options().login_command.clone();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ":._/-".contains(c);
        for scope in self.missing_scopes().iter().filter(|scope| scope.chars().all(is_plain)) {
            command.push_str(" --scope ");
            command.push_str(scope);
        }
        command
    }

    fn error(&self, error: &OAuthError) -> CredentialsError {
        let action = match error.is_transient() {
            true => None,
            false if self.options().means.is_unattended() => Some(CHECK_CLIENT.to_owned()),
            false => Some(format!("sign in with `{}`", self.login_command())),
        };
        CredentialsError { message: error.to_string(), action, transient: error.is_transient() }
    }
}

impl Credentials for Account {
    fn header(&self) -> Supply {
        let held = self.0.held.lock().clone();
        match held {
            Held::None => Supply::Ready(None),
            // A renewal under way reads the stored login itself; nobody waits for it here.
            Held::Login { .. } if !self.is_outdated() || self.0.flight.try_lock().is_err() => {
                match self.freshness() {
                    Some(Freshness::Expired) => {
                        let account = self.clone();
                        Supply::Pending(Box::pin(async move { account.renew_expired().await }))
                    }
                    Some(Freshness::Ending) => {
                        self.renew_in_background();
                        Supply::Ready(self.header_now())
                    }
                    Some(Freshness::Valid) | None => Supply::Ready(self.header_now()),
                }
            }
            Held::NotLoaded | Held::Login { .. } => {
                let account = self.clone();
                Supply::Pending(Box::pin(async move {
                    account.look_again().await.map_err(|error| account.error(&error))?;
                    match account.header() {
                        Supply::Ready(header) => Ok(header),
                        Supply::Pending(pending) => pending.await,
                    }
                }))
            }
        }
    }

    fn refused(&self, refusal: Refusal) -> Supplying {
        let account = self.clone();
        Box::pin(async move {
            let answered = account.clone().answer(refusal).await;
            answered.map_err(|error| account.error(&error))
        })
    }
}

/// True if a challenge names the server's metadata.
fn names_metadata(challenges: &[String]) -> bool {
    let mut all = challenges.iter().flat_map(|text| Challenge::read(text));
    all.any(|challenge| challenge.get("resource_metadata").is_some())
}

fn bearer(token: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account").field("server", &self.0.key.server).finish_non_exhaustive()
    }
}

impl Inner {
    /// Marks a renewal in the background; false if one is under way.
    fn begin_renewal(&self) -> bool {
        let due = self.next_renewal.lock().is_none_or(|moment| moment <= Instant::now());
        due && !self.renewing.swap(true, Ordering::AcqRel)
    }

    fn end_renewal(&self) {
        self.renewing.store(false, Ordering::Release);
    }
}
