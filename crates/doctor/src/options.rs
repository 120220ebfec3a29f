//! Options of an examination: environment, headers, limits, progress.

use super::{spelling::Spelling, step::Step, token_slot::SignIn};
use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};
use trunkline_client::{Exposure, RevisionChoice};
use trunkline_oauth::{AccountOptions, Interaction, MemoryStore};
use trunkline_transport::http::HttpOptions;

/// Options of an examination. The library itself reads no environment variables.
#[derive(Clone)]
pub struct DoctorOptions {
    /// This process's environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The base directory of relative paths.
    pub directory: PathBuf,
    pub http: HttpOptions,
    pub exposure: Exposure,
    pub speak: RevisionChoice,
    pub limits: Limits,
    pub first_call: FirstCall,
    pub watch: Watch,
    /// Further secrets to mask, besides those in headers and variables.
    pub secrets: Vec<String>,
    pub spelling: Spelling,
    /// The way to a token.
    pub sign_in: Option<SignIn>,
}

/// Limits in time and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Timeout of one step.
    pub step: Duration,
    /// Timeout of the first answer of a package runner, which may download first.
    pub install: Duration,
    /// Timeout of all steps together, and again of all alternatives together.
    pub total: Duration,
    /// Maximum bytes of one line or body.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            step: Duration::from_secs(10),
            install: Duration::from_mins(1),
            total: Duration::from_mins(2),
            bytes: 4 * 1024 * 1024,
        }
    }
}

/// Controls the first call, which uses a read-only tool without required arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FirstCall {
    #[default]
    Make,
    Skip,
}

/// A callback for each finished step.
#[derive(Clone)]
pub struct Watch(Arc<dyn Fn(&Step) + Send + Sync>);

impl Watch {
    pub fn new(see: impl Fn(&Step) + Send + Sync + 'static) -> Self {
        Self(Arc::new(see))
    }

    pub(super) fn see(&self, step: &Step) {
        (self.0)(step);
    }
}

impl DoctorOptions {
    /// Uses the stored login of this account, or its client's own credentials, if the server asks
    /// for a token.
    #[must_use]
    pub fn signing_in(self, account: AccountOptions) -> Self {
        self.with_account(account, None)
    }

    /// Lets a user sign in to the account for this examination; the token is kept nowhere, and is
    /// revoked at its end.
    #[must_use]
    pub fn signing_in_by(self, page: Arc<dyn Interaction>) -> Self {
        match self.account().cloned() {
            Some(account) => {
                let account = AccountOptions { store: Arc::new(MemoryStore::default()), ..account };
                self.with_account(account, Some(page))
            }
            None => self,
        }
    }

    /// The account that is used if the server asks for a token.
    pub fn account(&self) -> Option<&AccountOptions> {
        self.sign_in.as_ref().map(|sign_in| sign_in.account.options())
    }

    fn with_account(mut self, mut account: AccountOptions, page: Option<Arc<dyn Interaction>>) -> Self {
        account.http = HttpOptions { credentials: None, ..self.http.clone() };
        let sign_in = SignIn::new(account, page);
        self.http.credentials = Some(Arc::new(sign_in.slot.clone()));
        self.sign_in = Some(sign_in);
        self
    }

    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
    }
}

impl Default for DoctorOptions {
    fn default() -> Self {
        Self {
            environment: Vec::new(),
            directory: PathBuf::from("/"),
            http: HttpOptions::default(),
            exposure: Exposure::default(),
            speak: RevisionChoice::default(),
            limits: Limits::default(),
            first_call: FirstCall::default(),
            watch: Watch::new(|_| {}),
            secrets: Vec::new(),
            spelling: Spelling::default(),
            sign_in: None,
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// Leaves out environment and headers, which may hold secrets.
impl fmt::Debug for DoctorOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DoctorOptions")
            .field("directory", &self.directory)
            .field("speak", &self.speak)
            .field("limits", &self.limits)
            .field("first_call", &self.first_call)
            .finish_non_exhaustive()
    }
}
