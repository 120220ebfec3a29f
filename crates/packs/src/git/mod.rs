//! The git pack: runs the git executable so that a repository cannot make it run other programs.
//!
//! A *root* is a directory that the operator opened. All parts of a repository must be inside the
//! roots: work tree, git directory, common directory, object store and its alternates.
//!
//! A hostile repository must neither run a program nor expose a file from outside of the roots:
//! 1. `discovery` finds the repository and `enclosure` checks every link in it before the first
//!    git process starts. A bare repository inside a work tree is refused.
//! 2. Git never reads the repository's own config file. `settings` filters it by the list in
//!    `allowed_settings`, and `common_dir` gives git a substitute with the remaining settings. A
//!    command whose effect depends on a removed setting (a filter, a merge driver, a proxy) is
//!    refused, and the error names the setting.
//! 3. The environment is built only by `environment`, with hooks and transports disabled, and
//!    commands have fixed switches: no external diff, no text conversion, no submodules, literal
//!    paths.
//! 4. `failure` passes on git's errors only in known forms, because git quotes file contents in
//!    them.
//!
//! Not handled here: authorization of callers (the serving layer), and limits on results beyond
//! those named here.

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
mod confined;
mod create_branch;
mod diff;
mod discovery;
mod enclosure;
mod environment;
mod failure;
mod fetch;
mod git_pack_error;
mod guarded;
mod hidden;
mod identity;
mod index;
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
