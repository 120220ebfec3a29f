//! `git_fetch`: gets the branches of a remote.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    answer::Told,
    failure::clean,
    pack::{self, Git},
    remote::Remote,
    repository::Repository,
};
use crate::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// A directory in the repository; relative ones start at the first open directory, which is also the default.
    #[serde(default)]
    repo_path: String,
    /// Name of the remote.
    #[serde(default = "origin")]
    remote: String,
    /// Whether remote-tracking branches that the remote no longer has are removed.
    #[serde(default)]
    prune: bool,
}

/// What a fetch changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Fetched {
    pub(super) remote: String,
    pub(super) updates: Vec<Update>,
}

/// A reference that a fetch changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Update {
    /// Its full name here.
    pub(super) reference: String,
    /// The commit before; all zeros for a new one.
    pub(super) before: String,
    /// The commit now; all zeros for a removed one.
    pub(super) after: String,
    /// Whether commits were dropped from it.
    pub(super) forced: bool,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_fetch", run)
        .title("Fetch from a remote")
        .description("Gets the branches of a remote into refs/remotes; local branches and files are not touched. Submodules are left out.")
        .additive()
        .idempotent()
        .open_world()
}

async fn run(git: Arc<Git>, args: Args) -> Result<Told<Fetched>, ToolError> {
    let _changing = git.change().await;
    let repository = Repository::open(&git, &args.repo_path).await?;
    let remote = Remote::find(&repository, &args.remote).await?;
    let name = remote.as_str();
    // Written out, because the configured one could overwrite anything.
    let refspec = format!("+refs/heads/*:refs/remotes/{name}/*");
    let updates = fetch(&repository, &remote, &refspec, args.prune.then_some("--prune")).await?;
    let data = Fetched { remote: name.into(), updates };
    Ok(Told { text: data.text(), data })
}

/// Fetches `refspec`.
pub(super) async fn fetch(
    repository: &Repository<'_>,
    remote: &Remote,
    refspec: &str,
    option: Option<&str>,
) -> Result<Vec<Update>, ToolError> {
    let args =
        ["--porcelain", "--no-recurse-submodules", "--no-auto-maintenance", "--upload-pack=git-upload-pack"];
    let command = repository.network("fetch")?.args(args).args(option);
    let output = command.args(["--end-of-options", remote.as_str(), refspec]).ok().await?;
    Ok(output.raw_text().lines().filter_map(Update::parse).collect())
}

pub(super) fn origin() -> String {
    "origin".into()
}

impl Update {
    /// A flag, then `old new reference`.
    fn parse(line: &str) -> Option<Self> {
        let flag = line.chars().next()?;
        let mut columns = line.get(2..)?.split(' ');
        let (before, after) = (columns.next()?.into(), columns.next()?.into());
        let reference = columns.next()?.to_owned();
        (flag != '=').then_some(Self { reference, before, after, forced: flag == '+' })
    }
}

impl Fetched {
    fn text(&self) -> String {
        if self.updates.is_empty() {
            return format!("Nothing new at {}", self.remote);
        }
        let lines: Vec<_> = self
            .updates
            .iter()
            .map(|update| format!("{} is now {}", update.reference, update.after))
            .collect();
        clean(&lines.join("\n"))
    }
}
