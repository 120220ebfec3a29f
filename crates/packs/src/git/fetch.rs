//! `git_fetch`: fetches the branches of a remote.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    failure::clean,
    pack::{self, Git},
    remote::Remote,
    repository::Repository,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    repo_path: String,
    /// Name of the remote.
    #[serde(default = "origin")]
    remote: String,
    /// Remove remote-tracking branches that the remote no longer has.
    #[serde(default)]
    prune: bool,
}

/// The changes of a fetch.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Fetched {
    pub(super) remote: String,
    pub(super) updates: Vec<Update>,
}

/// A reference changed by a fetch.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Update {
    /// Full local name.
    pub(super) reference: String,
    /// Previous commit; missing for a new reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<String>,
    /// New commit; missing for a removed reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<String>,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_fetch", run)
        .title("Fetch from a remote")
        .description("Gets the branches of a remote into refs/remotes; local branches and files are not touched. Submodules are left out.")
        .additive()
        .idempotent()
        .open_world()
}

async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<Fetched>, ToolError> {
    let _changing = git.change().await;
    let repository = Repository::open(&git, &args.repo_path).await?;
    let remote = Remote::find(&repository, &args.remote).await?;
    let name = remote.as_str();
    // Explicit, because the configured refspec could overwrite any reference.
    let refspec = format!("+refs/heads/*:refs/remotes/{name}/*");
    let updates = fetch(&repository, &remote, &refspec, args.prune.then_some("--prune")).await?;
    let data = Fetched { remote: name.into(), updates };
    Ok(TextAndData { text: data.text(), data })
}

/// Fetches `refspec`, and returns the changes of the remote-tracking branches.
pub(super) async fn fetch(
    repository: &Repository<'_>,
    remote: &Remote,
    refspec: &str,
    option: Option<&str>,
) -> Result<Vec<Update>, ToolError> {
    let before = references(repository, remote).await?;
    let args =
        ["--quiet", "--no-recurse-submodules", "--no-auto-maintenance", "--upload-pack=git-upload-pack"];
    let command = repository.network("fetch")?.args(args).args(option);
    command.args(["--end-of-options", remote.as_str(), refspec]).ok().await?;
    let after = references(repository, remote).await?;
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let update = |name: &String| Update {
        reference: name.clone(),
        before: before.get(name).cloned(),
        after: after.get(name).cloned(),
    };
    Ok(names.into_iter().map(update).filter(|update| update.before != update.after).collect())
}

/// The remote-tracking branches.
async fn references(
    repository: &Repository<'_>,
    remote: &Remote,
) -> Result<BTreeMap<String, String>, ToolError> {
    let pattern = format!("refs/remotes/{}/", remote.as_str());
    let output =
        repository.read("for-each-ref").args(["--format=%(refname) %(objectname)", &pattern]).ok().await?;
    let text = output.raw_text();
    let pair = |line: &str| line.split_once(' ').map(|(name, hash)| (name.to_owned(), hash.to_owned()));
    Ok(text.lines().filter_map(pair).collect())
}

pub(super) fn origin() -> String {
    "origin".into()
}

impl Fetched {
    fn text(&self) -> String {
        if self.updates.is_empty() {
            return format!("Nothing new at {}", self.remote);
        }
        let line = |update: &Update| match &update.after {
            Some(after) => format!("{} is now {after}", update.reference),
            None => format!("{} is gone", update.reference),
        };
        let lines: Vec<_> = self.updates.iter().map(line).collect();
        clean(&lines.join("\n"))
    }
}
