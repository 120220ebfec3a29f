//! Builds the list of tools from the options, and holds their shared state.

use std::{path::PathBuf, sync::Arc};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::{Mutex, MutexGuard};

use super::{
    add, blame,
    boundary::Roots,
    branch, checkout, clone, commit, compatibility,
    confined::confinement,
    create_branch, diff,
    environment::{self, Mode, Settings},
    fetch,
    git_pack_error::GitPackError,
    init, log, merge,
    options::{Access, GitOptions, Network},
    pull, push, reset, show, stash, status, tag, worktree,
};
use crate::text_and_data::TextAndData;
use trunkline_process::Restriction;
use trunkline_toolbox::{Tool, ToolError};

/// Shared state of the tools.
#[derive(Debug)]
pub(super) struct Git {
    options: GitOptions,
    program: PathBuf,
    roots: Roots,
    /// Held while a repository is changed, because a concurrent git process would fail on git's
    /// lock file instead of waiting.
    changing: Mutex<()>,
}

/// The tools that `options` allow.
pub fn pack(options: GitOptions) -> Result<Vec<Tool>, GitPackError> {
    let git = Arc::new(Git::new(options)?);
    report_confinement(&git);
    let mut tools = vec![
        status::tool(&git),
        diff::unstaged_tool(&git),
        diff::staged_tool(&git),
        diff::tool(&git),
        log::tool(&git),
        show::tool(&git),
        branch::tool(&git),
        blame::tool(&git),
    ];
    if git.options.access == Access::ReadOnly {
        tools.extend([stash::list_tool(&git), tag::list_tool(&git), worktree::list_tool(&git)]);
        return Ok(tools);
    }
    tools.extend([
        stash::tool(&git),
        tag::tool(&git),
        worktree::tool(&git),
        add::tool(&git),
        commit::tool(&git),
        reset::tool(&git),
        create_branch::tool(&git),
        checkout::tool(&git),
        merge::tool(&git),
        init::tool(&git),
    ]);
    if git.options.network == Network::Allowed {
        tools.extend([fetch::tool(&git), pull::tool(&git), push::tool(&git), clone::tool(&git)]);
    }
    Ok(tools)
}

/// Tools with the names and arguments of an older server: `get_status`, `get_log` and so on.
pub fn compatibility_tools(options: GitOptions) -> Result<Vec<Tool>, GitPackError> {
    let git = Arc::new(Git::new(options)?);
    let mut tools = compatibility::reading(&git);
    if git.options.access == Access::ReadWrite {
        tools.extend(compatibility::changing(&git));
    }
    Ok(tools)
}

/// Logs the degree to which the kernel keeps git inside the roots.
fn report_confinement(git: &Git) {
    let Some(confinement) = confinement(git, Mode::Read, Vec::new()) else {
        tracing::info!(
            "git may run programs of the user or of a repository, so the kernel does not confine it"
        );
        return;
    };
    match confinement.support() {
        Ok(Restriction::Unavailable) => {
            tracing::info!("this kernel has no Landlock, so it does not confine git to the open directories");
        }
        Ok(restriction) => tracing::debug!(?restriction, "the kernel confines git to the open directories"),
        Err(error) => tracing::warn!(%error, "the kernel does not confine git to the open directories"),
    }
}

impl Git {
    fn new(options: GitOptions) -> Result<Self, GitPackError> {
        if options.roots.is_empty() {
            return Err(GitPackError::NoRoot);
        }
        let roots =
            Roots::open(&options.roots).map_err(|(path, source)| GitPackError::Root { path, source })?;
        let found = options.search.iter().map(|directory| directory.join("git")).find(|path| path.is_file());
        let program = found.ok_or_else(|| GitPackError::NoGit { search: options.search.clone() })?;
        Ok(Self { options, program, roots, changing: Mutex::new(()) })
    }

    pub(super) fn options(&self) -> &GitOptions {
        &self.options
    }

    pub(super) fn program(&self) -> &PathBuf {
        &self.program
    }

    pub(super) fn roots(&self) -> &Roots {
        &self.roots
    }

    pub(super) fn settings(&self) -> Settings {
        environment::settings(&self.options)
    }

    /// Waits until no other call changes a repository.
    pub(super) async fn change(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().await
    }
}

/// A tool from a function of the shared state and its arguments.
pub(super) fn tool<A, T, F, Fut>(git: &Arc<Git>, name: &str, run: F) -> Tool
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    T: Serialize + JsonSchema + Send + 'static,
    F: Fn(Arc<Git>, A) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<TextAndData<T>, ToolError>> + Send + 'static,
{
    let git = git.clone();
    Tool::new(name, move |args: A| run(git.clone(), args))
}
