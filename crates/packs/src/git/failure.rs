//! Translates git's errors into messages with a hint.

use std::{fmt::Write as _, time::Duration};

use super::invocation::Output;
use trunkline_process::SpawnError;
use trunkline_toolbox::ToolError;

/// Maximum length of git's text in an error.
const MESSAGE_LIMIT: usize = 2000;

/// Part of git's message (in the C locale), our message, and the hint. The first match is used.
const KNOWN: [(&str, &str, &str); 37] = [
    (
        "not a git repository",
        "this is not a git repository",
        "Name a directory inside a repository with `repo_path`, or make one with git_init.",
    ),
    (
        "detected dubious ownership",
        "the repository belongs to another user",
        "Ask the operator to change its owner, or to allow repositories of other users.",
    ),
    (
        ".lock': File exists",
        "another git process holds a lock on the repository",
        "Wait until it has finished and try again. If none is running, the lock file was left behind by a crash: ask a person to remove it.",
    ),
    (
        "does not have any commits yet",
        "the branch has no commit yet",
        "Make the first commit with git_add and git_commit.",
    ),
    (
        "ambiguous argument 'HEAD'",
        "the branch has no commit yet",
        "Make the first commit with git_add and git_commit.",
    ),
    (
        "unable to auto-detect email",
        "git does not know who commits",
        "Ask the operator to configure an identity (user.name and user.email).",
    ),
    (
        "empty ident name",
        "git does not know who commits",
        "Ask the operator to configure an identity (user.name and user.email).",
    ),
    (
        "auto-detection is disabled",
        "git does not know who commits",
        "Ask the operator to configure an identity (user.name and user.email).",
    ),
    (
        "cannot switch branch while",
        "something is in progress that must be finished first",
        "Look at git_status, then finish it or give it up.",
    ),
    (
        "You do not have the initial commit yet",
        "the branch has no commit yet",
        "Make the first commit with git_add and git_commit.",
    ),
    (
        "Please tell me who you are",
        "git does not know who commits",
        "Ask the operator to configure an identity (user.name and user.email).",
    ),
    (
        "must be run in a work tree",
        "the repository is bare: it has no working files",
        "Use git_log, git_show, git_diff or git_branch, or name another repository.",
    ),
    (
        "cannot be used without a working tree",
        "the repository is bare: it has no working files",
        "Use git_log, git_show, git_diff or git_branch, or name another repository.",
    ),
    (
        "would be overwritten by",
        "changes in the working files would be overwritten",
        "Commit them with git_commit, or put them aside with git_stash, then try again.",
    ),
    (
        "is already used by worktree",
        "the branch is checked out in another worktree",
        "Work in that worktree (see git_worktree), or use another branch.",
    ),
    (
        "already checked out at",
        "the branch is checked out in another worktree",
        "Work in that worktree (see git_worktree), or use another branch.",
    ),
    (
        "Not possible to fast-forward",
        "the branches have diverged, so a fast-forward is not possible",
        "Look at both with git_log, then combine them with git_merge.",
    ),
    (
        "(fetch first)",
        "the remote has commits that are missing here",
        "Get them with git_pull or git_fetch and git_merge, then push again.",
    ),
    (
        "(non-fast-forward)",
        "the remote branch has diverged from this one",
        "Get its commits with git_fetch, combine with git_merge, then push again.",
    ),
    (
        "[remote rejected]",
        "the remote did not accept the push",
        "Read its reason below; the branch may be protected.",
    ),
    (
        "terminal prompts disabled",
        "the remote asks for credentials, and none are configured",
        "Ask the operator to configure access to this remote.",
    ),
    (
        "could not read Username",
        "the remote asks for credentials, and none are configured",
        "Ask the operator to configure access to this remote.",
    ),
    (
        "Permission denied (publickey",
        "the remote does not accept our key",
        "Ask the operator to configure access to this remote.",
    ),
    (
        "Host key verification failed",
        "the remote's host key is not known",
        "Ask the operator to add it to the known hosts.",
    ),
    (
        "Could not resolve host",
        "the remote's host name is not known",
        "Check the remote's address; the network may be down.",
    ),
    (
        "' not allowed",
        "the transport of this address is not allowed",
        "Use an https or ssh address, or ask the operator to allow this one.",
    ),
    ("strange hostname", "the host name in the address starts with a dash", "Correct the address."),
    ("strange pathname", "the path in the address starts with a dash", "Correct the address."),
    ("beyond a symbolic link", "the path leads through a symbolic link", "Name the file by its real path."),
    (
        "are ignored by one of your .gitignore files",
        "the path is ignored by a .gitignore file",
        "Leave it out, or change .gitignore.",
    ),
    (
        "did not match any file",
        "there is no such file",
        "Look at git_status for the exact paths, relative to the repository's top directory.",
    ),
    (
        "no such path",
        "there is no such file at that revision",
        "Look at git_show with `revision:` for what the directory holds.",
    ),
    (
        "you need to resolve your current index first",
        "there are unresolved conflicts",
        "Edit the files named by git_status, git_add them, then git_commit; or give up with git_merge and action abort.",
    ),
    (
        "you have unmerged files",
        "there are unresolved conflicts",
        "Edit the files named by git_status, git_add them, then git_commit; or give up with git_merge and action abort.",
    ),
    (
        "contains modified or untracked files",
        "the worktree has changes that would be lost",
        "Commit or stash them there, or call again with `force`.",
    ),
    (
        "unrelated histories",
        "the two branches have no common history",
        "Check that this is the right branch.",
    ),
    (
        "out of memory",
        "git needed more memory than it may use",
        "Ask for less, for example one path or fewer commits.",
    ),
];

/// Git's errors about settings. They are not passed on, because they name files that a repository
/// may have chosen outside of the roots.
const SETTINGS: [&str; 7] = [
    "bad config",
    "bad numeric config",
    "bad boolean config",
    "in config file",
    "expand include path",
    "maximum include depth",
    "unable to access '",
];

/// Lines of git's output that are passed on: their prefix, and a text that they contain. The rest
/// of such a line is from the caller, the remote or git itself. All other lines may quote a file,
/// so they are written only to the log.
const SHOWN: [(&str, &str); 12] = [
    (" ! [", "]"),
    ("error: pathspec '", "' did not match any file"),
    ("fatal: pathspec '", "' did not match any file"),
    ("fatal: pathspec '", "' is beyond a symbolic link"),
    ("fatal: transport '", "' not allowed"),
    ("fatal: unable to access 'http", "': "),
    ("fatal: could not read Username for 'http", "': "),
    ("error: Your local changes to the following files would be overwritten by ", ":"),
    ("error: The following untracked working tree files would be overwritten by ", ":"),
    ("Host key verification failed.", ""),
    ("ssh: ", ""),
    ("remote: ", ""),
];

/// The error for a run that ended with a failure status.
pub(super) fn of(output: &Output) -> ToolError {
    with(output, "")
}

/// Same as [`of`], with an additional text `extra`, which is shown.
pub(super) fn with(output: &Output, extra: &str) -> ToolError {
    let said = output.stderr.text();
    let detail = clean(&format!("{extra}\n{said}"));
    let lower = detail.to_lowercase();
    let of_http = lower.contains("unable to access 'http");
    if SETTINGS.iter().any(|words| lower.contains(words)) && !of_http {
        return ToolError::new("the repository's settings cannot be read")
            .hint("Ask a person to look at its config file and at what that includes.")
            .detail(detail);
    }
    let known = KNOWN.iter().find(|(words, _, _)| lower.contains(&words.to_lowercase()));
    let (message, hint) = match known {
        Some((_, message, hint)) => ((*message).to_owned(), *hint),
        None => (
            format!("git failed ({})", output.ending),
            "Look at git_status and git_log for the state of the repository. Git's own words are in the operator's log.",
        ),
    };
    let shown = clean(&format!("{extra}\n{}", shown(&said)));
    let message = if shown.is_empty() { message } else { format!("{message}\ngit: {shown}") };
    ToolError::new(message).hint(hint).detail(detail)
}

/// The lines that are passed on, with the file names that belong to them.
fn shown(said: &str) -> String {
    let mut lines = Vec::new();
    let mut listing = false;
    for line in said.lines() {
        let known =
            |(start, part): &(&str, &str)| line.strip_prefix(start).is_some_and(|rest| rest.contains(part));
        if SHOWN.iter().any(known) {
            listing = line.ends_with(':');
            lines.push(line);
        } else if listing && line.starts_with('\t') {
            lines.push(line);
        } else {
            listing = false;
        }
    }
    lines.join("\n")
}

/// The error for a run that timed out.
pub(super) fn deadline(allowed: Duration) -> ToolError {
    ToolError::new(format!("git took longer than {} s and was stopped", allowed.as_secs_f64()))
        .hint("Ask for less: a single path, fewer commits, or a smaller range.")
}

/// The error for a run that could not be started.
pub(super) fn cannot_run(error: &SpawnError) -> ToolError {
    ToolError::new("git cannot be run").hint("Ask the operator to look at the log.").detail(error.to_string())
}

/// Git's text without terminal controls and credentials in addresses.
pub(super) fn clean(text: &str) -> String {
    let mut cleaned = String::new();
    for character in without_credentials(text.trim()).chars() {
        if character.is_control() && character != '\n' && character != '\t' {
            write!(cleaned, "\\x{:02x}", u32::from(character)).expect("writing to a string does not fail");
        } else {
            cleaned.push(character);
        }
        if cleaned.len() >= MESSAGE_LIMIT {
            cleaned.push('…');
            break;
        }
    }
    cleaned
}

/// `text` with `scheme://user:secret@host` turned into `scheme://host`.
pub(super) fn without_credentials(text: &str) -> String {
    let mut rest = text;
    let mut shown = String::new();
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let end = after
            .find(|c: char| c == '/' || c == '\'' || c == '"' || c.is_whitespace())
            .unwrap_or(after.len());
        let authority = &after[..end];
        shown.push_str(authority.rsplit_once('@').map_or(authority, |(_, host)| host));
        rest = &after[end..];
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_a_known_form_are_shown() {
        let said = "error: Your local changes to the following files would be overwritten by merge:\n\ta.txt\n\
                    Please commit them.\n\tsecret\nfatal: invalid object name: root:$6$secret\n\
                    fatal: bad shallow line: secret\nremote: denied";
        assert_eq!(
            shown(said),
            "error: Your local changes to the following files would be overwritten by merge:\n\ta.txt\nremote: denied"
        );
    }

    #[test]
    fn credentials_and_controls_are_not_shown() {
        let text = "fatal: 'https://me:pass@word@host/x' and ssh://git@h\u{1b}[31m";
        assert_eq!(clean(text), "fatal: 'https://host/x' and ssh://h\\x1b[31m");
    }
}
