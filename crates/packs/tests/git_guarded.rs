//! Files that control the server, in the work tree of a repository, cannot be made, changed or
//! replaced by git (V09).

#![expect(clippy::unwrap_used, reason = "a failure here is a failure of the test")]

mod git_support;

use std::{fs, os::unix::fs::symlink, path::Path};

use git_support::Lab;
use serde_json::{Value, json};
use trunkline_packs::{git::GitOptions, sandbox::Protected};

const REFUSED: &str = "part of the configuration of this server";

/// A change of the working files that is committed on a branch.
type Change = fn(&Path);

/// Options of a server whose home is the work tree of `repo`. Nothing of it exists yet.
fn options(lab: &Lab) -> GitOptions {
    let guarded = [".config/trunkline", ".local/state/trunkline", "keys.json"];
    GitOptions { guarded: guarded.map(|name| lab.repo().join(name)).into(), ..lab.networking() }
}

fn put(top: &Path, name: &str) {
    let path = top.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "theirs\n").unwrap();
}

const CHANGES: [(&str, Change); 10] = [
    ("a new file", |top| put(top, "keys.json")),
    ("a new file in a directory", |top| put(top, ".config/trunkline/any")),
    ("a file instead of a directory", |top| put(top, ".local/state")),
    ("a link instead of a directory", |top| symlink("sub", top.join(".config")).unwrap()),
    ("a link instead of a file", |top| symlink("sub", top.join("keys.json")).unwrap()),
    ("another spelling", |top| put(top, "KEYS.json")),
    ("a project's configuration", |top| put(top, "sub/trunkline.json")),
    ("a project's configuration in another spelling", |top| put(top, "sub/Trunkline.JSON")),
    ("a list of approvals", |top| put(top, "sub/trunkline/approved.json")),
    ("a lock file", |top| put(top, "trunkline.lock")),
];

/// A repository with a branch `theirs` that makes the change, and `apart`, which has other commits.
fn lab(change: Change) -> Lab {
    let lab = Lab::with_repository();
    let repo = lab.repo();
    lab.git(&repo, &["switch", "--quiet", "-c", "theirs"]);
    change(&repo);
    lab.git(&repo, &["add", "--force", "."]);
    lab.git(&repo, &["commit", "--quiet", "-m", "theirs"]);
    lab.git(&repo, &["switch", "--quiet", "-c", "apart", "main"]);
    lab.commit(&repo, "b.txt", "b\n", "apart");
    lab.git(&repo, &["switch", "--quiet", "main"]);
    lab
}

/// Everything in the work tree but git's own files.
fn listing(lab: &Lab) -> String {
    let args = ["status", "--porcelain", "--ignored", "--untracked-files=all"];
    format!("{}\n{}", lab.git(&lab.repo(), &args), lab.git(&lab.repo(), &["ls-files", "--stage"]))
}

async fn refused(lab: &Lab, name: &str, tool: &str, args: Value) {
    let before = listing(lab);
    let text = lab.call(options(lab), tool, args.clone()).await.err();
    assert!(text.contains(REFUSED), "{name}: {tool} {args}: {text}");
    assert_eq!(listing(lab), before, "{name}: {tool}");
}

#[tokio::test]
async fn v09_no_branch_makes_a_guarded_file() {
    for (name, change) in CHANGES {
        let lab = lab(change);
        let repo = lab.repo();
        refused(&lab, name, "git_checkout", json!({"branch_name": "theirs"})).await;
        refused(&lab, name, "git_merge", json!({"branch": "theirs"})).await;
        lab.call(options(&lab), "git_checkout", json!({"branch_name": "apart"})).await.ok();
        refused(&lab, name, "git_merge", json!({"branch": "theirs"})).await;
        lab.git(&repo, &["switch", "--quiet", "--orphan", "empty"]);
        refused(&lab, name, "git_checkout", json!({"branch_name": "theirs"})).await;
        lab.call(options(&lab), "git_checkout", json!({"branch_name": "main"})).await.ok();
        // An ignored file is in nobody's way.
        fs::create_dir_all(repo.join(".git/info")).unwrap();
        fs::write(repo.join(".git/info/exclude"), "*\n").unwrap();
        refused(&lab, name, "git_checkout", json!({"branch_name": "theirs"})).await;
    }
}

#[tokio::test]
async fn v09_no_stash_makes_a_guarded_file() {
    for (name, change) in CHANGES {
        let lab = lab(|top| put(top, "other"));
        let repo = lab.repo();
        change(&repo);
        lab.git(&repo, &["stash", "push", "--quiet", "--include-untracked"]);
        refused(&lab, name, "git_stash", json!({"action": "apply"})).await;
        refused(&lab, name, "git_stash", json!({"action": "pop"})).await;
        lab.git(&repo, &["stash", "drop", "--quiet"]);
        change(&repo);
        lab.git(&repo, &["add", "--force", "."]);
        lab.git(&repo, &["stash", "push", "--quiet"]);
        refused(&lab, name, "git_stash", json!({"action": "apply"})).await;
        lab.git(&repo, &["stash", "pop", "--quiet", "--index"]);
        refused(&lab, name, "git_stash", json!({"action": "push"})).await;
        lab.git(&repo, &["reset", "--quiet"]);
        refused(&lab, name, "git_stash", json!({"action": "push", "include_untracked": true})).await;
    }
    let lab = lab(|top| put(top, "other"));
    put(&lab.repo(), "new.txt");
    let push = json!({"action": "push", "include_untracked": true});
    lab.call(options(&lab), "git_stash", push).await.ok();
    lab.call(options(&lab), "git_stash", json!({"action": "pop"})).await.ok();
    assert!(lab.repo().join("new.txt").exists());
}

#[tokio::test]
async fn v09_an_aborted_merge_restores_no_guarded_file() {
    let lab = lab(|top| put(top, "a.txt"));
    let repo = lab.repo();
    lab.commit(&repo, "keys.json", "old\n", "keys");
    lab.commit(&repo, "a.txt", "ours\n", "ours");
    let conflicts = lab.call(options(&lab), "git_merge", json!({"branch": "theirs"})).await.ok();
    assert_eq!(conflicts["outcome"], "conflicts");
    fs::write(repo.join("keys.json"), "new\n").unwrap();
    lab.call(options(&lab), "git_add", json!({"files": ["keys.json"]})).await.ok();
    refused(&lab, "abort", "git_merge", json!({"action": "abort"})).await;
    assert_eq!(fs::read_to_string(repo.join("keys.json")).unwrap(), "new\n");
    lab.git(&repo, &["reset", "--quiet", "HEAD", "--", "keys.json"]);
    // Git would apply these changes at the end of the merge.
    let stash = lab.git(&repo, &["rev-parse", "HEAD"]);
    fs::write(repo.join(".git/MERGE_AUTOSTASH"), format!("{stash}\n")).unwrap();
    let text = lab.call(options(&lab), "git_merge", json!({"action": "abort"})).await.err();
    assert!(text.contains("MERGE_AUTOSTASH"), "{text}");
    lab.call(options(&lab), "git_add", json!({"files": ["a.txt"]})).await.ok();
    let text = lab.call(options(&lab), "git_commit", json!({"message": "merged"})).await.err();
    assert!(text.contains("MERGE_AUTOSTASH"), "{text}");
    fs::remove_file(repo.join(".git/MERGE_AUTOSTASH")).unwrap();
    lab.call(options(&lab), "git_merge", json!({"action": "abort"})).await.ok();
}

#[tokio::test]
async fn v09_no_repository_is_made_at_a_guarded_path() {
    let lab = lab(|top| put(top, "other"));
    fs::create_dir_all(lab.repo().join(".config")).unwrap();
    fs::create_dir_all(lab.repo().join(".local/state")).unwrap();
    let url = format!("file://{}", lab.repo().display());
    let exists = lab.repo().join(".config/trunkline");
    for name in [
        "repo/.config/trunkline",
        "repo/.local/state/trunkline",
        "repo/keys.json",
        "repo/Keys.JSON",
        "trunkline.json",
        "trunkline.lock",
    ] {
        let add = json!({"action": "add", "path": name, "branch": "new", "base": "main"});
        refused(&lab, name, "git_clone", json!({"url": url, "path": name})).await;
        refused(&lab, name, "git_worktree", add).await;
        refused(&lab, name, "git_init", json!({"path": name})).await;
        assert!(!lab.root().join(name).exists(), "{name}");
    }
    fs::create_dir(&exists).unwrap();
    refused(&lab, "existing", "git_init", json!({"path": "repo/.config/trunkline"})).await;
    refused(&lab, "below", "git_init", json!({"path": "repo/.config/trunkline/sub"})).await;
    fs::remove_dir_all(lab.repo().join(".local")).unwrap();
    let add = json!({"action": "add", "path": "repo/.local", "branch": "new", "base": "main"});
    refused(&lab, "above", "git_worktree", add).await;
    refused(&lab, "above", "git_clone", json!({"url": url, "path": "repo/.local"})).await;
    lab.call(options(&lab), "git_clone", json!({"url": url, "path": "copy"})).await.ok();
    lab.call(options(&lab), "git_init", json!({"path": "fresh"})).await.ok();
}

/// A git directory of another name than `.git` lies in a work tree.
#[tokio::test]
async fn g14_no_command_writes_into_a_git_directory_of_another_name() {
    let lab = Lab::new();
    let repo = lab.root().join("repo");
    fs::create_dir(&repo).unwrap();
    let meta = format!("--separate-git-dir={}", repo.join("meta").display());
    lab.git(&repo, &["init", "--quiet", "--initial-branch=main", "--template=", &meta]);
    lab.commit(&repo, "a.txt", "one\n", "first");
    lab.git(&repo, &["switch", "--quiet", "-c", "theirs"]);
    let blob = lab.git(&repo, &["hash-object", "-w", "a.txt"]);
    lab.git(
        &repo,
        &["update-index", "--add", "--cacheinfo", &format!("100755,{blob},meta/hooks/post-merge")],
    );
    lab.git(&repo, &["commit", "--quiet", "-m", "hook"]);
    lab.git(&repo, &["symbolic-ref", "HEAD", "refs/heads/main"]);
    lab.git(&repo, &["read-tree", "main"]);
    for (tool, args) in [
        ("git_checkout", json!({"branch_name": "theirs"})),
        ("git_merge", json!({"branch": "theirs"})),
        ("git_init", json!({"path": "repo/meta/hooks"})),
        ("git_worktree", json!({"action": "add", "path": "repo/meta/hooks", "branch": "theirs"})),
        ("git_clone", json!({"path": "repo/meta/hooks", "url": format!("file://{}", repo.display())})),
    ] {
        lab.call(lab.networking(), tool, args).await.err();
        assert!(!repo.join("meta/hooks").exists(), "{tool}");
    }
}

#[tokio::test]
async fn f13_git_takes_no_untracked_secret() {
    let lab = Lab::with_repository();
    let private = [lab.repo().join("state")];
    let options = || GitOptions { protected: Protected::default().and_private(&private), ..options(&lab) };
    for name in [".env", ".ssh/id_rsa", "sub/.ENV", "state/operator"] {
        put(&lab.repo(), name);
        for (tool, arguments) in [
            ("git_add", json!({"repo_path": "repo", "files": [name]})),
            ("git_add", json!({"repo_path": "repo", "files": ["."]})),
            ("git_stash", json!({"repo_path": "repo", "action": "push", "include_untracked": true})),
        ] {
            let before = listing(&lab);
            let text = lab.call(options(), tool, arguments).await.err();
            assert!(text.contains("is protected by the rule"), "{name}: {tool}: {text}");
            assert_eq!(listing(&lab), before, "{name}: {tool}");
        }
        fs::remove_file(lab.repo().join(name)).unwrap();
    }
    put(&lab.repo(), ".env");
    put(&lab.repo(), "new.txt");
    fs::write(lab.repo().join(".gitignore"), ".env\n").unwrap();
    lab.call(options(), "git_add", json!({"repo_path": "repo", "files": ["."]})).await.ok();
    assert!(!lab.git(&lab.repo(), &["ls-files"]).contains(".env"));
}
