//! A look at the repository's own settings, for those that name programs.

use std::path::{Path, PathBuf};

use super::{boundary::Roots, invocation::Invocation};
use trunkline_toolbox::ToolError;

/// Settings under which drivers have names of the repository's choosing: section and variable. They run when files
/// are checked in or out, or merged.
const DRIVERS: [(&str, &str); 6] = [
    ("filter", "clean"),
    ("filter", "smudge"),
    ("filter", "process"),
    // Without a program, this one alone makes git fail.
    ("filter", "required"),
    ("merge", "driver"),
    // Options of the command line, a strategy's program among them.
    ("branch", "mergeoptions"),
];

/// Settings that decide whom a network command talks to and what it tells; an empty variable means any.
const TRANSPORT: [(&str, &str); 14] = [
    ("http", ""),
    ("https", ""),
    ("url", ""),
    ("credential", ""),
    ("protocol", ""),
    ("bundle", ""),
    ("core", "gitproxy"),
    ("core", "sshcommand"),
    ("fetch", "bundleuri"),
    ("remote", "proxy"),
    ("remote", "proxyauthmethod"),
    ("remote", "receivepack"),
    ("remote", "uploadpack"),
    ("remote", "vcs"),
];

/// What was found in the settings that belong to the repository.
#[derive(Debug, Default, Clone)]
pub(super) struct Survey {
    drivers: Vec<String>,
    transport: Vec<String>,
}

#[derive(Debug)]
struct Entry {
    scope: String,
    origin: String,
    key: String,
    value: String,
}

/// Looks at the settings. `list` gives a fresh `git config` command; `directory` is where it runs.
pub(super) async fn survey<'a>(
    list: impl Fn() -> Invocation<'a>,
    directory: &Path,
    roots: &Roots,
) -> Result<Survey, ToolError> {
    let listing = ["--list", "-z", "--show-scope", "--show-origin"];
    // First without included files, so that one outside of the roots is not even opened.
    let output = list().arg("config").args(listing).arg("--no-includes").ok().await?;
    let mut entries = own(&output.raw_fields(), output.truncated())?;
    if check_includes(&entries, directory, roots)? {
        let output = list().arg("config").args(listing).arg("--includes").ok().await?;
        entries = own(&output.raw_fields(), output.truncated())?;
        check_includes(&entries, directory, roots)?;
    }
    let mut survey = Survey::default();
    for entry in entries {
        if is_listed(&DRIVERS, &entry.key) && !entry.value.is_empty() {
            survey.drivers.push(entry.key);
        } else if is_listed(&TRANSPORT, &entry.key) {
            survey.transport.push(entry.key);
        }
    }
    Ok(survey)
}

impl Survey {
    /// Settings that leave all filters found here without effect.
    pub(super) fn without_filters(&self) -> Vec<(String, &'static str)> {
        let mut settings = Vec::new();
        for key in self.drivers.iter().filter(|key| key.starts_with("filter.")) {
            let name = key.rsplit_once('.').map_or(key.as_str(), |(name, _)| name);
            if !key.ends_with(".required") {
                settings.push((key.clone(), ""));
            }
            // A required filter that does nothing would be an error.
            settings.push((format!("{name}.required"), "false"));
        }
        settings
    }

    /// Refuses what cannot be right while the repository's drivers do not run.
    pub(super) fn without_drivers(&self) -> Result<(), ToolError> {
        let Some(key) = self.drivers.first() else { return Ok(()) };
        Err(ToolError::new(format!("the repository's settings name a program that changes file contents ({key}), and such programs do not run here"))
            .hint("Reading tools work. For this one, ask the operator to allow drivers for this repository, or do it by hand."))
    }

    /// Refuses to use the network as the repository's settings would have it.
    pub(super) fn without_transport(&self) -> Result<(), ToolError> {
        let Some(key) = self.transport.first() else { return Ok(()) };
        Err(ToolError::new(format!(
            "the repository's settings change how remotes are reached ({}), which is not trusted here",
            super::failure::clean(key)
        ))
        .hint("Ask the operator to remove that setting or to allow drivers for this repository."))
    }
}

/// The entries that belong to the repository, not to the user or to us.
fn own(fields: &[Vec<u8>], truncated: bool) -> Result<Vec<Entry>, ToolError> {
    if truncated {
        return Err(ToolError::new("the repository's settings are too large to be checked")
            .hint("Ask a person to look at its config file."));
    }
    let mut entries = Vec::new();
    for fields in fields.chunks_exact(3) {
        let [scope, origin, entry] =
            [0, 1, 2].map(|index| String::from_utf8_lossy(&fields[index]).into_owned());
        let (key, value) = entry
            .split_once('\n')
            .map_or((entry.clone(), String::new()), |(key, value)| (key.into(), value.into()));
        if matches!(scope.as_str(), "local" | "worktree" | "unknown" | "submodule") {
            entries.push(Entry { scope, origin, key, value });
        }
    }
    Ok(entries)
}

/// Whether there are included files; refuses those outside of the roots.
fn check_includes(entries: &[Entry], directory: &Path, roots: &Roots) -> Result<bool, ToolError> {
    let mut found = false;
    for entry in entries.iter().filter(|entry| is_include(&entry.key)) {
        found = true;
        let origin = PathBuf::from(entry.origin.strip_prefix("file:").unwrap_or(&entry.origin));
        let base = directory.join(origin);
        let target = base.parent().unwrap_or(directory).join(&entry.value);
        // A missing file cannot be checked, and may appear later.
        let inside = std::fs::canonicalize(&target).is_ok_and(|real| roots.contain(&real));
        if entry.value.starts_with('~') || !inside {
            tracing::warn!(
                scope = entry.scope,
                "a repository's settings include a file outside of the roots"
            );
            return Err(ToolError::new(
                "the repository's settings include a file outside of the directories that are open here",
            )
            .hint("Ask the operator to remove `include.path` from its config, or to open that directory."));
        }
    }
    Ok(found)
}

fn is_include(key: &str) -> bool {
    key == "include.path" || key.starts_with("includeif.") && key.strip_suffix(".path").is_some()
}

/// Whether `key`, in git's canonical spelling, is in `table`.
fn is_listed(table: &[(&str, &str)], key: &str) -> bool {
    let section = key.split_once('.').map_or(key, |(section, _)| section);
    let variable = key.rsplit_once('.').map_or("", |(_, variable)| variable);
    table.iter().any(|(listed, name)| *listed == section && (name.is_empty() || *name == variable))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_matched_by_section_and_variable_whatever_the_name_between() {
        assert!(is_listed(&DRIVERS, "filter.a=b.c.clean"));
        assert!(is_listed(&TRANSPORT, "http.https://x.y/.extraheader"));
        assert!(is_listed(&TRANSPORT, "remote.origin.uploadpack"));
        assert!(!is_listed(&TRANSPORT, "remote.origin.url"));
        assert!(!is_listed(&DRIVERS, "merge.ff"));
    }

    #[test]
    fn a_filter_is_emptied_by_its_whole_name() {
        let survey = Survey { drivers: vec!["filter.a.b.clean".into()], transport: Vec::new() };
        assert_eq!(
            survey.without_filters(),
            [("filter.a.b.clean".into(), ""), ("filter.a.b.required".into(), "false")]
        );
    }
}
