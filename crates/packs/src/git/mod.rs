//! The git pack: git's own executable, run so that nothing in a repository can make it run something else.
//!
//! A *root* is a directory that the operator opened; a repository must lie inside one with all its parts: work tree,
//! git directory, common directory, object store and the stores it borrows from.
//!
//! Three layers keep a hostile repository from running programs:
//! 1. The environment holds only what `environment` puts there. Settings given that way win over every file, and
//!    switch off hooks, the file system monitor, pagers, editors, credential helpers, signing and all transports that
//!    are not on the allow list.
//! 2. Commands carry their own switches: no external diff, no text conversion, no submodules, literal paths.
//! 3. What has a name of the repository's own choosing (filters, merge drivers) cannot be switched off beforehand.
//!    `survey` reads the settings first: filters are emptied by name, and a command whose effect depends on a driver
//!    is refused with the setting's name.
//!
//! Left to others: who may call (the front), and a limit on the size of results beyond the caps named here.

mod add;
mod answer;
mod arguments;
mod blame;
mod boundary;
mod branch;
mod checkout;
mod clone;
mod commit;
mod compatibility;
mod create_branch;
mod diff;
mod environment;
mod failure;
mod fetch;
mod git_pack_error;
mod identity;
mod init;
mod invocation;
mod log;
mod merge;
mod options;
mod pack;
mod parse;
mod pull;
mod push;
mod remote;
mod repository;
mod reset;
mod revision;
mod show;
mod stash;
mod state;
mod status;
mod survey;
mod tag;
mod worktree;

pub use git_pack_error::GitPackError;
pub use options::{Access, Drivers, GitOptions, Hooks, Identity, Network, Ownership, UserSettings};
pub use pack::{compatibility_tools, pack};
#[doc(hidden)]
pub use parse::listings;
