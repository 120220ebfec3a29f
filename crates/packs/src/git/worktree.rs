//! `git_worktree`: lists, adds and removes linked worktrees of a repository.

use std::{fs, io, path::Path, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments::RepositoryOnly,
    common_dir::{CommonDir, WORKTREES},
    failure::clean,
    pack::{self, Git},
    repository::Repository,
    revision::{RefName, Revision},
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    repo_path: String,
    /// Action.
    #[serde(default)]
    action: Action,
    /// For `add` and `remove`: directory; relative paths start at the first open directory.
    #[serde(default)]
    path: Option<String>,
    /// For `add`: existing branch to check out, or with `base` the name of a new branch.
    #[serde(default)]
    branch: Option<String>,
    /// For `add`: revision at which `branch` is created.
    #[serde(default)]
    base: Option<String>,
    /// For `remove`: remove it even if it has changes, which are lost.
    #[serde(default)]
    force: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    List,
    Add,
    Remove,
}

/// The worktrees of a repository.
#[derive(Debug, Serialize, JsonSchema)]
struct Worktrees {
    worktrees: Vec<Worktree>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct Worktree {
    path: String,
    /// Missing before the first commit and in a bare repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// Missing if its HEAD is detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    bare: bool,
    locked: bool,
    /// True if its directory, which is inside the open directories, no longer exists.
    prunable: bool,
}

/// The read-only variant of the tool.
pub(super) fn list_tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_worktree", list)
        .title("List worktrees")
        .description("Lists the working directories of a repository with their branches.")
        .read_only()
        .idempotent()
        .closed_world()
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_worktree", run)
        .title("List, add or remove worktrees")
        .description("Lists the working directories of a repository, adds one for a branch, or removes one. They must lie inside the open directories.")
        .destructive()
        .not_idempotent()
        .closed_world()
}

async fn list(git: Arc<Git>, args: RepositoryOnly) -> Result<TextAndData<Worktrees>, ToolError> {
    answer(&Repository::open(&git, &args.repo_path).await?).await
}

async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<Worktrees>, ToolError> {
    let _changing = git.change().await;
    let repository = Repository::open(&git, &args.repo_path).await?;
    match args.action {
        Action::List => {}
        Action::Add => add(&repository, &args).await?,
        Action::Remove => remove(&repository, &args).await?,
    }
    answer(&repository).await
}

async fn add(repository: &Repository<'_>, args: &Args) -> Result<(), ToolError> {
    let (Some(path), Some(branch)) = (&args.path, &args.branch) else {
        return Err(
            ToolError::new("`path` or `branch` is missing").hint("Name both, and `base` for a new branch.")
        );
    };
    let branch = RefName::parse(branch)?;
    let path = repository.git().new_top(path)?;
    if path.exists() {
        return Err(ToolError::new("there is something at `path` already").hint("Name a new directory."));
    }
    let exists = repository.has(&branch.branch()).await?;
    let mut command = repository.convert("worktree")?.args(["add", "--quiet", "--no-guess-remote"]);
    let start = match &args.base {
        Some(_) if exists => {
            return Err(ToolError::new("there is a branch of that name already")
                .hint("Leave `base` out to check it out."));
        }
        Some(base) => {
            command = command.args(["--no-track", "-b", branch.as_str()]);
            repository.commit(&Revision::parse(base)?).await?
        }
        None if exists => branch.as_str().to_owned(),
        None => {
            return Err(ToolError::new(format!("there is no branch {:?}", branch.as_str()))
                .hint("Name a `base` to make it, or see git_branch."));
        }
    };
    repository.common().prepare(WORKTREES);
    command.arg("--end-of-options").arg(&path).arg(start).ok().await?;
    connect(repository.common(), &path)
}

/// Makes the new worktree at `path` point to the repository: git has written the path of the
/// substitute common directory.
fn connect(common: &CommonDir, path: &Path) -> Result<(), ToolError> {
    let file = path.join(".git");
    let connect = || {
        let text = fs::read_to_string(&file)?;
        let stand_in = format!("gitdir: {}/{WORKTREES}/", common.path().display());
        match text.strip_prefix(&stand_in) {
            Some(name) => {
                let real = common.real().join(WORKTREES).join(name);
                fs::write(&file, format!("gitdir: {}", real.display()))
            }
            None => Err(io::ErrorKind::InvalidData.into()),
        }
    };
    connect().map_err(|error: io::Error| {
        ToolError::new("the new worktree does not lead to its repository")
            .hint("Remove it with action `remove` and `force`, then try again.")
            .detail(error.to_string())
    })
}

async fn remove(repository: &Repository<'_>, args: &Args) -> Result<(), ToolError> {
    let Some(path) = &args.path else {
        return Err(ToolError::new("`path` is missing").hint("Name the worktree; see action `list`."));
    };
    let path = repository.git().roots().repository_directory(path)?;
    let known = worktrees(repository).await?.iter().skip(1).any(|worktree| Path::new(&worktree.path) == path);
    if !known {
        return Err(
            ToolError::new("this is not a further worktree of the repository").hint("See action `list`.")
        );
    }
    repository.keeps_inside(&path)?;
    let command = repository.write("worktree").args(["remove"]).args(args.force.then_some("--force"));
    command.arg("--end-of-options").arg(path).ok().await?;
    Ok(())
}

async fn worktrees(repository: &Repository<'_>) -> Result<Vec<Worktree>, ToolError> {
    let fields = repository.read("worktree").args(["list", "--porcelain", "-z"]).ok().await?.fields();
    let mut found: Vec<Worktree> = Vec::new();
    for field in fields {
        let (key, value) = field.split_once(' ').unwrap_or((&field, ""));
        match (key, found.last_mut()) {
            ("worktree", _) => found.push(Worktree { path: value.into(), ..Worktree::default() }),
            ("HEAD", Some(last)) => {
                last.commit = Some(value.into()).filter(|hash: &String| hash.bytes().any(|b| b != b'0'));
            }
            ("branch", Some(last)) => last.branch = value.strip_prefix("refs/heads/").map(Into::into),
            ("bare", Some(last)) => last.bare = true,
            ("locked", Some(last)) => last.locked = true,
            ("prunable", Some(last)) => last.prunable = true,
            _ => {}
        }
    }
    // The main worktree is first; git reports it under the path of the substitute.
    if let Some(main) = found.first_mut() {
        let real = repository.common().real();
        let top = real.parent().filter(|_| real.file_name().is_some_and(|name| name == ".git"));
        main.path = top.unwrap_or(real).display().to_string();
    }
    // The existence of a directory outside of the roots is not told.
    let roots = repository.git().roots();
    for worktree in found.iter_mut().filter(|worktree| !roots.contain(Path::new(&worktree.path))) {
        worktree.prunable = false;
    }
    Ok(found)
}

async fn answer(repository: &Repository<'_>) -> Result<TextAndData<Worktrees>, ToolError> {
    let data = Worktrees { worktrees: worktrees(repository).await? };
    let line = |worktree: &Worktree| {
        clean(&format!("{} {}", worktree.path, worktree.branch.as_deref().unwrap_or("(no branch)")))
    };
    Ok(TextAndData { text: data.worktrees.iter().map(line).collect::<Vec<_>>().join("\n"), data })
}
