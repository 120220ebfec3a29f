//! Options set by the operator.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use crate::sandbox::Protected;
use trunkline_process::{DEFAULT_DEADLINE, DEFAULT_MEMORY};

/// Default search directories for git, in this order.
const SEARCH: [&str; 4] = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/bin"];

/// Transports allowed by default.
const PROTOCOLS: [&str; 2] = ["https", "ssh"];

/// Options set by the operator. The defaults are restrictive.
#[derive(Debug, Clone)]
pub struct GitOptions {
    /// Directories that contain repositories; at least one.
    pub roots: Vec<PathBuf>,
    /// Determines whether tools that change a repository are offered.
    pub access: Access,
    /// Determines whether tools that use the network are offered. Tools that also change a
    /// repository additionally need `access`.
    pub network: Network,
    /// Determines whether the hooks of a repository run.
    pub hooks: Hooks,
    /// Determines whether filters and drivers from a repository's own settings may run.
    pub drivers: Drivers,
    /// Determines whether the user's config file is read.
    pub user_settings: UserSettings,
    /// The author and committer of commits.
    pub identity: Identity,
    /// Determines whether a repository must belong to the server's user.
    pub ownership: Ownership,
    /// Allowed transports, by git's names. `file` lets git run in repositories outside of the
    /// roots, with their hooks.
    pub protocols: Vec<String>,
    /// Environment variables for network commands, such as `HOME` and `SSH_AUTH_SOCK`. `GIT_*` is
    /// never passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// Directories that are searched for git, once at start.
    pub search: Vec<PathBuf>,
    /// Time limit of one call.
    pub deadline: Duration,
    /// Maximum memory of each process in bytes.
    pub memory: Option<u64>,
    /// Files and directories, such as the configuration of the server, that no command may change
    /// in any working tree.
    pub guarded: Vec<PathBuf>,
    /// Files whose contents no tool shows: untracked ones are neither staged nor stashed.
    pub protected: Protected,
}

/// Determines whether tools that change a repository are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only tools that read.
    ReadOnly,
    /// All tools.
    ReadWrite,
}

/// Determines whether tools that use the network are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Not offered, and all transports are disabled.
    Denied,
    /// Offered.
    Allowed,
}

/// Determines whether the hooks of a repository run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hooks {
    /// Never.
    Off,
    /// As git would run them.
    Run,
}

/// Determines whether filters and drivers from a repository's own settings may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drivers {
    /// Never: filters are removed, and commands that would be wrong without them are refused.
    Off,
    /// As git would run them.
    Run,
}

/// Determines whether the user's config file is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserSettings {
    /// Not read.
    Ignored,
    /// This file is read. Filters that it names will run.
    Read(PathBuf),
}

/// The author and committer of commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The identity in the repository's settings.
    Repository,
    /// This person, unless the repository's settings name another.
    Person {
        /// The name.
        name: String,
        /// The address.
        email: String,
    },
    /// The identity in this config file, unless the repository's settings name another. Nothing
    /// else is read from the file.
    SettingsFile(PathBuf),
}

/// Determines whether a repository must belong to the server's user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// It must; this is git's own check.
    Checked,
    /// It may belong to anyone.
    Anyone,
}

impl GitOptions {
    /// Read-only access to the repositories in `roots`.
    pub fn new(roots: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self {
            roots: roots.into_iter().map(Into::into).collect(),
            access: Access::ReadOnly,
            network: Network::Denied,
            hooks: Hooks::Off,
            drivers: Drivers::Off,
            user_settings: UserSettings::Ignored,
            identity: Identity::Repository,
            ownership: Ownership::Checked,
            protocols: PROTOCOLS.map(Into::into).into(),
            environment: Vec::new(),
            search: SEARCH.map(Into::into).into(),
            deadline: DEFAULT_DEADLINE,
            memory: Some(DEFAULT_MEMORY),
            guarded: Vec::new(),
            protected: Protected::default(),
        }
    }
}
