//! The settings of a repository, sorted: those that git may see, and those that make a command be refused.

use tokio::time::Instant;

use super::{
    allowed_settings::{Verdict, verdict},
    config_file::{self, Entry},
    discovery::Layout,
    failure::clean,
    pack::Git,
};
use trunkline_toolbox::ToolError;

/// Longest value of a setting that says how the repository is stored.
const LONGEST_FORMAT: usize = 64;

/// The settings of a repository.
#[derive(Debug, Default, Clone)]
pub(super) struct RepositorySettings {
    visible: Vec<Entry>,
    drivers: Vec<String>,
    transport: Vec<String>,
    bare: bool,
    worktree: Option<String>,
}

/// Reads and sorts the settings of the repository at `layout`.
pub(super) async fn read(
    git: &Git,
    deadline: Instant,
    layout: &Layout,
) -> Result<RepositorySettings, ToolError> {
    let shared = config_file::read(git, deadline, &layout.common_dir.join("config")).await?;
    let per_worktree = shared.iter().rfind(|entry| entry.key == "extensions.worktreeconfig");
    let own = match per_worktree {
        Some(entry) if entry.is_true() => {
            config_file::read(git, deadline, &layout.git_dir.join("config.worktree")).await?
        }
        _ => Vec::new(),
    };
    let mut settings = RepositorySettings::default();
    // A linked worktree takes these two from its own file only.
    let linked = layout.common_dir != layout.git_dir;
    for entry in shared.iter().filter(|_| !linked).chain(&own).filter(|entry| !entry.conditional) {
        match entry.key.as_str() {
            "core.bare" => settings.bare = entry.is_true(),
            "core.worktree" => settings.worktree = Some(entry.text()),
            _ => {}
        }
    }
    for entry in shared.into_iter().chain(own) {
        settings.sort(git, entry)?;
    }
    Ok(settings)
}

impl RepositorySettings {
    fn sort(&mut self, git: &Git, entry: Entry) -> Result<(), ToolError> {
        match verdict(git.options(), &entry.key) {
            Verdict::Driver if !entry.text().is_empty() => self.drivers.push(entry.key),
            Verdict::Transport => self.transport.push(entry.key),
            // Its file was read and is part of what git gets.
            Verdict::Format if entry.key == "extensions.worktreeconfig" => {}
            Verdict::Format => {
                check_format(&entry)?;
                self.visible.push(entry);
            }
            // Whether the condition holds is for git to say, and git does not see it.
            Verdict::Visible if !entry.conditional => self.visible.push(entry),
            Verdict::Visible | Verdict::Driver | Verdict::Hidden => {}
        }
        Ok(())
    }

    /// The settings that git may see, as a file.
    pub(super) fn file(&self) -> Vec<u8> {
        config_file::write(self.visible.iter())
    }

    /// True if the repository says that it has no working files.
    pub(super) fn is_bare(&self) -> bool {
        self.bare
    }

    /// The directory of working files that the repository names, relative to its git directory.
    pub(super) fn worktree(&self) -> Option<&str> {
        self.worktree.as_deref()
    }

    /// Refuses what cannot be right while the repository's drivers do not run.
    pub(super) fn without_drivers(&self) -> Result<(), ToolError> {
        let Some(key) = self.drivers.first() else { return Ok(()) };
        Err(ToolError::new(format!("the repository's settings name a program that changes file contents ({}), and such programs do not run here", clean(key)))
            .hint("Reading tools work. For this one, ask the operator to allow drivers for this repository, or do it by hand."))
    }

    /// Refuses to use the network as the repository's settings would have it.
    pub(super) fn without_transport(&self) -> Result<(), ToolError> {
        let Some(key) = self.transport.first() else { return Ok(()) };
        Err(ToolError::new(format!(
            "the repository's settings change how remotes are reached ({}), which is not trusted here",
            clean(key)
        ))
        .hint("Ask the operator to remove that setting or to allow drivers for this repository."))
    }
}

/// Refuses a format that is more than a word: newer versions of git take paths there.
fn check_format(entry: &Entry) -> Result<(), ToolError> {
    let value = entry.text();
    let is_word = value.len() <= LONGEST_FORMAT
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    // This one is the name of a remote.
    if is_word || entry.key == "extensions.partialclone" {
        return Ok(());
    }
    Err(ToolError::new(format!(
        "the repository's format setting {} is not understood here",
        clean(&entry.key)
    ))
    .hint("Ask a person to look at its config file."))
}
