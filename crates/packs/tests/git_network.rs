//! The git tools that use remotes, here on the local disk with the transport `file` allowed.

mod git_support;

use git_support::Lab;
use serde_json::json;

/// A lab whose `repo` is a clone of the bare `remote`, which is outside of the root.
fn with_remote() -> Lab {
    let lab = Lab::with_repository();
    let remote = lab.path("remote.git").display().to_string();
    lab.git(&lab.root(), &["clone", "--quiet", "--bare", "--template=", "repo", &remote]);
    lab.git(&lab.repo(), &["remote", "add", "origin", &remote]);
    lab.git(&lab.repo(), &["fetch", "--quiet", "origin"]);
    lab.git(&lab.repo(), &["branch", "--quiet", "--set-upstream-to=origin/main"]);
    lab
}

/// Pushes a commit from another clone.
fn push_from_elsewhere(lab: &Lab, file: &str) -> String {
    let other = lab.path("other");
    if !other.exists() {
        lab.git(&lab.path(""), &["clone", "--quiet", "remote.git", "other"]);
    }
    let commit = lab.commit(&other, file, "other\n", "from elsewhere");
    lab.git(&other, &["push", "--quiet", "origin", "HEAD:main"]);
    commit
}

#[tokio::test]
async fn fetch_updates_remote_branches_only() {
    let lab = with_remote();
    let commit = push_from_elsewhere(&lab, "b.txt");
    let data = lab.call(lab.networking(), "git_fetch", json!({})).await.ok();
    assert_eq!(data["updates"][0]["reference"], "refs/remotes/origin/main");
    assert_eq!(data["updates"][0]["after"], json!(commit));
    assert!(!lab.repo().join("b.txt").exists());
    assert_eq!(lab.call(lab.networking(), "git_fetch", json!({})).await.ok()["updates"], json!([]));
    assert_eq!(lab.read("git_status", json!({})).await.ok()["behind"], 1);
}

#[tokio::test]
async fn pull_moves_forward_and_refuses_to_merge() {
    let lab = with_remote();
    push_from_elsewhere(&lab, "b.txt");
    let pulled = lab.call(lab.networking(), "git_pull", json!({})).await.ok();
    assert_eq!(
        (pulled["outcome"].as_str(), pulled["upstream"].as_str()),
        (Some("fast_forward"), Some("refs/remotes/origin/main"))
    );
    assert!(lab.repo().join("b.txt").exists());
    push_from_elsewhere(&lab, "c.txt");
    let own = lab.commit(&lab.repo(), "d.txt", "x", "own");
    let diverged = lab.call(lab.networking(), "git_pull", json!({})).await.err();
    assert!(diverged.contains("diverged") && diverged.contains("git_merge"), "{diverged}");
    assert_eq!(lab.git(&lab.repo(), &["rev-parse", "HEAD"]), own);
}

#[tokio::test]
async fn push_sends_a_branch_and_never_forces() {
    let lab = with_remote();
    lab.git(&lab.repo(), &["checkout", "--quiet", "-b", "side"]);
    let commit = lab.commit(&lab.repo(), "b.txt", "x", "side");
    let pushed = lab.call(lab.networking(), "git_push", json!({"set_upstream": true})).await.ok();
    assert_eq!((pushed["branch"].as_str(), pushed["updated"].as_bool()), (Some("side"), Some(true)));
    assert_eq!(lab.git(&lab.path("remote.git"), &["rev-parse", "side"]), commit);
    assert_eq!(lab.call(lab.networking(), "git_push", json!({})).await.ok()["updated"], false);
    push_from_elsewhere(&lab, "c.txt");
    lab.git(&lab.repo(), &["checkout", "--quiet", "main"]);
    lab.commit(&lab.repo(), "d.txt", "x", "own");
    let behind = lab.call(lab.networking(), "git_push", json!({})).await.err();
    assert!(behind.contains("commits that are missing here") && behind.contains("git_pull"), "{behind}");
    assert!(
        lab.call(lab.networking(), "git_push", json!({"branch": "nowhere"}))
            .await
            .err()
            .contains("no branch")
    );
}

#[tokio::test]
async fn clone_copies_into_the_root() {
    let lab = with_remote();
    let url = format!("file://{}", lab.path("remote.git").display());
    let cloned =
        lab.call(lab.networking(), "git_clone", json!({"url": url, "path": "copy", "depth": 1})).await.ok();
    assert_eq!(cloned["branch"], "main");
    assert!(lab.root().join("copy/a.txt").exists());
    assert!(!lab.root().join("copy/.git/hooks").exists());
    lab.call(lab.networking(), "git_clone", json!({"url": url, "path": "copy"})).await.err();
    let missing = format!("file://{}", lab.path("missing.git").display());
    lab.call(lab.networking(), "git_clone", json!({"url": missing, "path": "third"})).await.err();
    assert!(!lab.root().join("third").exists());
}

#[tokio::test]
async fn a_branch_without_upstream_or_remote_says_what_to_do() {
    let lab = Lab::with_repository();
    assert!(lab.call(lab.networking(), "git_pull", json!({})).await.err().contains("has no upstream"));
    assert!(
        lab.call(lab.networking(), "git_fetch", json!({}))
            .await
            .err()
            .contains("there is no remote \"origin\"")
    );
    lab.git(&lab.repo(), &["checkout", "--quiet", "--detach"]);
    assert!(lab.call(lab.networking(), "git_pull", json!({})).await.err().contains("detached"));
}
