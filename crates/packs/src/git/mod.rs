//! The git pack: git's own executable, run so that nothing in a repository can make it run something else.
//!
//! A *root* is a directory that the operator opened; a repository must lie inside one with all its parts: work tree,
//! git directory, common directory, object store and the stores it borrows from.
//!
//! A hostile repository must neither run a program nor show a file from outside of the roots:
//! 1. `discovery` finds the repository and `enclosure` checks every link in it before the first git process starts. A bare
//!    repository inside a work tree is refused.
//! 2. Git never reads the repository's own config file. `settings` sorts it by the list in `allowed_settings`, and
//!    `common_dir` gives git a stand-in with what is left. A command whose effect depends on a setting that was left out
//!    (a filter, a merge driver, a proxy) is refused with the setting's name.
//! 3. The environment holds only what `environment` puts there, hooks and transports off among it, and commands carry
//!    their own switches: no external diff, no text conversion, no submodules, literal paths.
//! 4. `failure` passes on git's errors only in known forms, because git quotes the contents of files in them.
//!
//! Left to others: who may call (the front), and a limit on the size of results beyond the caps named here.

mod add;
mod allowed_settings;
mod answer;
mod arguments;
mod blame;
mod boundary;
mod branch;
mod checkout;
mod clone;
mod commit;
mod common_dir;
mod compatibility;
mod config_file;
mod create_branch;
mod diff;
mod discovery;
mod enclosure;
mod environment;
mod failure;
mod fetch;
mod git_pack_error;
mod guarded;
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
mod settings;
mod show;
mod stash;
mod state;
mod status;
mod tag;
mod worktree;

pub use git_pack_error::GitPackError;
pub use options::{Access, Drivers, GitOptions, Hooks, Identity, Network, Ownership, UserSettings};
pub use pack::{compatibility_tools, pack};
#[doc(hidden)]
pub use parse::listings;
