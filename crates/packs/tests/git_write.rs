//! The git tools that change a repository, on ordinary ones.

mod git_support;

use git_support::Lab;
use serde_json::json;
use trunkline_packs::git::{GitOptions, Hooks, Identity};

#[tokio::test]
async fn add_and_commit_record_what_was_named() {
    let lab = Lab::with_repository();
    lab.write("b.txt", "x\n");
    lab.write("c.txt", "x\n");
    let added = lab.change("git_add", json!({"files": ["b.txt"]})).await.ok();
    assert_eq!(added["staged"][0]["path"], "b.txt");
    let committed = lab.change("git_commit", json!({"message": "# second\n\nbody"})).await.ok();
    assert_eq!(
        (committed["branch"].as_str(), committed["subject"].as_str()),
        (Some("main"), Some("# second"))
    );
    assert_eq!(committed["files_changed"], 1);
    let log = lab.git(&lab.repo(), &["log", "-1", "--format=%an <%ae>|%B", "--name-only"]);
    assert_eq!(log, "Grace <grace@example.org>|# second\n\nbody\n\n\nb.txt");
    let again = lab.change("git_commit", json!({"message": "third"})).await.err();
    assert!(again.contains("nothing is staged") && again.contains("git_add"), "{again}");
}

#[tokio::test]
async fn add_stages_deletions_and_says_when_nothing_changed() {
    let lab = Lab::with_repository();
    let nothing = lab.change("git_add", json!({"files": ["."]})).await;
    assert!(nothing.text.contains("Nothing was staged"), "{}", nothing.text);
    std::fs::remove_file(lab.repo().join("a.txt")).unwrap();
    let added = lab.change("git_add", json!({"files": ["a.txt"]})).await.ok();
    assert_eq!(added["staged"][0]["status"], "deleted");
    assert!(
        lab.change("git_add", json!({"files": ["missing"]})).await.err().contains("there is no such file")
    );
}

#[tokio::test]
async fn who_commits_is_the_repositorys_the_operators_or_nobody() {
    let lab = Lab::with_repository();
    lab.write("a.txt", "x\n");
    lab.git(&lab.repo(), &["add", "."]);
    let nobody = GitOptions { identity: Identity::Repository, ..lab.writing() };
    let failed = lab.call(nobody, "git_commit", json!({"message": "x"})).await.err();
    assert!(failed.contains("git does not know who commits"), "{failed}");
    std::fs::write(
        lab.path("settings"),
        "[user]\nname = Joan\nemail = joan@example.org\n[core]\nhooksPath = /x\n",
    )
    .unwrap();
    let from_file = GitOptions { identity: Identity::SettingsFile(lab.path("settings")), ..lab.writing() };
    lab.call(from_file, "git_commit", json!({"message": "x"})).await.ok();
    assert_eq!(lab.git(&lab.repo(), &["log", "-1", "--format=%an %cn"]), "Joan Joan");
    lab.set("user.name", "Own");
    lab.set("user.email", "own@example.org");
    lab.write("a.txt", "y\n");
    lab.git(&lab.repo(), &["add", "."]);
    lab.change("git_commit", json!({"message": "x"})).await.ok();
    assert_eq!(lab.git(&lab.repo(), &["log", "-1", "--format=%an %cn"]), "Own Own");
}

#[tokio::test]
async fn reset_unstages_and_leaves_the_files() {
    let lab = Lab::with_repository();
    lab.write("a.txt", "x\n");
    lab.git(&lab.repo(), &["add", "."]);
    assert_eq!(lab.change("git_reset", json!({})).await.ok()["unstaged"], json!(["a.txt"]));
    assert_eq!(lab.git(&lab.repo(), &["status", "--porcelain"]), " M a.txt");
    assert_eq!(lab.change("git_reset", json!({})).await.ok()["unstaged"], json!([]));
}

#[tokio::test]
async fn branches_are_made_and_checked_out() {
    let lab = Lab::with_repository();
    lab.commit(&lab.repo(), "b.txt", "x", "second");
    lab.change("git_create_branch", json!({"branch_name": "feature/x", "base_branch": "HEAD~1"})).await.ok();
    assert!(
        lab.change("git_create_branch", json!({"branch_name": "feature/x"})).await.err().contains("already")
    );
    let out = lab.change("git_checkout", json!({"branch_name": "feature/x"})).await.ok();
    assert_eq!((out["branch"].as_str(), out["detached"].as_bool()), (Some("feature/x"), Some(false)));
    assert!(!lab.repo().join("b.txt").exists());
    let detached = lab.change("git_checkout", json!({"branch_name": "main~0"})).await.ok();
    assert_eq!(detached["detached"], true);
    lab.change("git_checkout", json!({"branch_name": "feature/x"})).await.ok();
    lab.write("b.txt", "in the way");
    let refused = lab.change("git_checkout", json!({"branch_name": "main"})).await.err();
    assert!(refused.contains("would be overwritten"), "{refused}");
}

#[tokio::test]
async fn merges_go_forward_join_conflict_and_are_given_up() {
    let lab = Lab::with_repository();
    let repo = lab.repo();
    lab.git(&repo, &["checkout", "--quiet", "-b", "side"]);
    lab.commit(&repo, "a.txt", "one\nside\nthree\n", "side");
    lab.git(&repo, &["checkout", "--quiet", "main"]);
    let forward = lab.change("git_merge", json!({"branch": "side", "fast_forward": "never"})).await.ok();
    assert_eq!(forward["outcome"], "merged");
    assert_eq!(lab.git(&repo, &["log", "-1", "--format=%s %an"]), "Merge side Grace");
    assert_eq!(
        lab.change("git_merge", json!({"branch": "side"})).await.ok()["outcome"],
        "already_up_to_date"
    );
    lab.git(&repo, &["checkout", "--quiet", "side"]);
    assert_eq!(lab.change("git_merge", json!({"branch": "main"})).await.ok()["outcome"], "fast_forward");
    let before = lab.commit(&repo, "a.txt", "one\nours\nthree\n", "ours");
    lab.git(&repo, &["checkout", "--quiet", "main"]);
    lab.commit(&repo, "a.txt", "one\ntheirs\nthree\n", "theirs");
    lab.git(&repo, &["checkout", "--quiet", "side"]);
    let only = lab.change("git_merge", json!({"branch": "main", "fast_forward": "only"})).await.err();
    assert!(only.contains("diverged"), "{only}");
    let conflict = lab.change("git_merge", json!({"branch": "main"})).await.ok();
    assert_eq!((&conflict["outcome"], &conflict["conflicts"]), (&json!("conflicts"), &json!(["a.txt"])));
    let aborted = lab.change("git_merge", json!({"action": "abort"})).await.ok();
    assert_eq!(
        (aborted["outcome"].as_str(), aborted["commit"].as_str()),
        (Some("aborted"), Some(before.as_str()))
    );
    assert!(
        lab.change("git_merge", json!({"action": "abort"})).await.err().contains("no merge is in progress")
    );
    lab.change("git_merge", json!({"branch": "main"})).await.ok();
    lab.write("a.txt", "one\nboth\nthree\n");
    lab.change("git_add", json!({"files": ["a.txt"]})).await.ok();
    lab.change("git_commit", json!({"message": "resolved"})).await.ok();
    assert_eq!(lab.git(&repo, &["log", "-1", "--format=%s"]), "resolved");
    assert_eq!(lab.git(&repo, &["rev-list", "--parents", "-1", "HEAD"]).split(' ').count(), 3);
}

#[tokio::test]
async fn changes_are_put_aside_and_taken_back() {
    let lab = Lab::with_repository();
    assert!(lab.change("git_stash", json!({"action": "push"})).await.err().contains("no changes"));
    lab.write("a.txt", "x\n");
    lab.write("new.txt", "x\n");
    let pushed = lab
        .change("git_stash", json!({"action": "push", "message": "work", "include_untracked": true}))
        .await
        .ok();
    assert_eq!(pushed["entries"][0]["message"], "On main: work");
    assert_eq!(lab.git(&lab.repo(), &["status", "--porcelain"]), "");
    assert_eq!(lab.read("git_stash", json!({})).await.ok()["entries"].as_array().unwrap().len(), 1);
    let popped = lab.change("git_stash", json!({"action": "pop"})).await.ok();
    assert_eq!(popped["entries"], json!([]));
    assert_eq!(lab.git(&lab.repo(), &["status", "--porcelain"]), " M a.txt\n?? new.txt");
    lab.change("git_stash", json!({"action": "push"})).await.ok();
    lab.commit(&lab.repo(), "a.txt", "other\n", "other");
    let conflict = lab.change("git_stash", json!({"action": "apply"})).await.ok();
    assert_eq!(conflict["conflicts"], json!(["a.txt"]));
    assert!(
        lab.change("git_stash", json!({"action": "drop", "index": 5}))
            .await
            .err()
            .contains("there is no stash entry 5")
    );
    assert_eq!(lab.change("git_stash", json!({"action": "drop"})).await.ok()["entries"], json!([]));
}

#[tokio::test]
async fn tags_are_made_listed_and_removed() {
    let lab = Lab::with_repository();
    lab.change("git_tag", json!({"action": "create", "name": "v1", "message": "the first\n"})).await.ok();
    lab.change("git_tag", json!({"action": "create", "name": "light"})).await.ok();
    assert!(lab.change("git_tag", json!({"action": "create", "name": "v1"})).await.err().contains("already"));
    let listed = lab.read("git_tag", json!({})).await.ok();
    let mut tags: Vec<_> = listed["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| (tag["name"].as_str().unwrap(), tag["annotated"].as_bool().unwrap()))
        .collect();
    tags.sort_unstable();
    assert_eq!(tags, [("light", false), ("v1", true)]);
    assert_eq!(
        lab.git(&lab.repo(), &["tag", "-l", "--format=%(taggername) %(contents:subject)", "v1"]),
        "Grace the first"
    );
    lab.change("git_tag", json!({"action": "delete", "name": "v1"})).await.ok();
    assert_eq!(lab.git(&lab.repo(), &["tag"]), "light");
}

#[tokio::test]
async fn worktrees_are_added_and_removed_inside_the_root() {
    let lab = Lab::with_repository();
    let added = lab
        .change("git_worktree", json!({"action": "add", "path": "second", "branch": "side", "base": "main"}))
        .await
        .ok();
    assert_eq!(added["worktrees"][1]["branch"], "side");
    let status = lab.change("git_status", json!({"repo_path": "second"})).await.ok();
    assert_eq!(status["branch"], "side");
    let outside = lab.path("outside").display().to_string();
    lab.change("git_worktree", json!({"action": "add", "path": outside, "branch": "other", "base": "main"}))
        .await
        .err();
    lab.change(
        "git_worktree",
        json!({"action": "add", "path": "../outside", "branch": "other", "base": "main"}),
    )
    .await
    .err();
    assert!(!lab.path("outside").exists());
    std::fs::write(lab.root().join("second/dirty"), "x").unwrap();
    let dirty = lab.change("git_worktree", json!({"action": "remove", "path": "second"})).await.err();
    assert!(dirty.contains("changes that would be lost"), "{dirty}");
    lab.change("git_worktree", json!({"action": "remove", "path": "second", "force": true})).await.ok();
    assert!(!lab.root().join("second").exists());
    lab.change("git_worktree", json!({"action": "remove", "path": "repo"})).await.err();
    let existing = json!({"action": "add", "path": "third", "branch": "side"});
    assert_eq!(lab.change("git_worktree", existing).await.ok()["worktrees"][1]["branch"], "side");
}

#[tokio::test]
async fn a_new_repository_takes_its_first_commit() {
    let lab = Lab::new();
    lab.change("git_init", json!({"path": "repo", "initial_branch": "trunk"})).await.ok();
    assert!(lab.change("git_init", json!({"path": "repo"})).await.err().contains("already"));
    lab.write("a.txt", "x\n");
    lab.change("git_add", json!({"files": ["."]})).await.ok();
    lab.change("git_reset", json!({})).await.ok();
    lab.change("git_add", json!({"files": ["."]})).await.ok();
    let committed = lab.change("git_commit", json!({"message": "first"})).await.ok();
    assert_eq!(committed["branch"], "trunk");
}

#[tokio::test]
async fn hooks_run_when_the_operator_wants_them() {
    let lab = Lab::with_repository();
    let canary = lab.canary();
    std::fs::create_dir_all(lab.repo().join(".git/hooks")).unwrap();
    std::os::unix::fs::symlink(canary, lab.repo().join(".git/hooks/pre-commit")).unwrap();
    lab.write("a.txt", "x\n");
    lab.git(&lab.repo(), &["add", "."]);
    let roots = vec![lab.path("")];
    let options = GitOptions { hooks: Hooks::Run, roots, ..lab.writing() };
    lab.call(options, "git_commit", json!({"repo_path": "root/repo", "message": "x"})).await.ok();
    assert!(lab.mark().exists());
}
