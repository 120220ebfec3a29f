//! Allowlist of repository settings that are passed to git, by section and variable.
//!
//! A setting is on the list if its value is a switch, a number, a word, a person or the address of
//! a remote. A setting that names a file or a program, or could do so in a later version of git,
//! is not.

use super::options::{Drivers, GitOptions, Hooks};

/// Settings that are always passed to git.
const HARMLESS: &[(&str, &str)] = &[
    ("author", "email"),
    ("author", "name"),
    ("branch", "description"),
    ("branch", "merge"),
    ("branch", "pushremote"),
    ("branch", "rebase"),
    ("branch", "remote"),
    ("committer", "email"),
    ("committer", "name"),
    ("core", "autocrlf"),
    ("core", "bare"),
    ("core", "checkstat"),
    ("core", "commitgraph"),
    ("core", "eol"),
    ("core", "filemode"),
    ("core", "ignorecase"),
    ("core", "logallrefupdates"),
    ("core", "precomposeunicode"),
    ("core", "preloadindex"),
    ("core", "repositoryformatversion"),
    ("core", "safecrlf"),
    ("core", "sharedrepository"),
    ("core", "sparsecheckout"),
    ("core", "sparsecheckoutcone"),
    ("core", "splitindex"),
    ("core", "symlinks"),
    ("core", "trustctime"),
    ("diff", "algorithm"),
    ("diff", "indentheuristic"),
    ("diff", "renamelimit"),
    ("diff", "renames"),
    ("feature", "manyfiles"),
    ("fetch", "fsckobjects"),
    ("fetch", "prune"),
    ("index", "sparse"),
    ("index", "version"),
    ("merge", "conflictstyle"),
    ("merge", "directoryrenames"),
    ("merge", "renamelimit"),
    ("merge", "renames"),
    ("remote", "fetch"),
    ("remote", "partialclonefilter"),
    ("remote", "promisor"),
    ("remote", "prune"),
    ("remote", "pushurl"),
    ("remote", "tagopt"),
    ("remote", "url"),
    ("submodule", "active"),
    ("submodule", "url"),
    ("transfer", "fsckobjects"),
    ("user", "email"),
    ("user", "name"),
];

/// Programs that run when files are checked in or out, or merged. Passed to git only if the
/// operator allows drivers.
const DRIVERS: &[(&str, &str)] = &[
    ("filter", "clean"),
    ("filter", "smudge"),
    ("filter", "process"),
    // Without the filter's program, this setting makes git fail.
    ("filter", "required"),
    ("merge", "driver"),
    // Command line options of merge, which can name a strategy program.
    ("branch", "mergeoptions"),
];

/// Options of drivers; they have no effect without the drivers.
const DRIVER_OPTIONS: &[(&str, &str)] =
    &[("lfs", ""), ("merge", "default"), ("merge", "name"), ("merge", "recursive")];

/// Settings that determine the host of a network command and the data sent; an empty variable
/// matches any. Passed to git only if the operator allows drivers.
const TRANSPORT: &[(&str, &str)] = &[
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

/// Treatment of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Passed to git.
    Visible,
    /// Passed to git after validation: git needs it to read the repository at all.
    Format,
    /// Removed; commands that check files in or out, or merge them, are refused.
    Driver,
    /// Removed; commands that use the network are refused.
    Transport,
    /// Removed.
    Hidden,
}

/// The treatment of the setting `key`, in git's canonical spelling.
pub(super) fn verdict(options: &GitOptions, key: &str) -> Verdict {
    let drivers = options.drivers == Drivers::Run;
    if key.starts_with("extensions.") {
        return Verdict::Format;
    }
    if is_listed(DRIVERS, key) {
        return if drivers { Verdict::Visible } else { Verdict::Driver };
    }
    if is_listed(TRANSPORT, key) {
        return if drivers { Verdict::Visible } else { Verdict::Transport };
    }
    let visible = is_listed(HARMLESS, key)
        || drivers && is_listed(DRIVER_OPTIONS, key)
        || options.hooks == Hooks::Run && key == "core.hookspath";
    if visible { Verdict::Visible } else { Verdict::Hidden }
}

fn is_listed(table: &[(&str, &str)], key: &str) -> bool {
    let section = key.split_once('.').map_or(key, |(section, _)| section);
    let variable = key.rsplit_once('.').map_or("", |(_, variable)| variable);
    table.iter().any(|(listed, name)| *listed == section && (name.is_empty() || *name == variable))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn careful(key: &str) -> Verdict {
        verdict(&GitOptions::new(["/"]), key)
    }

    #[test]
    fn keys_are_matched_by_section_and_variable_whatever_the_name_between() {
        assert_eq!(careful("filter.a=b.c.clean"), Verdict::Driver);
        assert_eq!(careful("http.https://x.y/.extraheader"), Verdict::Transport);
        assert_eq!(careful("remote.origin.uploadpack"), Verdict::Transport);
        assert_eq!(careful("remote.origin.url"), Verdict::Visible);
        assert_eq!(careful("extensions.refstorage"), Verdict::Format);
    }

    #[test]
    fn settings_that_name_files_or_programs_are_hidden() {
        for key in [
            "alias.status",
            "attr.tree",
            "blame.ignorerevsfile",
            "commit.template",
            "core.alternaterefscommand",
            "core.attributesfile",
            "core.excludesfile",
            "core.fsmonitor",
            "core.hookspath",
            "core.worktree",
            "diff.evil.command",
            "diff.evil.textconv",
            "diff.orderfile",
            "fetch.fsck.skiplist",
            "format.signaturefile",
            "gc.recentobjectshook",
            "gpg.program",
            "gpg.ssh.allowedsignersfile",
            "include.path",
            "includeif.gitdir:/.path",
            "interactive.difffilter",
            "log.showsignature",
            "mailmap.file",
            "notes.displayref",
            "pager.log",
            "rerere.enabled",
            "sequence.editor",
            "submodule.sub.update",
            "trailer.sign.command",
            "unknown.setting",
            "uploadpack.packobjectshook",
        ] {
            assert_eq!(careful(key), Verdict::Hidden, "{key}");
        }
    }

    #[test]
    fn the_operator_can_open_drivers_and_hooks() {
        let open = GitOptions { drivers: Drivers::Run, hooks: Hooks::Run, ..GitOptions::new(["/"]) };
        for key in ["filter.lfs.clean", "merge.x.driver", "lfs.url", "http.proxy", "core.hookspath"] {
            assert_eq!(verdict(&open, key), Verdict::Visible, "{key}");
        }
        assert_eq!(verdict(&open, "blame.ignorerevsfile"), Verdict::Hidden);
    }
}
