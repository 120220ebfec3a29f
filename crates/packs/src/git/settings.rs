//! The settings of a repository: those passed to git, and those that cause commands to be refused.

use tokio::time::Instant;

use super::{
    allowed_settings::{Verdict, verdict},
    config_file::{self, ConfigEntry},
    discovery::Layout,
    failure::clean,
    pack::Git,
};
use trunkline_toolbox::ToolError;

/// Maximum length of a value that describes the repository format.
const LONGEST_FORMAT: usize = 64;

/// The settings of a repository.
#[derive(Debug, Default, Clone)]
pub(super) struct RepositorySettings {
    visible: Vec<ConfigEntry>,
    drivers: Vec<String>,
    transport: Vec<String>,
    bare: bool,
    worktree: Option<String>,
}

/// Reads and classifies the settings of the repository at `layout`.
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
    // A linked worktree reads these two only from its own file.
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
    fn sort(&mut self, git: &Git, entry: ConfigEntry) -> Result<(), ToolError> {
        match verdict(git.options(), &entry.key) {
            Verdict::Driver if !entry.text().is_empty() => self.drivers.push(entry.key),
            Verdict::Transport => self.transport.push(entry.key),
            // Not needed: the worktree's own file is already merged into the settings for git.
            Verdict::Format if entry.key == "extensions.worktreeconfig" => {}
            Verdict::Format => {
                check_format(&entry)?;
                self.visible.push(entry);
            }
            // A conditional setting is dropped, because its condition cannot be evaluated here.
            Verdict::Visible if !entry.conditional => self.visible.push(entry),
            Verdict::Visible | Verdict::Driver | Verdict::Hidden => {}
        }
        Ok(())
    }

    /// The settings passed to git, as a config file.
    pub(super) fn file(&self) -> Vec<u8> {
        config_file::write(self.visible.iter())
    }

    /// True if `core.bare` is set.
    pub(super) fn is_bare(&self) -> bool {
        self.bare
    }

    /// True if only a part of the files is checked out.
    pub(super) fn is_sparse(&self) -> bool {
        self.visible.iter().any(|entry| entry.key == "core.sparsecheckout" && entry.is_true())
    }

    /// The value of `core.worktree`, relative to the git directory.
    pub(super) fn worktree(&self) -> Option<&str> {
        self.worktree.as_deref()
    }

    /// Refuses if drivers were removed, because the result would be wrong without them.
    pub(super) fn without_drivers(&self) -> Result<(), ToolError> {
        let Some(key) = self.drivers.first() else { return Ok(()) };
        Err(ToolError::new(format!("the repository's settings name a program that changes file contents ({}), and such programs do not run here", clean(key)))
            .hint("Reading tools work. For this one, ask the operator to allow drivers for this repository, or do it by hand."))
    }

    /// Refuses if transport settings were removed.
    pub(super) fn without_transport(&self) -> Result<(), ToolError> {
        let Some(key) = self.transport.first() else { return Ok(()) };
        Err(ToolError::new(format!(
            "the repository's settings change how remotes are reached ({}), which is not trusted here",
            clean(key)
        ))
        .hint("Ask the operator to remove that setting or to allow drivers for this repository."))
    }
}

/// Refuses a format value that is not a plain word: newer versions of git accept paths there.
fn check_format(entry: &ConfigEntry) -> Result<(), ToolError> {
    let value = entry.text();
    let is_word = value.len() <= LONGEST_FORMAT
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    // The value of this one is the name of a remote.
    if is_word || entry.key == "extensions.partialclone" {
        return Ok(());
    }
    Err(ToolError::new(format!(
        "the repository's format setting {} is not understood here",
        clean(&entry.key)
    ))
    .hint("Ask a person to look at its config file."))
}
