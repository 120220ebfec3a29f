//! A repository that was found inside the roots and looked at; the only way to run git in one.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tokio::time::Instant;

use super::{
    environment::Mode,
    invocation::Invocation,
    options::Drivers,
    pack::Git,
    revision::Revision,
    state::{InProgress, in_progress},
    survey::{Survey, survey},
};
use trunkline_toolbox::ToolError;

/// An open repository, for one call.
#[derive(Debug)]
pub(super) struct Repository<'a> {
    git: &'a Git,
    deadline: Instant,
    git_dir: PathBuf,
    common_dir: PathBuf,
    top: Option<PathBuf>,
    survey: Survey,
}

impl<'a> Repository<'a> {
    /// Finds the repository that `named` lies in; an empty name means the first root.
    pub(super) async fn open(git: &'a Git, named: &str) -> Result<Self, ToolError> {
        let deadline = Instant::now() + git.options().deadline;
        let directory = git.roots().directory(named)?;
        let find = || ceiling(Invocation::new(git, Mode::Read, &directory, deadline), git);
        let query = ["rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir"];
        let mut found = find().args(query).arg("--show-toplevel").run().await?;
        if !found.is_success() {
            // Without working files the last question is an error.
            found = find().args(query).ok().await?;
        }
        let found = found.text();
        let lines: Vec<_> = found.split('\n').collect();
        let (git_dir, common_dir, top) = match lines[..] {
            [git_dir, common_dir] => (git_dir, common_dir, None),
            [git_dir, common_dir, top] => (git_dir, common_dir, Some(real(Path::new(top))?)),
            _ => return Err(odd_path()),
        };
        let (git_dir, common_dir) = (real(Path::new(git_dir))?, real(Path::new(common_dir))?);
        let mut repository = Self { git, deadline, git_dir, common_dir, top, survey: Survey::default() };
        repository.enclose()?;
        let directory = repository.directory();
        let survey = survey(|| repository.invoke(Mode::Read), directory, git.roots()).await?;
        repository.survey = survey;
        Ok(repository)
    }

    fn enclose(&self) -> Result<(), ToolError> {
        let roots = self.git.roots();
        let mut parts = vec![self.git_dir.as_path(), self.common_dir.as_path()];
        parts.extend(self.top.as_deref());
        roots.enclose(&parts, &self.common_dir.join("objects"))?;
        for directory in [&self.git_dir, &self.common_dir] {
            roots.enclose_links(directory)?;
            for inner in
                ["refs", "refs/heads", "refs/tags", "refs/remotes", "logs", "logs/refs", "info", "worktrees"]
            {
                roots.enclose_links(&directory.join(inner))?;
            }
        }
        Ok(())
    }

    /// A command that only looks.
    pub(super) fn read(&self, command: &str) -> Invocation<'_> {
        self.invoke(Mode::Read).arg(command)
    }

    /// A command that changes the repository, but no file contents.
    pub(super) fn write(&self, command: &str) -> Invocation<'_> {
        self.invoke(Mode::Write).arg(command)
    }

    /// A command that checks files in or out or merges them: refused while their drivers do not run.
    pub(super) fn convert(&self, command: &str) -> Result<Invocation<'_>, ToolError> {
        if self.git.options().drivers == Drivers::Off {
            self.survey.without_drivers()?;
        }
        Ok(self.write(command))
    }

    /// A command that talks to another machine: refused where the repository's settings meddle with that.
    pub(super) fn network(&self, command: &str) -> Result<Invocation<'_>, ToolError> {
        if self.git.options().drivers == Drivers::Off {
            self.survey.without_transport()?;
        }
        Ok(self.invoke(Mode::Network).arg(command))
    }

    fn invoke(&self, mode: Mode) -> Invocation<'_> {
        let invocation = Invocation::new(self.git, mode, self.directory(), self.deadline);
        // Named outright, so that what was checked is what is used.
        let mut invocation = ceiling(invocation, self.git).variable("GIT_DIR", &self.git_dir);
        if let Some(top) = &self.top {
            invocation = invocation.variable("GIT_WORK_TREE", top);
        }
        if self.git.options().drivers == Drivers::Off {
            for (key, value) in self.survey.without_filters() {
                invocation = invocation.setting(key, value);
            }
        }
        invocation
    }

    pub(super) fn git(&self) -> &Git {
        self.git
    }

    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    fn directory(&self) -> &Path {
        self.top.as_deref().unwrap_or(&self.git_dir)
    }

    /// The top directory of the working files.
    pub(super) fn top(&self) -> Result<&Path, ToolError> {
        self.top.as_deref().ok_or_else(|| {
            ToolError::new("there are no working files here: the repository is bare, or this is its git directory")
                .hint("Use git_log, git_show, git_diff or git_branch, or name the directory with the working files.")
        })
    }

    /// How the repository is called in answers.
    pub(super) fn name(&self) -> String {
        self.directory().display().to_string()
    }

    pub(super) fn in_progress(&self) -> Option<InProgress> {
        in_progress(&self.git_dir)
    }

    /// Refuses `action` in the middle of something.
    pub(super) fn at_rest(&self, action: &str) -> Result<(), ToolError> {
        self.in_progress().map_or(Ok(()), |state| Err(state.refuse(action)))
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

    /// Whether there is a reference of this full name.
    pub(super) async fn has(&self, reference: &str) -> Result<bool, ToolError> {
        let output = self.read("show-ref").args(["--verify", "--quiet", "--", reference]).run().await?;
        Ok(output.is_success())
    }

    /// The full name of the commit that `revision` means.
    pub(super) async fn commit(&self, revision: &Revision) -> Result<String, ToolError> {
        self.resolve(revision, "^{commit}").await
    }

    /// The full name of the object that `revision` means.
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

fn ceiling<'a>(invocation: Invocation<'a>, git: &Git) -> Invocation<'a> {
    let ceilings: Vec<_> = git.roots().ceilings().map(Path::as_os_str).collect();
    invocation.variable("GIT_CEILING_DIRECTORIES", ceilings.join(":".as_ref()))
}

fn real(path: &Path) -> Result<PathBuf, ToolError> {
    fs::canonicalize(path).map_err(|_| odd_path())
}

fn odd_path() -> ToolError {
    ToolError::new("the path of the repository cannot be used").hint("Move it to a path without line breaks.")
}
