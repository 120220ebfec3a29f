//! The desk: logins of callers that are under way. Each belongs to one caller and one server, ends
//! after a while, and passes through its stages once:
//!
//! ```text
//! Offered ⇒ Visiting          a browser opened the link; the link is used up
//! Visiting ⇒ Unconfirmed      the same browser came back, and tokens were issued
//! Unconfirmed ⇒ kept          the caller repeated the code that this browser was shown
//! ```

use super::visit::{DoorVisit, VisitEnds};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use parking_lot::{Mutex, MutexGuard};
use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::sync::{oneshot, watch};
use trunkline_oauth::{Account, CallbackParams, LoginOptions, NewLogin, OAuthError, Secret, random_token};
use trunkline_protocol::ServerName;
use trunkline_resilience::{Moment, timeout};
use url::Url;

/// Most logins under way, and those of one caller at one server.
const MAX_PENDING: usize = 1024;
const MAX_OWN: usize = 4;
/// Wrong codes after which a login is discarded.
const MAX_TRIES: u32 = 5;
/// Letters of a code; those that look alike are left out.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CODE_LETTERS: usize = 8;

/// The desk of a gateway; clones share it.
#[derive(Clone)]
pub(crate) struct LoginDesk(Arc<Desk>);

struct Desk {
    /// The origin of links; unset if no browser can reach us.
    origin: OnceLock<String>,
    lifetime: Mutex<Duration>,
    pending: Mutex<Vec<PendingLogin>>,
    /// Counts logins that were kept or have ended.
    changes: watch::Sender<u64>,
}

/// The caller that signs in, and where.
#[derive(Clone)]
pub(super) struct Applicant {
    pub(super) caller: String,
    pub(super) server: ServerName,
    pub(super) account: Account,
    pub(super) proof: Proof,
}

/// The proof that the person in the browser is the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// The caller repeats the code that the browser shows.
    Code,
    /// None: there is only one caller, the user of this process.
    OnlyCaller,
}

struct PendingLogin {
    link: String,
    applicant: Applicant,
    ends: Moment,
    stage: Stage,
}

enum Stage {
    Offered,
    Visiting {
        browser: String,
        state: Secret,
        answer: oneshot::Sender<CallbackParams>,
        issued: Issued,
    },
    /// The stage while the login is worked on without the lock.
    Busy,
    Unconfirmed {
        code: String,
        tries: u32,
        new: Box<NewLogin>,
    },
}

type Issued = oneshot::Receiver<Result<NewLogin, OAuthError>>;

/// The content of a link's page.
pub(super) struct Offer {
    pub(super) caller: String,
    pub(super) server: ServerName,
    pub(super) address: Url,
    /// The scopes that the caller's login lacks, if it has one.
    pub(super) missing: Vec<String>,
}

/// The start of a visit.
pub(super) struct Started {
    pub(super) page: Url,
    /// The secret that the browser has to bring back.
    pub(super) browser: String,
}

/// The end of a visit.
pub(super) enum Finished {
    SignedIn,
    /// The code to give to the caller's client.
    ShowCode(String),
}

/// The reason why a page of the desk cannot go on.
#[derive(Debug, thiserror::Error)]
pub(super) enum DeskError {
    #[error("This link is unknown, was used before, or is too old. Repeat the call to get a new one.")]
    NoLogin,
    #[error("The login was started in another browser.")]
    OtherBrowser,
    #[error("The login failed: {0}.")]
    Login(#[from] OAuthError),
    #[error("The login was not finished in time.")]
    Late,
}

/// The answer to a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Confirmed {
    Yes,
    /// No login of this caller waits for a code.
    NothingToConfirm,
    Wrong,
    /// The tokens could not be kept.
    NotKept,
}

/// A code compared with the logins that wait for one.
enum Judged {
    Right(Account, Box<NewLogin>),
    Wrong,
    Nothing,
}

impl LoginDesk {
    pub(crate) fn new(lifetime: Duration) -> Self {
        Self(Arc::new(Desk {
            origin: OnceLock::new(),
            lifetime: Mutex::new(lifetime),
            pending: Mutex::default(),
            changes: watch::Sender::new(0),
        }))
    }

    /// Sets the origin under which browsers reach the door.
    pub(crate) fn open_at(&self, origin: String) {
        // The listener starts only once, so the origin is not set yet.
        self.0.origin.set(origin).ok();
    }

    pub(crate) fn configure(&self, lifetime: Duration) {
        *self.0.lifetime.lock() = lifetime;
    }

    /// Changes when a login was kept or has ended.
    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// Tells the sessions of all callers to look at their logins again.
    pub(super) fn announce_change(&self) {
        self.0.changes.send_modify(|count| *count += 1);
    }

    pub(super) fn lifetime(&self) -> Duration {
        *self.0.lifetime.lock()
    }

    /// The link for a login; `None` if no browser can reach us. The same one until it is opened.
    pub(super) fn offer(&self, applicant: &Applicant) -> Option<String> {
        let origin = self.0.origin.get()?;
        let ends = Moment::now() + self.lifetime();
        let mut pending = self.pending();
        let own = |login: &PendingLogin| login.applicant.is(applicant);
        let unopened = pending.iter().find(|login| own(login) && matches!(login.stage, Stage::Offered));
        let link = if let Some(login) = unopened {
            login.link.clone()
        } else {
            if pending.iter().filter(|login| own(login)).count() >= MAX_OWN {
                let oldest = pending.iter().position(own)?;
                discard(pending.remove(oldest));
            }
            if pending.len() >= MAX_PENDING {
                discard(pending.remove(0));
            }
            let link = random_token().ok()?;
            let login = PendingLogin {
                link: link.clone(),
                applicant: applicant.clone(),
                ends,
                stage: Stage::Offered,
            };
            pending.push(login);
            link
        };
        Some(format!("{origin}/login?link={link}"))
    }

    /// The content of a link's page. Looking at it does not use the link up, because programs that
    /// preview links do so, too.
    pub(super) fn look(&self, link: &str) -> Result<Offer, DeskError> {
        let pending = self.pending();
        let login = pending.iter().find(|login| login.link == link && matches!(login.stage, Stage::Offered));
        let login = login.ok_or(DeskError::NoLogin)?;
        let applicant = &login.applicant;
        Ok(Offer {
            caller: applicant.caller.clone(),
            server: applicant.server.clone(),
            address: applicant.account.options().server.clone(),
            missing: applicant.account.missing_scopes(),
        })
    }

    /// Uses up a link: finds the authorization server's page for this browser.
    pub(super) async fn start(&self, link: &str) -> Result<Started, DeskError> {
        let origin = self.0.origin.get().ok_or(DeskError::NoLogin)?;
        let (account, left) = {
            let mut pending = self.pending();
            let login = pending.iter_mut().find(|login| login.link == link);
            let login =
                login.filter(|login| matches!(login.stage, Stage::Offered)).ok_or(DeskError::NoLogin)?;
            login.stage = Stage::Busy;
            (login.applicant.account.clone(), login.ends - Moment::now())
        };
        let (visit, VisitEnds { page, answer }) = DoorVisit::new(format!("{origin}/login/callback"));
        let (tell, mut issued) = oneshot::channel();
        tokio::spawn(async move {
            let way = LoginOptions::Page(Arc::new(visit));
            let late = OAuthError::Unfinished { seconds: left.as_secs() };
            let obtaining = Box::pin(account.obtain_login(way, &[], &[]));
            let obtained = timeout(left, obtaining).await.unwrap_or(Err(late));
            // If the login was dropped, nobody waits for the tokens, and they are not used.
            drop(tell.send(obtained));
        });
        let Ok((page, state)) = page.await else {
            self.remove(link);
            // The task ends without a page only with an error.
            let failed = issued.try_recv().ok().and_then(Result::err);
            return Err(failed.map_or(DeskError::Late, DeskError::Login));
        };
        let browser = random_token()?;
        let mut pending = self.pending();
        let login = pending.iter_mut().find(|login| login.link == link).ok_or(DeskError::NoLogin)?;
        login.stage = Stage::Visiting { browser: browser.clone(), state, answer, issued };
        Ok(Started { page, browser })
    }

    /// Receives the redirect of the authorization server. Only the browser that started the login
    /// can finish it.
    pub(super) async fn finish(
        &self,
        params: CallbackParams,
        is_browser: impl Fn(&str) -> bool,
    ) -> Result<Finished, DeskError> {
        let (link, applicant, answer, issued) = {
            let mut pending = self.pending();
            let is_meant = |login: &&mut PendingLogin| matches!(&login.stage, Stage::Visiting { state, .. } if params.state.as_ref() == Some(state));
            let login = pending.iter_mut().find(is_meant).ok_or(DeskError::NoLogin)?;
            if !matches!(&login.stage, Stage::Visiting { browser, .. } if is_browser(browser)) {
                return Err(DeskError::OtherBrowser);
            }
            match std::mem::replace(&mut login.stage, Stage::Busy) {
                Stage::Visiting { answer, issued, .. } => {
                    (login.link.clone(), login.applicant.clone(), answer, issued)
                }
                Stage::Offered | Stage::Busy | Stage::Unconfirmed { .. } => return Err(DeskError::NoLogin),
            }
        };
        // If the login has ended, `issued` says why.
        drop(answer.send(params));
        let new = match issued.await {
            Ok(Ok(new)) => new,
            Ok(Err(error)) => {
                self.remove(&link);
                return Err(error.into());
            }
            Err(_) => {
                self.remove(&link);
                return Err(DeskError::Late);
            }
        };
        if applicant.proof == Proof::OnlyCaller {
            self.remove(&link);
            applicant.account.keep_login(new).await?;
            self.announce_change();
            return Ok(Finished::SignedIn);
        }
        let code = code()?;
        let mut pending = self.pending();
        let Some(login) = pending.iter_mut().find(|login| login.link == link) else {
            drop(pending);
            revoke(applicant, new);
            return Err(DeskError::Late);
        };
        login.stage = Stage::Unconfirmed { code: code.clone(), tries: 0, new: Box::new(new) };
        Ok(Finished::ShowCode(code))
    }

    /// Keeps the login whose code this is.
    pub(super) async fn confirm(&self, applicant: &Applicant, given: &str) -> Confirmed {
        let given: String = given.chars().filter(char::is_ascii_alphanumeric).collect();
        let given = given.to_ascii_uppercase();
        let (account, new) = match self.judge(applicant, &given) {
            Judged::Right(account, new) => (account, new),
            Judged::Wrong => return Confirmed::Wrong,
            Judged::Nothing => return Confirmed::NothingToConfirm,
        };
        if let Err(error) = account.keep_login(*new).await {
            tracing::warn!(server = %applicant.server, %error, "a login could not be kept");
            return Confirmed::NotKept;
        }
        self.drop_all(applicant);
        self.announce_change();
        Confirmed::Yes
    }

    /// Compares a code with all logins of the applicant that wait for one.
    fn judge(&self, applicant: &Applicant, given: &str) -> Judged {
        let mut pending = self.pending();
        let mut judged = Judged::Nothing;
        let mut at = 0;
        while let Some(login) = pending.get_mut(at) {
            let is_own = login.applicant.is(applicant);
            match &mut login.stage {
                Stage::Unconfirmed { code, .. } if is_own && code.replace('-', "") == given => {
                    let PendingLogin { applicant, stage, .. } = pending.remove(at);
                    let Stage::Unconfirmed { new, .. } = stage else { return Judged::Nothing };
                    return Judged::Right(applicant.account, new);
                }
                Stage::Unconfirmed { tries, .. } if is_own => {
                    judged = Judged::Wrong;
                    *tries += 1;
                    if *tries >= MAX_TRIES {
                        discard(pending.remove(at));
                        continue;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        judged
    }

    fn remove(&self, link: &str) {
        self.pending().retain(|login| login.link != link);
    }

    /// Signs the applicant out everywhere in this gateway. The tokens are forgotten even if they
    /// cannot be revoked, which is then returned.
    pub(super) async fn sign_out(&self, applicant: &Applicant) -> Result<bool, OAuthError> {
        self.drop_all(applicant);
        let signed_out = applicant.account.logout().await;
        self.announce_change();
        signed_out
    }

    /// Ends all logins of an applicant that are under way.
    fn drop_all(&self, applicant: &Applicant) {
        let mut pending = self.pending();
        let (own, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut *pending).into_iter().partition(|login| login.applicant.is(applicant));
        *pending = rest;
        own.into_iter().for_each(discard);
    }

    /// The logins under way, without those whose time is over.
    fn pending(&self) -> MutexGuard<'_, Vec<PendingLogin>> {
        let mut pending = self.0.pending.lock();
        let now = Moment::now();
        let (late, rest) = std::mem::take(&mut *pending).into_iter().partition(|login| login.ends <= now);
        *pending = rest;
        let late: Vec<PendingLogin> = late;
        late.into_iter().for_each(discard);
        pending
    }
}

impl Applicant {
    /// True if the applicant has a login, and the server has not asked for more scopes.
    pub(super) fn is_settled(&self) -> bool {
        self.account.is_signed_in() && self.account.missing_scopes().is_empty()
    }

    fn is(&self, other: &Self) -> bool {
        self.caller == other.caller && self.server == other.server
    }
}

/// Revokes the tokens of a login that is not kept.
fn discard(login: PendingLogin) {
    if let PendingLogin { applicant, stage: Stage::Unconfirmed { new, .. }, .. } = login {
        revoke(applicant, *new);
    }
}

/// Revokes tokens that nobody will use.
fn revoke(applicant: Applicant, new: NewLogin) {
    tokio::spawn(async move {
        if let Err(error) = applicant.account.discard_login(new).await {
            tracing::debug!(server = %applicant.server, %error, "tokens that are not used were not revoked");
        }
    });
}

/// A code that a person can copy: eight letters in two groups.
fn code() -> Result<String, OAuthError> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(random_token()?).map_err(|_| OAuthError::Random)?;
    let letter = |byte: &u8| char::from(LETTERS[usize::from(byte % 32)]);
    let mut code: String = bytes.iter().take(CODE_LETTERS).map(letter).collect();
    code.insert(CODE_LETTERS / 2, '-');
    Ok(code)
}
