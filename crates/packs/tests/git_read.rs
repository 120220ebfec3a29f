//! The git tools that only read, on ordinary repositories.

mod git_support;

use git_support::Lab;
use serde_json::json;
use trunkline_packs::git::{Access, GitOptions, Network, compatibility_tools, pack};

#[tokio::test]
async fn status_tells_every_kind_of_change() {
    let lab = Lab::with_repository();
    lab.write("staged.txt", "x");
    lab.git(&lab.repo(), &["add", "staged.txt"]);
    lab.write("a.txt", "changed\n");
    lab.write("dir/new file\n.txt", "x");
    let data = lab.read("git_status", json!({})).await.ok();
    assert_eq!(data["branch"], "main");
    assert_eq!(data["clean"], false);
    let entries = data["entries"].as_array().unwrap();
    let shown: Vec<_> = entries
        .iter()
        .map(|e| {
            (e["path"].as_str().unwrap(), e["staged"].as_str().unwrap(), e["unstaged"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("a.txt", "unchanged", "modified"),
            ("staged.txt", "added", "unchanged"),
            ("dir/new file\n.txt", "unchanged", "untracked")
        ]
    );
}

#[tokio::test]
async fn a_clean_repository_is_told_as_one() {
    let lab = Lab::with_repository();
    let answer = lab.read("git_status", json!({})).await;
    assert!(answer.text.contains("Nothing to commit"));
    assert_eq!(answer.ok()["clean"], true);
}

#[tokio::test]
async fn looking_takes_no_lock_and_changes_nothing() {
    let lab = Lab::with_repository();
    let index = lab.repo().join(".git/index");
    let before = std::fs::read(&index).unwrap();
    // Same content, new modification time: a status that takes locks would rewrite the index.
    lab.write("a.txt", "one\ntwo\nthree\n");
    std::fs::write(lab.repo().join(".git/index.lock"), "").unwrap();
    lab.read("git_status", json!({})).await.ok();
    lab.read("git_diff_unstaged", json!({})).await.ok();
    assert_eq!(std::fs::read(&index).unwrap(), before);
}

#[tokio::test]
async fn diffs_show_files_and_patch() {
    let lab = Lab::with_repository();
    lab.write("a.txt", "one\n2\nthree\n");
    let unstaged = lab.read("git_diff_unstaged", json!({"context_lines": 0})).await.ok();
    assert_eq!(unstaged["files"][0]["path"], "a.txt");
    assert_eq!((&unstaged["files"][0]["added"], &unstaged["files"][0]["removed"]), (&json!(1), &json!(1)));
    let patch = unstaged["patch"].as_str().unwrap();
    assert!(
        patch.contains("--- a/a.txt") && patch.contains("-two\n+2") && !patch.contains("\n one\n"),
        "{patch}"
    );
    lab.git(&lab.repo(), &["add", "a.txt"]);
    assert_eq!(lab.read("git_diff_unstaged", json!({})).await.ok()["files"], json!([]));
    let staged = lab.read("git_diff_staged", json!({})).await.ok();
    assert!(staged["patch"].as_str().unwrap().contains("+2"));
}

#[tokio::test]
async fn diff_takes_a_revision_and_ranges() {
    let lab = Lab::with_repository();
    lab.git(&lab.repo(), &["checkout", "--quiet", "-b", "side"]);
    lab.commit(&lab.repo(), "b.txt", "side\n", "on side");
    lab.git(&lab.repo(), &["checkout", "--quiet", "main"]);
    lab.commit(&lab.repo(), "c.txt", "main\n", "on main");
    let paths = async |target: &str| {
        let data = lab.read("git_diff", json!({"target": target})).await.ok();
        let files = data["files"].as_array().unwrap().clone();
        files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(paths("HEAD~1").await, ["c.txt"]);
    assert_eq!(paths("main..side").await, ["b.txt", "c.txt"]);
    assert_eq!(paths("main...side").await, ["b.txt"]);
    let only = lab.read("git_diff", json!({"target": "main..side", "paths": ["b.txt"]})).await.ok();
    assert_eq!(only["files"].as_array().unwrap().len(), 1);
    let missing = lab.read("git_diff", json!({"target": "nowhere"})).await.err();
    assert!(
        missing.contains("there is no revision \"nowhere\"") && missing.contains("git_branch"),
        "{missing}"
    );
}

#[tokio::test]
async fn log_tells_commits_with_bodies_refs_and_limits() {
    let lab = Lab::with_repository();
    lab.commit(&lab.repo(), "b.txt", "x", "second\n\nwith a body\nof two lines");
    lab.git(&lab.repo(), &["tag", "v1"]);
    let data = lab.read("git_log", json!({"max_count": 1})).await.ok();
    let commit = &data["commits"][0];
    assert_eq!(
        (commit["subject"].as_str(), commit["body"].as_str()),
        (Some("second"), Some("with a body\nof two lines"))
    );
    assert_eq!(commit["author"]["email"], "ada@example.org");
    assert_eq!(commit["refs"], json!(["HEAD -> main", "tag: v1"]));
    assert_eq!(data["truncated"], true);
    let by_path = lab.read("git_log", json!({"path": "a.txt"})).await.ok();
    assert_eq!(by_path["commits"].as_array().unwrap().len(), 1);
    assert_eq!(by_path["truncated"], false);
    let by_time = lab.read("git_log", json!({"end_timestamp": "2001-01-01"})).await.ok();
    assert_eq!(by_time["commits"], json!([]));
    let by_revision = lab.read("git_log", json!({"revision": "v1~1"})).await.ok();
    assert_eq!(by_revision["commits"][0]["subject"], "first");
}

#[tokio::test]
async fn show_tells_commits_directories_and_files() {
    let lab = Lab::with_repository();
    lab.git(&lab.repo(), &["tag", "-a", "-m", "release", "v1"]);
    let commit = lab.read("git_show", json!({"revision": "v1"})).await.ok();
    assert_eq!(
        (commit["kind"].as_str(), commit["commit"]["subject"].as_str()),
        (Some("commit"), Some("first"))
    );
    assert_eq!(commit["files"][0]["status"], "added");
    let file = lab.read("git_show", json!({"revision": "HEAD:a.txt"})).await.ok();
    assert_eq!((file["kind"].as_str(), file["content"].as_str()), (Some("file"), Some("one\ntwo\nthree\n")));
    let directory = lab.read("git_show", json!({"revision": "HEAD:"})).await.ok();
    assert_eq!(directory["entries"][0]["name"], "a.txt");
    lab.read("git_show", json!({"revision": "HEAD:missing"})).await.err();
}

#[tokio::test]
async fn branches_are_listed_and_chosen_by_commit() {
    let lab = Lab::with_repository();
    lab.git(&lab.repo(), &["branch", "old"]);
    let newest = lab.commit(&lab.repo(), "b.txt", "x", "second");
    let names = async |args| {
        let data = lab.read("git_branch", args).await.ok();
        let branches = data["branches"].as_array().unwrap().clone();
        branches.iter().map(|branch| branch["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(json!({})).await, ["main", "old"]);
    assert_eq!(names(json!({"contains": newest})).await, ["main"]);
    assert_eq!(names(json!({"not_contains": newest})).await, ["old"]);
    assert!(names(json!({"branch_type": "remote"})).await.is_empty());
}

#[tokio::test]
async fn blame_tells_where_lines_come_from() {
    let lab = Lab::with_repository();
    let second = lab.commit(&lab.repo(), "a.txt", "one\n2\nthree\n", "second");
    let data = lab.read("git_blame", json!({"path": "a.txt", "start_line": 2, "end_line": 3})).await.ok();
    assert_eq!(
        (data["lines"][0]["commit"].as_str(), data["lines"][0]["text"].as_str()),
        (Some(second.as_str()), Some("2"))
    );
    assert_eq!(
        (data["lines"][1]["summary"].as_str(), data["lines"][1]["line"].as_u64()),
        (Some("first"), Some(3))
    );
    let beyond = lab.read("git_blame", json!({"path": "a.txt", "start_line": 9})).await.err();
    assert!(beyond.contains("has only 3 lines"), "{beyond}");
    let old = lab.read("git_blame", json!({"path": "a.txt", "revision": "HEAD~1"})).await.ok();
    assert_eq!(old["lines"][1]["text"], "two");
}

#[tokio::test]
async fn the_older_names_answer_too() {
    let lab = Lab::with_repository();
    lab.write("a.txt", "x\n");
    let place = json!({"repositoryPath": "repo"});
    assert_eq!(lab.read("get_status", place.clone()).await.ok()["clean"], false);
    assert_eq!(lab.read("get_current_branch", place.clone()).await.ok()["branch"], "main");
    assert_eq!(lab.read("get_diff", place.clone()).await.ok()["files"][0]["path"], "a.txt");
    assert_eq!(lab.read("list_branches", place).await.ok()["current"], "main");
    let log = lab.read("get_log", json!({"repositoryPath": "repo", "maxCount": 5})).await.ok();
    assert_eq!(log["commits"][0]["subject"], "first");
    lab.change("add", json!({"files": ["a.txt"], "repositoryPath": "repo"})).await.ok();
    lab.change("commit", json!({"message": "x", "repositoryPath": "repo"})).await.ok();
    assert!(
        lab.change("commit", json!({"message": " ", "repositoryPath": "repo"})).await.err().contains("empty")
    );
}

#[test]
fn tools_are_offered_as_far_as_they_are_allowed() {
    let lab = Lab::new();
    let names = |options: GitOptions| {
        pack(options).unwrap().iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>()
    };
    let read = names(lab.options());
    assert_eq!(
        read,
        [
            "git_status",
            "git_diff_unstaged",
            "git_diff_staged",
            "git_diff",
            "git_log",
            "git_show",
            "git_branch",
            "git_blame",
            "git_stash",
            "git_tag",
            "git_worktree"
        ]
    );
    assert_eq!(names(GitOptions { network: Network::Allowed, ..lab.options() }), read);
    let write = names(lab.writing());
    assert!(write.contains(&"git_commit".into()) && !write.contains(&"git_push".into()));
    assert_eq!(names(lab.networking()).len(), 22);
    assert_eq!(compatibility_tools(lab.options()).unwrap().len(), 5);
    assert_eq!(compatibility_tools(lab.writing()).unwrap().len(), 7);
}

#[test]
fn every_tool_has_four_hints_a_title_a_description_and_both_schemas() {
    let lab = Lab::new();
    for options in [lab.options(), lab.networking()] {
        let read_only = options.access == Access::ReadOnly;
        for tool in pack(options.clone()).unwrap().into_iter().chain(compatibility_tools(options).unwrap()) {
            let definition = serde_json::to_value(tool.definition()).unwrap();
            let name = &definition["name"];
            let hints = &definition["annotations"];
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(hints[hint].is_boolean(), "{name} {hint}");
            }
            assert!(!read_only || hints["readOnlyHint"] == true, "{name}");
            assert!(definition["title"].is_string() && definition["description"].is_string(), "{name}");
            assert_eq!(definition["outputSchema"]["type"], "object", "{name}");
            assert_eq!(definition["inputSchema"]["additionalProperties"], false, "{name}");
            assert!(
                !definition["inputSchema"].to_string().contains("anyOf"),
                "{name}: {}",
                definition["inputSchema"]
            );
        }
    }
}

#[test]
fn a_pack_without_a_usable_root_or_git_is_refused() {
    let lab = Lab::new();
    assert!(pack(GitOptions::new(Vec::<std::path::PathBuf>::new())).is_err());
    assert!(pack(GitOptions::new([lab.path("missing")])).is_err());
    let nowhere = GitOptions { search: vec![lab.root()], ..lab.options() };
    assert!(pack(nowhere).unwrap_err().to_string().starts_with("git was not found in "));
}
