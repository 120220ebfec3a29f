//! Repositories that try to run a program (G03, G04), and repositories in odd states (G10).

#![expect(clippy::unwrap_used, reason = "a failure here is a failure of the test")]

mod git_support;

use std::{fs, os::unix::fs::symlink};

use git_support::{Answered, Lab};
use serde_json::{Value, json};

/// Settings that name a program, with `{}` for the canary; grouped so that none overrides another.
const SETTINGS: [&[(&str, &str)]; 7] = [
    &[
        ("core.fsmonitor", "{}"),
        ("core.hooksPath", "HOOKS"),
        ("core.pager", "{}"),
        ("core.editor", "{}"),
        ("core.askPass", "{}"),
        ("core.sshCommand", "{}"),
        ("core.gitProxy", "{}"),
        ("core.alternateRefsCommand", "{}"),
        ("sequence.editor", "{}"),
    ],
    &[
        ("pager.log", "{}"),
        ("pager.diff", "{}"),
        ("pager.status", "{}"),
        ("pager.show", "{}"),
        ("pager.blame", "{}"),
        ("pager.branch", "{}"),
    ],
    &[("diff.external", "{}")],
    &[("diff.evil.command", "{}"), ("diff.evil.textconv", "{}")],
    &[
        ("filter.evil.clean", "{}"),
        ("filter.evil.smudge", "{}"),
        ("filter.evil.process", "{}"),
        ("filter.evil.required", "true"),
    ],
    &[
        ("merge.evil.driver", "{} %A"),
        ("merge.default", "evil"),
        ("interactive.diffFilter", "{}"),
        ("alias.status", "!{}"),
        ("alias.log", "!{}"),
        ("credential.helper", "!{}"),
    ],
    &[
        ("gpg.program", "{}"),
        ("gpg.ssh.program", "{}"),
        ("gpg.format", "ssh"),
        ("user.signingKey", "/dev/null"),
        ("commit.gpgSign", "true"),
        ("tag.gpgSign", "true"),
        ("log.showSignature", "true"),
        ("merge.verifySignatures", "true"),
        ("gc.auto", "1"),
        ("gc.recentObjectsHook", "{}"),
        ("trailer.sign.command", "{}"),
        ("uploadpack.packObjectsHook", "{}"),
        ("receive.procReceiveRefs", "refs"),
        ("core.attributesFile", "ATTRIBUTES"),
        ("diff.submodule", "diff"),
    ],
];

const HOOKS: [&str; 14] = [
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-checkout",
    "pre-merge-commit",
    "post-merge",
    "pre-push",
    "reference-transaction",
    "post-index-change",
    "pre-auto-gc",
    "post-rewrite",
    "fsmonitor-watchman",
    "pre-rebase",
];

/// Calls every tool, in an order in which each one has something to do.
async fn everything(lab: &Lab) -> Vec<(&'static str, Answered)> {
    let reading: [(&str, Value); 12] = [
        ("git_status", json!({})),
        ("git_diff_unstaged", json!({})),
        ("git_diff_staged", json!({})),
        ("git_diff", json!({"target": "HEAD~1"})),
        ("git_diff", json!({"target": "HEAD~1..side"})),
        ("git_log", json!({})),
        ("git_show", json!({"revision": "HEAD"})),
        ("git_show", json!({"revision": "HEAD:a.txt"})),
        ("git_blame", json!({"path": "a.txt"})),
        ("git_branch", json!({"branch_type": "all"})),
        ("git_stash", json!({})),
        ("git_worktree", json!({})),
    ];
    let changing: [(&str, Value); 12] = [
        ("git_add", json!({"files": ["."]})),
        ("git_commit", json!({"message": "x"})),
        ("git_reset", json!({})),
        ("git_stash", json!({"action": "push"})),
        ("git_stash", json!({"action": "pop"})),
        ("git_stash", json!({"action": "push"})),
        ("git_merge", json!({"branch": "side"})),
        ("git_create_branch", json!({"branch_name": "new"})),
        ("git_checkout", json!({"branch_name": "side"})),
        ("git_tag", json!({"action": "create", "name": "t", "message": "m"})),
        ("git_worktree", json!({"action": "add", "path": "second", "branch": "third", "base": "main"})),
        ("git_fetch", json!({})),
    ];
    let mut answers = Vec::new();
    for (tool, args) in reading {
        answers.push((tool, lab.read(tool, args).await));
    }
    for (tool, args) in changing {
        answers.push((tool, lab.call(lab.networking(), tool, args).await));
    }
    answers
}

/// A repository for [`everything`], with driver attributes on every file.
fn rich() -> Lab {
    let lab = Lab::with_repository();
    let repo = lab.repo();
    lab.git(&repo, &["checkout", "--quiet", "-b", "side"]);
    lab.commit(&repo, "a.txt", "one\nside\nthree\n", "side");
    lab.git(&repo, &["checkout", "--quiet", "main"]);
    lab.commit(&repo, "a.txt", "one\ntwo\nthree\nfour\n", "second");
    lab.commit(&repo, "b.txt", "b\n", "third");
    let remote = lab.path("remote.git").display().to_string();
    lab.git(&lab.root(), &["clone", "--quiet", "--bare", "repo", &remote]);
    lab.git(&repo, &["remote", "add", "origin", &remote]);
    fs::create_dir_all(repo.join(".git/info")).unwrap();
    fs::write(repo.join(".git/info/attributes"), "* diff=evil merge=evil\n").unwrap();
    // Same size as before, so that git must compare the contents.
    lab.write("b.txt", "c\n");
    lab
}

/// Adds the filter attribute to every file.
fn filtered(lab: &Lab) {
    fs::write(lab.repo().join(".git/info/attributes"), "* filter=evil diff=evil merge=evil\n").unwrap();
}

fn hostile(lab: &Lab, key: &str, value: &str) {
    let hooks = lab.path("hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in HOOKS {
        symlink(lab.canary(), hooks.join(hook)).ok();
    }
    fs::write(lab.path("attributes"), "* filter=evil\n").unwrap();
    let value = value
        .replace("{}", &lab.canary())
        .replace("HOOKS", &hooks.display().to_string())
        .replace("ATTRIBUTES", &lab.path("attributes").display().to_string());
    lab.set(key, &value);
    if key.starts_with("filter.") {
        filtered(lab);
    }
}

#[tokio::test]
async fn g03_the_canary_would_run_without_our_care() {
    // Proves that plain git runs these programs; otherwise the other tests would prove nothing.
    for (key, value, command) in [
        ("core.fsmonitor", "{}", &["status"][..]),
        ("diff.external", "{}", &["diff"]),
        ("diff.evil.textconv", "{}", &["diff"]),
        ("filter.evil.clean", "{}", &["diff"]),
        ("core.hooksPath", "HOOKS", &["commit", "--allow-empty", "-m", "x"]),
    ] {
        let lab = rich();
        hostile(&lab, key, value);
        Lab::try_git(&lab.repo(), command);
        assert!(lab.mark().exists(), "{key}");
    }
}

#[tokio::test]
async fn g03_no_setting_of_a_repository_runs_a_program() {
    for group in SETTINGS {
        let lab = rich();
        for (key, value) in group {
            hostile(&lab, key, value);
        }
        let key = group[0].0;
        let answers = everything(&lab).await;
        lab.assert_silent(key);
        for (tool, answer) in answers.iter().take(12) {
            assert!(!answer.failed, "{key}: {tool} must still work: {}", answer.text);
        }
        let (_, committed) = answers.iter().find(|(tool, _)| *tool == "git_commit").unwrap();
        let driven = key.starts_with("filter.") || key.starts_with("merge.");
        assert_eq!(committed.failed, driven, "{key}: {}", committed.text);
    }
}

#[tokio::test]
async fn g03_all_settings_of_a_repository_together_run_nothing() {
    let lab = rich();
    for (key, value) in SETTINGS.concat() {
        hostile(&lab, key, value);
    }
    everything(&lab).await;
    lab.assert_silent("all settings");
}

#[tokio::test]
async fn g03_included_settings_run_nothing_and_outside_files_are_not_read() {
    let lab = rich();
    filtered(&lab);
    let canary = lab.canary();
    let text = format!(
        "[core]\nfsmonitor = {canary}\npager = {canary}\n[filter \"evil\"]\nclean = {canary}\nsmudge = {canary}\n"
    );
    fs::write(lab.repo().join("included"), &text).unwrap();
    lab.set("include.path", "../included");
    let answers = everything(&lab).await;
    lab.assert_silent("include.path");
    assert!(!answers[0].1.failed, "{}", answers[0].1.text);
    let refused = lab.change("git_add", json!({"files": ["."]})).await.err();
    assert!(refused.contains("filter.evil"), "{refused}");
    fs::write(lab.path("outside"), &text).unwrap();
    for (key, value) in [
        ("include.path", lab.path("outside").display().to_string()),
        ("include.path", "../../../outside".into()),
        ("include.path", "~/outside".into()),
        ("includeIf.gitdir:/.path", lab.path("outside").display().to_string()),
    ] {
        lab.git(&lab.repo(), &["config", "--local", "--unset-all", "include.path"]);
        lab.set(key, &value);
        let text = lab.read("git_status", json!({})).await.err();
        assert!(text.contains("include a file outside"), "{value}: {text}");
        lab.set("include.path", "../included");
    }
    lab.assert_silent("includes from outside");
}

#[tokio::test]
async fn g03_a_file_from_outside_that_is_no_settings_file_is_not_named() {
    let lab = rich();
    fs::write(lab.path("outside-secret"), "this is [no settings file\n").unwrap();
    let outside = lab.path("outside-secret").display().to_string();
    fs::write(lab.repo().join("included"), format!("[include]\npath = {outside}\n")).unwrap();
    let config = lab.repo().join(".git/config");
    let plain = fs::read_to_string(&config).unwrap();
    for include in [outside.as_str(), "../included"] {
        // Written by hand, because git does not change a config file that it cannot read.
        fs::write(&config, format!("{plain}[include]\npath = {include}\n")).unwrap();
        for (tool, answer) in everything(&lab).await {
            assert!(!answer.text.contains("outside-secret"), "{tool}: {}", answer.text);
        }
        let text = lab.read("git_status", json!({})).await.err();
        assert!(text.contains("settings"), "{include}: {text}");
    }
}

#[tokio::test]
async fn g03_settings_of_one_worktree_run_nothing() {
    let lab = rich();
    filtered(&lab);
    let canary = lab.canary();
    lab.set("extensions.worktreeConfig", "true");
    fs::write(
        lab.repo().join(".git/config.worktree"),
        format!("[filter \"evil\"]\nclean = {canary}\n[core]\nfsmonitor = {canary}\n"),
    )
    .unwrap();
    everything(&lab).await;
    lab.assert_silent("config.worktree");
    lab.change("git_add", json!({"files": ["."]})).await.err();
}

#[tokio::test]
async fn g03_what_needs_a_driver_is_refused_and_changes_nothing() {
    let lab = rich();
    filtered(&lab);
    lab.set("filter.evil.clean", &lab.canary());
    let before = lab.git(&lab.repo(), &["for-each-ref"]);
    for (tool, args) in [
        ("git_add", json!({"files": ["b.txt"]})),
        ("git_checkout", json!({"branch_name": "side"})),
        ("git_merge", json!({"branch": "side"})),
        ("git_stash", json!({"action": "push"})),
        ("git_worktree", json!({"action": "add", "path": "second", "branch": "x", "base": "main"})),
    ] {
        let text = lab.change(tool, args).await.err();
        assert!(text.contains("filter.evil.clean") && text.contains("ask the operator"), "{tool}: {text}");
    }
    assert_eq!(lab.git(&lab.repo(), &["for-each-ref"]), before);
    lab.assert_silent("refused tools");
}

#[tokio::test]
async fn g03_a_file_that_wants_a_filter_is_not_stored_without_it() {
    let lab = Lab::with_repository();
    lab.write(".gitattributes", "*.bin filter=lfs\n");
    lab.write("data.bin", "large\n");
    lab.write("plain.txt", "x\n");
    let text = lab.change("git_add", json!({"files": ["."]})).await.err();
    assert!(text.contains("\"data.bin\" must go through the filter \"lfs\""), "{text}");
    lab.change("git_add", json!({"files": ["plain.txt", ".gitattributes"]})).await.ok();
    assert_eq!(lab.git(&lab.repo(), &["diff", "--cached", "--name-only"]), ".gitattributes\nplain.txt");
}

#[tokio::test]
async fn g03_a_bare_repository_hidden_in_a_checkout_runs_nothing() {
    let lab = rich();
    lab.git(&lab.repo(), &["init", "--quiet", "--bare", "nested"]);
    let canary = lab.canary();
    let config = lab.repo().join("nested/config");
    fs::write(
        &config,
        format!("[core]\nrepositoryformatversion = 0\nbare = false\nworktree = ..\nfsmonitor = {canary}\n"),
    )
    .unwrap();
    lab.read("git_status", json!({"repo_path": "repo/nested"})).await;
    lab.read("git_log", json!({"repo_path": "repo/nested"})).await;
    lab.assert_silent("a nested repository");
}

#[tokio::test]
async fn g04_hooks_stay_off() {
    let lab = rich();
    fs::remove_file(lab.repo().join(".git/info/attributes")).unwrap();
    fs::create_dir_all(lab.repo().join(".git/hooks")).unwrap();
    let canary = fs::read(lab.canary()).unwrap();
    for hook in HOOKS {
        let path = lab.repo().join(".git/hooks").join(hook);
        fs::write(&path, &canary).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    for (tool, answer) in everything(&lab).await {
        // `git_stash` may fail without a hook too, for example if the changes were committed
        // meanwhile.
        assert!(!answer.failed || tool == "git_stash", "{tool}: {}", answer.text);
    }
    lab.call(lab.networking(), "git_push", json!({})).await.ok();
    lab.assert_silent("hooks");
}

#[tokio::test]
async fn g10_a_lock_that_is_held_is_told() {
    let lab = Lab::with_repository();
    lab.write("a.txt", "x\n");
    fs::write(lab.repo().join(".git/index.lock"), "").unwrap();
    let text = lab.change("git_add", json!({"files": ["a.txt"]})).await.err();
    assert!(text.contains("another git process holds a lock") && text.contains("try again"), "{text}");
    assert!(lab.repo().join(".git/index.lock").exists());
    lab.read("git_status", json!({})).await.ok();
}

#[tokio::test]
async fn g10_an_unborn_branch_is_told() {
    let lab = Lab::new();
    fs::create_dir(lab.repo()).unwrap();
    lab.git(&lab.repo(), &["init", "--quiet", "--initial-branch=main"]);
    let status = lab.read("git_status", json!({})).await.ok();
    assert_eq!((status["branch"].as_str(), status.get("commit")), (Some("main"), None));
    for (tool, args) in [
        ("git_log", json!({})),
        ("git_show", json!({"revision": "HEAD"})),
        ("git_diff", json!({"target": "HEAD"})),
        ("git_create_branch", json!({"branch_name": "x"})),
        ("git_checkout", json!({"branch_name": "x"})),
        ("git_merge", json!({"branch": "x"})),
        ("git_stash", json!({"action": "push"})),
        ("git_tag", json!({"action": "create", "name": "t"})),
    ] {
        let text = lab.change(tool, args).await.err();
        assert!(text.contains("the branch has no commit yet"), "{tool}: {text}");
    }
    assert_eq!(lab.read("git_branch", json!({})).await.ok()["branches"], json!([]));
    lab.read("git_diff_staged", json!({})).await.ok();
}

#[tokio::test]
async fn g10_a_detached_head_is_told_and_can_be_committed_on() {
    let lab = Lab::with_repository();
    lab.git(&lab.repo(), &["checkout", "--quiet", "--detach"]);
    let status = lab.read("git_status", json!({})).await;
    assert!(status.text.starts_with("HEAD is detached at "), "{}", status.text);
    assert_eq!(status.ok()["detached"], true);
    lab.write("a.txt", "x\n");
    lab.change("git_add", json!({"files": ["a.txt"]})).await.ok();
    let committed = lab.change("git_commit", json!({"message": "x"})).await;
    assert!(committed.text.contains("on a detached HEAD"), "{}", committed.text);
}

#[tokio::test]
async fn g10_a_bare_repository_can_be_read_and_says_what_it_lacks() {
    let lab = Lab::with_repository();
    lab.git(&lab.root(), &["clone", "--quiet", "--bare", "repo", "bare.git"]);
    let bare = |mut args: Value| {
        args["repo_path"] = json!("bare.git");
        args
    };
    assert_eq!(lab.read("git_log", bare(json!({}))).await.ok()["commits"][0]["subject"], "first");
    lab.read("git_show", bare(json!({"revision": "main:a.txt"}))).await.ok();
    lab.read("git_branch", bare(json!({}))).await.ok();
    for (tool, args) in [
        ("git_status", json!({})),
        ("git_diff_unstaged", json!({})),
        ("git_diff", json!({"target": "main"})),
        ("git_add", json!({"files": ["."]})),
        ("git_commit", json!({"message": "x"})),
        ("git_checkout", json!({"branch_name": "main"})),
        ("git_reset", json!({})),
    ] {
        let text = lab.change(tool, bare(args)).await.err();
        assert!(text.contains("no working files"), "{tool}: {text}");
    }
}

#[tokio::test]
async fn g10_shallow_and_sha256_repositories_work() {
    let lab = Lab::with_repository();
    lab.commit(&lab.repo(), "b.txt", "x", "second");
    let url = format!("file://{}", lab.repo().display());
    lab.git(&lab.root(), &["clone", "--quiet", "--depth=1", &url, "shallow"]);
    let log = lab.read("git_log", json!({"repo_path": "shallow"})).await.ok();
    assert_eq!(log["commits"].as_array().unwrap().len(), 1);
    lab.git(&lab.root(), &["init", "--quiet", "--object-format=sha256", "long"]);
    let commit = lab.commit(&lab.root().join("long"), "a.txt", "x\n", "first");
    assert_eq!(commit.len(), 64);
    let log = lab.read("git_log", json!({"repo_path": "long"})).await.ok();
    assert_eq!(log["commits"][0]["hash"], json!(commit));
    let place = json!({"repo_path": "long", "path": "a.txt"});
    assert_eq!(lab.read("git_blame", place).await.ok()["lines"][0]["commit"], json!(commit));
}

#[tokio::test]
async fn g10_a_merge_in_progress_is_not_damaged() {
    let lab = Lab::with_repository();
    let repo = lab.repo();
    lab.git(&repo, &["checkout", "--quiet", "-b", "side"]);
    lab.commit(&repo, "a.txt", "side\n", "side");
    lab.git(&repo, &["checkout", "--quiet", "main"]);
    lab.commit(&repo, "a.txt", "main\n", "main");
    Lab::try_git(&repo, &["merge", "side"]);
    let status = lab.read("git_status", json!({})).await.ok();
    assert_eq!(
        (status["in_progress"].as_str(), status["entries"][0]["staged"].as_str()),
        (Some("merge"), Some("unmerged"))
    );
    for (tool, args) in [
        ("git_reset", json!({})),
        ("git_merge", json!({"branch": "side"})),
        ("git_stash", json!({"action": "push"})),
        ("git_commit", json!({"message": "x"})),
        ("git_checkout", json!({"branch_name": "side"})),
    ] {
        let text = lab.change(tool, args).await.err();
        assert!(["in progress", "conflicts"].iter().any(|words| text.contains(words)), "{tool}: {text}");
    }
    assert!(repo.join(".git/MERGE_HEAD").exists());
    assert!(fs::read_to_string(repo.join("a.txt")).unwrap().contains("<<<<<<<"));
}

#[tokio::test]
async fn g10_what_is_no_repository_says_so() {
    let lab = Lab::new();
    fs::create_dir(lab.root().join("plain")).unwrap();
    let text = lab.read("git_status", json!({"repo_path": "plain"})).await.err();
    assert!(text.contains("this is not a git repository") && text.contains("git_init"), "{text}");
    assert!(
        lab.read("git_status", json!({"repo_path": "missing"})).await.err().contains("there is no directory")
    );
}
