//! Repositories that try to expose a file or repository outside of the root (G11, G12, G13).

#![expect(clippy::unwrap_used, reason = "a failure here is a failure of the test")]

mod git_support;

use std::{fs, os::unix::fs::symlink, path::Path};

use git_support::{Answered, Lab};
use serde_json::{Value, json};
use trunkline_packs::git::GitOptions;

/// Content of the file outside, which no answer may contain.
const SECRET: &str = "canary-5cd1";

/// A change that makes a repository hostile; the path is that of the file outside.
type Attack = fn(&Lab, &Path);

/// A repository whose every reading tool has something to show, and a file outside of the root.
fn lab() -> Lab {
    let lab = Lab::with_repository();
    let repo = lab.repo();
    lab.commit(&repo, "a.txt", "one\ntwo\nthree\nfour\n", "second");
    lab.git(&repo, &["branch", "side"]);
    lab.git(&repo, &["tag", "v1"]);
    lab.write("a.txt", "stashed\n");
    lab.git(&repo, &["stash", "push", "--quiet"]);
    lab.git(&repo, &["worktree", "add", "--quiet", "../second", "-b", "second"]);
    lab.write("a.txt", "one\ntwo\n");
    lab.write("new.txt", "new\n");
    fs::create_dir_all(repo.join(".git/info")).unwrap();
    fs::write(secret(&lab), format!("{SECRET}\n{SECRET} <ada@example.org>\n*.txt\n")).unwrap();
    lab
}

fn secret(lab: &Lab) -> std::path::PathBuf {
    lab.path("secret")
}

/// A repository outside of the root, whose commit message is secret, and its commit.
fn foreign(lab: &Lab) -> (std::path::PathBuf, String) {
    let path = lab.path("foreign");
    fs::create_dir(&path).unwrap();
    lab.git(&path, &["init", "--quiet", "--initial-branch=main", "--template="]);
    let commit = lab.commit(&path, "f.txt", &format!("{SECRET}\n"), SECRET);
    (path, commit)
}

/// The answers of every reading tool for `repo_path`.
async fn readings(lab: &Lab, repo_path: &str) -> Vec<(String, Answered)> {
    let mut answers = Vec::new();
    for (tool, args) in [
        ("git_status", json!({})),
        ("git_diff_unstaged", json!({})),
        ("git_diff_staged", json!({})),
        ("git_diff", json!({"target": "HEAD~1"})),
        ("git_diff", json!({"target": "HEAD~1..side"})),
        ("git_log", json!({})),
        ("git_log", json!({"revision": "HEAD@{1}"})),
        ("git_show", json!({"revision": "HEAD"})),
        ("git_show", json!({"revision": "HEAD:a.txt"})),
        ("git_show", json!({"revision": "deep/leak"})),
        ("git_blame", json!({"path": "a.txt"})),
        ("git_blame", json!({"path": "a.txt", "revision": "HEAD"})),
        ("git_branch", json!({"branch_type": "all"})),
        ("git_tag", json!({})),
        ("git_stash", json!({})),
        ("git_worktree", json!({})),
    ] {
        let mut args: Value = args;
        args["repo_path"] = json!(repo_path);
        answers.push((format!("{tool} {args}"), lab.read(tool, args).await));
    }
    answers
}

/// Fails if an answer contains a text from outside; returns the answers.
async fn assert_hidden(lab: &Lab, repo_path: &str, name: &str, secrets: &[&str]) -> Vec<(String, Answered)> {
    let answers = readings(lab, repo_path).await;
    for (call, answer) in &answers {
        for secret in secrets {
            let shown = answer.text.contains(secret) || answer.data.to_string().contains(secret);
            assert!(!shown, "{name}: {call} shows it: {} {}", answer.text, answer.data);
        }
    }
    answers
}

/// True for calls that fail in every repository, because their target does not exist.
fn has_no_target(call: &str) -> bool {
    call.contains("deep/leak") || call.contains("HEAD@{1}")
}

#[tokio::test]
async fn g11_an_embedded_bare_repository_is_not_opened() {
    let lab = lab();
    let theme = lab.repo().join("docs/theme");
    fs::create_dir_all(&theme).unwrap();
    lab.git(&lab.root(), &["clone", "--quiet", "--bare", "repo", &theme.display().to_string()]);
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n[blame]\n\tignoreRevsFile = {}\n",
        secret(&lab).display()
    );
    fs::write(theme.join("config"), config).unwrap();
    lab.write("docs/a.txt", "one\n");
    for path in ["repo/docs/theme", "repo/docs/theme/refs"] {
        for (call, answer) in assert_hidden(&lab, path, "embedded", &[SECRET]).await {
            let text = answer.err();
            assert!(text.contains("a bare repository inside a work tree"), "{call}: {text}");
        }
    }
    // The outer work tree can still be used from another directory.
    lab.read("git_log", json!({"repo_path": "repo/docs"})).await.ok();
}

#[tokio::test]
async fn g11_a_bare_repository_is_opened_only_by_its_own_name() {
    let lab = lab();
    lab.git(&lab.root(), &["clone", "--quiet", "--bare", "repo", "bare.git"]);
    lab.read("git_log", json!({"repo_path": "bare.git"})).await.ok();
    let text = lab.read("git_log", json!({"repo_path": "bare.git/refs"})).await.err();
    assert!(text.contains("belongs to a bare repository"), "{text}");
    // A common layout: worktrees next to a bare repository to which a `.git` file points.
    let project = lab.root().join("project");
    fs::create_dir(&project).unwrap();
    lab.git(&lab.root(), &["clone", "--quiet", "--bare", "repo", "project/.bare"]);
    fs::write(project.join(".git"), "gitdir: ./.bare\n").unwrap();
    lab.git(&project, &["worktree", "add", "--quiet", "main", "main"]);
    for path in ["project", "project/.bare", "project/main", "repo/.git"] {
        let log = lab.read("git_log", json!({"repo_path": path})).await.ok();
        assert_eq!(log["commits"][0]["subject"], "second", "{path}");
    }
    lab.read("git_status", json!({"repo_path": "project/main"})).await.ok();
    let listed = lab.read("git_worktree", json!({"repo_path": "project/main"})).await.ok();
    assert_eq!(listed["worktrees"][0]["path"], project.join(".bare").display().to_string());
    assert_eq!(
        [&listed["worktrees"][0]["bare"], &listed["worktrees"][1]["branch"]],
        [&json!(true), &json!("main")]
    );
    let text = lab.read("git_status", json!({"repo_path": "project"})).await.err();
    assert!(text.contains("no working files"), "{text}");
}

#[tokio::test]
async fn g11_working_files_in_another_directory_are_refused() {
    let lab = lab();
    fs::create_dir(lab.root().join("other")).unwrap();
    for (worktree, expected) in [("../../other", "another directory"), ("../../..", "outside")] {
        lab.set("core.worktree", worktree);
        let text = lab.read("git_status", json!({})).await.err();
        assert!(text.contains(expected), "{worktree}: {text}");
    }
    // A submodule has `core.worktree` set to its own work tree.
    lab.set("core.worktree", "..");
    lab.read("git_status", json!({})).await.ok();
}

#[tokio::test]
async fn g12_no_setting_of_a_repository_names_a_file_to_read() {
    for key in [
        "attr.tree",
        "blame.ignoreRevsFile",
        "commit.template",
        "core.attributesFile",
        "core.excludesFile",
        "core.hooksPath",
        "diff.orderFile",
        "fetch.fsck.skipList",
        "format.signatureFile",
        "gpg.ssh.allowedSignersFile",
        "mailmap.blob",
        "mailmap.file",
        "receive.fsck.skipList",
        "rerere.enabled",
    ] {
        let lab = lab();
        let file = secret(&lab).display().to_string();
        // Set twice, because an override would replace only one value of a list.
        for _ in 0..2 {
            lab.git(&lab.repo(), &["config", "--local", "--add", key, &file]);
        }
        for (call, answer) in assert_hidden(&lab, "repo", key, &[SECRET]).await {
            assert!(!answer.failed || has_no_target(&call), "{key}: {call} must still work: {}", answer.text);
        }
        let status = lab.read("git_status", json!({})).await.ok();
        assert!(status.to_string().contains("new.txt"), "{key} hides a file: {status}");
    }
}

#[tokio::test]
async fn g12_settings_of_a_worktree_and_of_included_files_count_too() {
    let lab = lab();
    let file = secret(&lab).display().to_string();
    let hostile = format!("[blame]\n\tignoreRevsFile = {file}\n[mailmap]\n\tfile = {file}\n");
    lab.set("core.repositoryFormatVersion", "1");
    lab.set("extensions.worktreeConfig", "true");
    fs::write(lab.repo().join(".git/config.worktree"), &hostile).unwrap();
    fs::write(lab.repo().join(".git/worktrees/second/config.worktree"), &hostile).unwrap();
    fs::write(lab.repo().join("included"), &hostile).unwrap();
    lab.set("include.path", "../included");
    lab.set("includeIf.gitdir:/.path", "../included");
    for path in ["repo", "second"] {
        for (call, answer) in assert_hidden(&lab, path, "worktree settings", &[SECRET]).await {
            assert!(!answer.failed || has_no_target(&call), "{call}: {}", answer.text);
        }
    }
}

#[tokio::test]
async fn g12_a_format_that_is_a_path_is_refused() {
    let lab = lab();
    lab.set("core.repositoryFormatVersion", "1");
    lab.set("extensions.refStorage", &format!("files://{}", lab.path("foreign").display()));
    let text = lab.read("git_log", json!({})).await.err();
    assert!(text.contains("extensions.refstorage"), "{text}");
}

#[tokio::test]
async fn g12_ordinary_and_unknown_settings_do_not_matter() {
    let lab = lab();
    for (key, value) in [
        ("user.name", "Grace \"G\" \\ Hopper # ; x"),
        ("user.email", "grace@example.net"),
        ("remote.origin.url", "https://example.org/x.git"),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
        ("branch.main.remote", "origin"),
        ("branch.main.merge", "refs/heads/main"),
        ("branch.main.vscode-merge-base", "origin/main"),
        ("core.fileMode", "false"),
        ("gitflow.prefix.feature", "feature/"),
        ("lfs.url", "https://example.org/lfs"),
        ("alias.st", "status"),
        ("pull.rebase", "true"),
    ] {
        lab.set(key, value);
    }
    fs::set_permissions(lab.repo().join("a.txt"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    lab.change("git_add", json!({"files": ["."]})).await.ok();
    lab.change("git_commit", json!({"message": "x"})).await.ok();
    let log = lab.read("git_log", json!({})).await.ok();
    assert_eq!(log["commits"][0]["author"]["name"], "Grace \"G\" \\ Hopper # ; x");
    assert!(lab.git(&lab.repo(), &["ls-tree", "HEAD", "a.txt"]).starts_with("100644"), "core.fileMode");
    assert_eq!(lab.git(&lab.repo(), &["config", "--get", "alias.st"]), "status");
}

#[tokio::test]
async fn g12_an_object_that_is_missing_is_not_fetched_to_read_it() {
    let lab = lab();
    let blob = lab.git(&lab.repo(), &["rev-parse", "HEAD:a.txt"]);
    fs::remove_file(lab.repo().join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    let canary = lab.canary();
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", &format!("ext::{canary} x")),
        ("remote.origin.uploadpack", &canary),
        ("protocol.ext.allow", "always"),
    ] {
        lab.set(key, value);
    }
    let answers = readings(&lab, "repo").await;
    lab.assert_silent("a promisor remote");
    let (_, shown) = answers.iter().find(|(call, _)| call.contains("HEAD:a.txt")).unwrap();
    assert!(shown.failed, "{}", shown.data);
}

#[tokio::test]
async fn g13_no_file_of_a_repository_is_a_link_to_the_outside() {
    let replace = |lab: &Lab, name: &str| {
        let path = lab.repo().join(".git").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::remove_file(&path).ok();
        symlink(secret(lab), path).unwrap();
    };
    for name in [
        "FETCH_HEAD",
        "HEAD",
        "MERGE_MSG",
        "ORIG_HEAD",
        "config",
        "config.worktree",
        "index",
        "info/attributes",
        "info/exclude",
        "info/grafts",
        "info/sparse-checkout",
        "logs/HEAD",
        "logs/refs/heads/deep/leak",
        "logs/refs/stash",
        "objects/info/alternates",
        "objects/info/commit-graphs/commit-graph-chain",
        "objects/pack/multi-pack-index",
        "packed-refs",
        "rebase-merge/head-name",
        "refs/heads/deep/leak",
        "refs/heads/side",
        "shallow",
        "worktrees/second/HEAD",
        "worktrees/second/gitdir",
        "worktrees/second/locked",
    ] {
        let lab = lab();
        replace(&lab, name);
        for (call, answer) in assert_hidden(&lab, "repo", name, &[SECRET]).await {
            let text = answer.err();
            assert!(text.contains("outside"), "{name}: {call}: {text}");
        }
    }
}

#[tokio::test]
async fn g13_nothing_of_a_repository_outside_is_shown() {
    let object = |objects: &Path, commit: &str| objects.join(&commit[..2]).join(&commit[2..]);
    let attacks: [(&str, Attack); 5] = [
        ("one directory of objects", |lab, objects| {
            let commit = lab.git(&lab.path("foreign"), &["rev-parse", "HEAD"]);
            let place = lab.repo().join(".git/objects").join(&commit[..2]);
            fs::remove_dir_all(&place).ok();
            symlink(objects.join(&commit[..2]), place).unwrap();
        }),
        ("one object", |_, _| {}),
        ("alternates whose path ends with a carriage return", |lab, objects| {
            symlink(objects, lab.repo().join(".git/store\r")).unwrap();
            fs::create_dir(lab.repo().join(".git/store")).unwrap();
            fs::create_dir_all(lab.repo().join(".git/objects/info")).unwrap();
            fs::write(lab.repo().join(".git/objects/info/alternates"), "../store\r\n").unwrap();
        }),
        ("a link inside that leads to one with a link outside", |lab, objects| {
            let middle = lab.root().join("middle");
            fs::create_dir(&middle).unwrap();
            for entry in fs::read_dir(objects).unwrap().flatten() {
                symlink(entry.path(), middle.join(entry.file_name())).unwrap();
            }
            fs::create_dir_all(lab.repo().join(".git/objects/info")).unwrap();
            fs::write(lab.repo().join(".git/objects/info/alternates"), format!("{}\n", middle.display()))
                .unwrap();
        }),
        ("a link to a pack", |lab, objects| {
            lab.git(&lab.path("foreign"), &["repack", "-q", "-a", "-d"]);
            fs::create_dir_all(lab.repo().join(".git/objects/pack")).unwrap();
            for entry in fs::read_dir(objects.join("pack")).unwrap().flatten() {
                symlink(entry.path(), lab.repo().join(".git/objects/pack").join(entry.file_name())).unwrap();
            }
        }),
    ];
    for (name, attack) in attacks {
        let lab = lab();
        let (path, commit) = foreign(&lab);
        let objects = path.join(".git/objects");
        attack(&lab, &objects);
        if name == "one object" {
            let place = object(&lab.repo().join(".git/objects"), &commit);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            symlink(object(&objects, &commit), place).unwrap();
        }
        fs::write(lab.repo().join(".git/refs/heads/leak"), format!("{commit}\n")).unwrap();
        let shown = lab.read("git_show", json!({"revision": commit})).await;
        assert!(shown.failed && shown.text.contains("outside"), "{name}: {} {}", shown.text, shown.data);
        assert_hidden(&lab, "repo", name, &[SECRET]).await;
    }
}

#[tokio::test]
async fn g13_the_commit_of_a_nested_repository_outside_is_not_shown() {
    let lab = lab();
    let (path, commit) = foreign(&lab);
    let inner = lab.repository("repo/nested");
    lab.git(&lab.repo(), &["add", "nested"]);
    lab.git(&lab.repo(), &["commit", "--quiet", "-m", "nested"]);
    fs::remove_dir_all(inner.join(".git")).unwrap();
    fs::write(inner.join(".git"), format!("gitdir: {}/.git\n", path.display())).unwrap();
    assert_hidden(&lab, "repo", "nested", &[SECRET, &commit]).await;
    let text = lab.read("git_diff_unstaged", json!({})).await.err();
    assert!(text.contains("outside"), "{text}");
    let text = lab.change("git_add", json!({"files": ["nested"]})).await.err();
    assert!(text.contains("outside"), "{text}");
}

#[tokio::test]
async fn g13_words_of_git_that_may_quote_a_file_are_not_shown() {
    let lab = lab();
    // A broken file inside the repository: git quotes it in its error, the tool must not.
    for (name, text) in [("shallow", format!("{SECRET}\n")), ("packed-refs", format!("{SECRET}\n"))] {
        let path = lab.repo().join(".git").join(name);
        fs::write(&path, text).unwrap();
        let (done, said) = Lab::try_git(&lab.repo(), &["log"]);
        assert!(!done && said.contains(SECRET), "{name}: {said}");
        let answers = assert_hidden(&lab, "repo", name, &[SECRET]).await;
        assert!(answers.iter().any(|(_, answer)| answer.failed), "{name}");
        fs::remove_file(path).unwrap();
    }
}

#[tokio::test]
async fn g13_every_git_on_this_machine_keeps_to_it() {
    for directory in ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"] {
        if !Path::new(directory).join("git").is_file() {
            continue;
        }
        let lab = lab();
        lab.set("blame.ignoreRevsFile", &secret(&lab).display().to_string());
        let options = || GitOptions { search: vec![directory.into()], ..lab.writing() };
        let blamed = lab.call(options(), "git_blame", json!({"path": "a.txt"})).await.ok();
        assert_eq!(blamed["lines"][0]["text"], "one", "{directory}");
        lab.call(options(), "git_add", json!({"files": ["."]})).await.ok();
        lab.call(options(), "git_commit", json!({"message": "third"})).await.ok();
        let added = json!({"action": "add", "path": "third", "branch": "third", "base": "main"});
        let worktrees = lab.call(options(), "git_worktree", added).await.ok();
        assert_eq!(worktrees["worktrees"][0]["path"], lab.repo().display().to_string(), "{directory}");
        // Plain git agrees about what was made.
        assert_eq!(lab.git(&lab.root().join("third"), &["log", "-1", "--format=%s"]), "third");
        let removed = json!({"action": "remove", "path": "third"});
        lab.call(options(), "git_worktree", removed).await.ok();
        assert!(!lab.root().join("third").exists());
    }
}
