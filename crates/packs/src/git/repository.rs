//! A repository that was found inside the roots and checked; the only way to run git in one.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tokio::{
    task::{JoinError, spawn_blocking},
    time::Instant,
};

use super::{
    boundary::{Roots, leads_outside},
    common_dir::CommonDir,
    discovery::{self, Layout},
    enclosure,
    environment::Mode,
    index,
    invocation::Invocation,
    options::Drivers,
    pack::Git,
    revision::Revision,
    settings::{self, RepositorySettings},
    state::{InProgress, in_progress},
};
use trunkline_toolbox::ToolError;

/// An open repository, for one call.
#[derive(Debug)]
pub(super) struct Repository<'a> {
    git: &'a Git,
    deadline: Instant,
    layout: Layout,
    common: CommonDir,
    settings: RepositorySettings,
    /// Nested repositories in the index, relative to the top directory.
    nested: Vec<PathBuf>,
}

impl<'a> Repository<'a> {
    /// Finds and checks the repository that contains `named`; an empty name means the first root.
    pub(super) async fn open(git: &'a Git, named: &str) -> Result<Self, ToolError> {
        let deadline = Instant::now() + git.options().deadline;
        let directory = git.roots().repository_directory(named)?;
        let roots = git.roots().clone();
        // Runs before the first git process, so that nothing outside of the roots is opened.
        let look = move || {
            let layout = discovery::find(&roots, &directory)?;
            enclosure::check(&roots, &layout).map(|()| layout)
        };
        let mut layout = spawn_blocking(look).await.map_err(|error| cannot_look(&error))??;
        let settings = settings::read(git, deadline, &layout).await?;
        if let Some(top) = layout.top.take() {
            check_worktree(git.roots(), &layout, &top, settings.worktree())?;
            layout.top = Some(top).filter(|_| !settings.is_bare());
        }
        let common = CommonDir::make(&layout.common_dir, &settings.file(), git.options().hooks)?;
        let mut repository = Self { git, deadline, layout, common, settings, nested: Vec::new() };
        let (nested, ()) = tokio::try_join!(index::check(&repository), repository.confirm())?;
        repository.nested = nested;
        Ok(repository)
    }

    /// Lets git search for the repository too: it checks the owner, and must find the same one.
    async fn confirm(&self) -> Result<(), ToolError> {
        let mut command = self.bound(Mode::Read).args(["rev-parse", "--absolute-git-dir"]);
        if self.layout.top.is_none() {
            // `discovery` has already accepted this bare repository.
            command = command.setting("safe.bareRepository", "all");
        }
        let found = real(Path::new(&command.ok().await?.text()))?;
        if found == self.layout.git_dir {
            return Ok(());
        }
        Err(ToolError::new("git finds another repository here than the one that was checked")
            .hint("Name the top directory of the repository."))
    }

    /// A command that only reads.
    pub(super) fn read(&self, command: &str) -> Invocation<'_> {
        self.invoke(Mode::Read).arg(command)
    }

    /// A command that changes the repository, but no file contents.
    pub(super) fn write(&self, command: &str) -> Invocation<'_> {
        self.invoke(Mode::Write).arg(command)
    }

    /// A command that checks files in or out, or merges them. Refused if the repository has
    /// drivers that may not run.
    pub(super) fn convert(&self, command: &str) -> Result<Invocation<'_>, ToolError> {
        if self.git.options().drivers == Drivers::Off {
            self.settings.without_drivers()?;
        }
        self.enclose_nested()?;
        Ok(self.write(command))
    }

    /// A command that uses the network. Refused if the repository has transport settings that were
    /// removed.
    pub(super) fn network(&self, command: &str) -> Result<Invocation<'_>, ToolError> {
        if self.git.options().drivers == Drivers::Off {
            self.settings.without_transport()?;
        }
        Ok(self.invoke(Mode::Network).arg(command))
    }

    fn invoke(&self, mode: Mode) -> Invocation<'_> {
        if mode != Mode::Read {
            self.common.prepare("logs");
        }
        // `GIT_DIR` is explicit, so that git uses the repository that was checked.
        let invocation = self.bound(mode).variable("GIT_DIR", &self.layout.git_dir);
        match &self.layout.top {
            Some(top) => invocation.variable("GIT_WORK_TREE", top),
            None => invocation.variable("GIT_IMPLICIT_WORK_TREE", "0"),
        }
    }

    /// A command with the filtered settings, and with ceilings at the roots.
    fn bound(&self, mode: Mode) -> Invocation<'_> {
        let ceilings: Vec<_> = self.git.roots().ceilings().map(Path::as_os_str).collect();
        Invocation::new(self.git, mode, self.directory(), self.deadline)
            .variable("GIT_CEILING_DIRECTORIES", ceilings.join(":".as_ref()))
            .variable("GIT_COMMON_DIR", self.common.path())
            .reaching(self.common.path())
    }

    /// The common directory, and its substitute for git.
    pub(super) fn common(&self) -> &CommonDir {
        &self.common
    }

    pub(super) fn git_dir(&self) -> &Path {
        &self.layout.git_dir
    }

    pub(super) fn settings(&self) -> &RepositorySettings {
        &self.settings
    }

    pub(super) fn git(&self) -> &Git {
        self.git
    }

    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    fn directory(&self) -> &Path {
        self.layout.top.as_deref().unwrap_or(&self.layout.git_dir)
    }

    /// The top directory of the working files.
    pub(super) fn top(&self) -> Result<&Path, ToolError> {
        self.layout.top.as_deref().ok_or_else(|| {
            ToolError::new("there are no working files here: the repository is bare, or this is its git directory")
                .hint("Use git_log, git_show, git_diff or git_branch, or name the directory with the working files.")
        })
    }

    /// Refuses if a part of a nested repository is outside of the roots, because git reads its
    /// current commit when it looks at the working files.
    pub(super) fn enclose_nested(&self) -> Result<(), ToolError> {
        self.nested.iter().try_for_each(|path| self.enclose_nested_at(path))
    }

    /// Same as [`Self::enclose_nested`], for one path that need not be in the index.
    pub(super) fn enclose_nested_at(&self, path: &Path) -> Result<(), ToolError> {
        let Some(top) = &self.layout.top else { return Ok(()) };
        match discovery::nested(self.git.roots(), &top.join(path))? {
            Some(layout) => enclosure::check_references(self.git.roots(), &layout),
            None => Ok(()),
        }
    }

    /// The name of the repository in answers.
    pub(super) fn name(&self) -> String {
        self.directory().display().to_string()
    }

    pub(super) fn in_progress(&self) -> Option<InProgress> {
        in_progress(&self.layout.git_dir)
    }

    /// Refuses `action` while a merge, rebase or similar operation is in progress.
    pub(super) fn at_rest(&self, action: &str) -> Result<(), ToolError> {
        self.in_progress().map_or(Ok(()), |state| Err(state.refuse(action)))
    }

    /// Refuses if git would apply stashed changes at the end of a merge, because they are not
    /// checked.
    pub(super) fn without_autostash(&self) -> Result<(), ToolError> {
        if self.layout.git_dir.join("MERGE_AUTOSTASH").symlink_metadata().is_err() {
            return Ok(());
        }
        Err(ToolError::new("the merge in progress has stashed changes (MERGE_AUTOSTASH)")
            .hint("Ask a person to finish or to abort it."))
    }

    /// The branch that is checked out; `None` if HEAD is detached.
    pub(super) async fn branch(&self) -> Result<Option<String>, ToolError> {
        let output = self.read("symbolic-ref").args(["--quiet", "HEAD"]).run().await?;
        Ok(output.text().strip_prefix("refs/heads/").map(Into::into))
    }

    /// The commit that is checked out; `None` before the first.
    pub(super) async fn head(&self) -> Result<Option<String>, ToolError> {
        let args = ["--verify", "--quiet", "--end-of-options", "HEAD^{commit}"];
        let output = self.read("rev-parse").args(args).run().await?;
        Ok(Some(output.text()).filter(|hash| output.is_success() && !hash.is_empty()))
    }

    /// The commit that is checked out, which must exist.
    pub(super) async fn born_head(&self) -> Result<String, ToolError> {
        self.head().await?.ok_or_else(|| {
            ToolError::new("the branch has no commit yet")
                .hint("Make the first commit with git_add and git_commit.")
        })
    }

    /// True if a reference of this full name exists.
    pub(super) async fn has(&self, reference: &str) -> Result<bool, ToolError> {
        let output = self.read("show-ref").args(["--verify", "--quiet", "--", reference]).run().await?;
        Ok(output.is_success())
    }

    /// The full hash of the commit that `revision` names.
    pub(super) async fn commit(&self, revision: &Revision) -> Result<String, ToolError> {
        self.resolve(revision, "^{commit}").await
    }

    /// The full hash of the object that `revision` names.
    pub(super) async fn object(&self, revision: &Revision) -> Result<String, ToolError> {
        self.resolve(revision, "").await
    }

    async fn resolve(&self, revision: &Revision, kind: &str) -> Result<String, ToolError> {
        let text = format!("{}{kind}", revision.as_str());
        let args = ["--verify", "--quiet", "--end-of-options", &text];
        let output = self.read("rev-parse").args(args).run().await?;
        let hash = output.text();
        if output.is_success() && hash.len() >= 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(hash);
        }
        if self.head().await?.is_none() {
            self.born_head().await?;
        }
        Err(ToolError::new(format!("there is no revision {:?}", revision.as_str()))
            .hint("Look at git_branch for branches, git_tag for tags, git_log for commits."))
    }
}

/// Refuses a repository whose `core.worktree` is not the work tree in which it was found.
fn check_worktree(
    roots: &Roots,
    layout: &Layout,
    top: &Path,
    worktree: Option<&str>,
) -> Result<(), ToolError> {
    let Some(worktree) = worktree else { return Ok(()) };
    let named = fs::canonicalize(layout.git_dir.join(worktree)).map_err(|_| leads_outside())?;
    if !roots.contain(&named) {
        return Err(leads_outside());
    }
    if named == top {
        return Ok(());
    }
    Err(ToolError::new("the repository's working files are in another directory (core.worktree)")
        .hint("Ask a person to remove `core.worktree` from its config."))
}

fn cannot_look(error: &JoinError) -> ToolError {
    ToolError::new("the repository cannot be looked at")
        .hint("Ask the operator to look at the log.")
        .detail(error.to_string())
}

fn real(path: &Path) -> Result<PathBuf, ToolError> {
    fs::canonicalize(path).map_err(|_| odd_path())
}

fn odd_path() -> ToolError {
    ToolError::new("the path of the repository cannot be used").hint("Move it to a path without line breaks.")
}
