//! What the operator allows.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use trunkline_process::{DEFAULT_DEADLINE, DEFAULT_MEMORY};

/// Directories in which git is looked for, in this order, unless the options name others.
const SEARCH: [&str; 4] = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/bin"];

/// Transports that may be used, unless the options name others.
const PROTOCOLS: [&str; 2] = ["https", "ssh"];

/// What the operator allows. The defaults are the careful choice.
#[derive(Debug, Clone)]
pub struct GitOptions {
    /// Directories in which repositories may lie; at least one.
    pub roots: Vec<PathBuf>,
    /// Whether tools that change a repository are offered.
    pub access: Access,
    /// Whether tools that talk to other machines are offered; those that change a repository also need the access.
    pub network: Network,
    /// Whether the hooks of a repository run.
    pub hooks: Hooks,
    /// Whether filters and drivers that a repository's own settings name may run.
    pub drivers: Drivers,
    /// Whether the settings file of the user is read.
    pub user_settings: UserSettings,
    /// Who commits.
    pub identity: Identity,
    /// Whether a repository must belong to the user that runs us.
    pub ownership: Ownership,
    /// Transports that may be used, by git's names for them. `file` lets git run in repositories outside of the
    /// roots, with their hooks.
    pub protocols: Vec<String>,
    /// Variables for commands that use the network, such as `HOME` and `SSH_AUTH_SOCK`. No `GIT_*` is passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// Directories in which git is looked for, once.
    pub search: Vec<PathBuf>,
    /// How long one call may take in all.
    pub deadline: Duration,
    /// Bytes of memory for each process.
    pub memory: Option<u64>,
    /// Files and directories, such as the configuration of the server, that must stay as they are,
    /// wherever a working tree holds them.
    pub guarded: Vec<PathBuf>,
}

/// Whether tools that change a repository are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only tools that look.
    ReadOnly,
    /// All.
    ReadWrite,
}

/// Whether tools that talk to other machines are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// They are not, and no transport works.
    Denied,
    /// They are.
    Allowed,
}

/// Whether the hooks of a repository run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hooks {
    /// Never.
    Off,
    /// As git would run them.
    Run,
}

/// Whether filters and drivers that a repository's own settings name may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drivers {
    /// Never: filters are left out, and what cannot be right without them is refused.
    Off,
    /// As git would run them.
    Run,
}

/// Whether the settings file of the user is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserSettings {
    /// It is not.
    Ignored,
    /// This one is. Where it names filters, they run.
    Read(PathBuf),
}

/// Who commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// Whoever the repository's settings name.
    Repository,
    /// This person, unless the repository's settings name another.
    Person {
        /// The name.
        name: String,
        /// The address.
        email: String,
    },
    /// The person whom this settings file names, unless the repository's settings name another. Nothing else is taken
    /// from the file.
    SettingsFile(PathBuf),
}

/// Whether a repository must belong to the user that runs us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// It must, as git asks for.
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
        }
    }
}
