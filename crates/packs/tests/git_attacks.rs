//! Hostile arguments and hostile repositories, by their numbers: G01, G02, G05, G06, G08, G09.

mod git_support;

use std::{fmt::Write as _, fs, os::unix::fs::symlink, time::Duration};

use git_support::Lab;
use serde_json::json;
use trunkline_packs::git::{GitOptions, Network, UserSettings};

/// A change that makes a repository hostile.
type Attack = fn(&Lab);

/// Texts that git or a shell could take for options or commands.
const HOSTILE: [&str; 10] = [
    "--output=OUT",
    "--upload-pack=touch OUT",
    "--exec=touch OUT",
    "-c core.pager=touch OUT",
    "--no-index",
    "-O/etc/passwd",
    "--ext-diff",
    "--help",
    "-",
    "--",
];

#[tokio::test]
async fn g01_options_in_any_text_are_refused_and_do_nothing() {
    let lab = Lab::with_repository();
    lab.commit(&lab.repo(), "b.txt", "x\n", "second");
    let before = lab.git(&lab.repo(), &["for-each-ref"]);
    for hostile in HOSTILE {
        let text = hostile.replace("OUT", &lab.mark().display().to_string());
        for (tool, args) in [
            ("git_diff", json!({"target": text})),
            ("git_diff", json!({"target": format!("{text}..HEAD")})),
            ("git_diff", json!({"target": format!("HEAD..{text}")})),
            ("git_show", json!({"revision": text})),
            ("git_log", json!({"revision": text})),
            ("git_log", json!({"start_timestamp": text})),
            ("git_log", json!({"end_timestamp": text})),
            ("git_branch", json!({"contains": text})),
            ("git_branch", json!({"not_contains": text})),
            ("git_blame", json!({"path": "a.txt", "revision": text})),
            ("git_blame", json!({"path": text})),
            ("git_add", json!({"files": [text]})),
            ("git_create_branch", json!({"branch_name": text})),
            ("git_create_branch", json!({"branch_name": "x", "base_branch": text})),
            ("git_checkout", json!({"branch_name": text})),
            ("git_merge", json!({"branch": text})),
            ("git_tag", json!({"action": "create", "name": text})),
            ("git_tag", json!({"action": "create", "name": "x", "revision": text})),
            ("git_tag", json!({"action": "delete", "name": text})),
            ("git_worktree", json!({"action": "add", "path": "w", "branch": text, "base": "main"})),
            ("git_worktree", json!({"action": "add", "path": "w", "branch": "x", "base": text})),
            ("git_stash", json!({"action": "push", "message": text})),
            ("git_fetch", json!({"remote": text})),
            ("git_push", json!({"remote": text})),
            ("git_push", json!({"branch": text})),
            ("git_clone", json!({"url": text, "path": "w"})),
            ("git_clone", json!({"url": "file:///x", "path": "w", "branch": text})),
            ("git_init", json!({"path": "w", "initial_branch": text})),
            ("git_status", json!({"repo_path": text})),
        ] {
            let answer = lab.call(lab.networking(), tool, args.clone()).await;
            assert!(answer.failed, "{tool} {args}: {}", answer.text);
        }
    }
    assert!(!lab.mark().exists());
    assert_eq!(lab.git(&lab.repo(), &["for-each-ref"]), before);
    assert!(!lab.root().join("w").exists());
}

#[tokio::test]
async fn g01_a_file_whose_name_looks_like_an_option_is_a_file() {
    let lab = Lab::with_repository();
    lab.write("--output=x", "x\n");
    lab.write("-c", "x\n");
    lab.change("git_add", json!({"files": ["--output=x", "-c"]})).await.ok();
    lab.change("git_commit", json!({"message": "--amend"})).await.ok();
    assert_eq!(lab.git(&lab.repo(), &["log", "--format=%s"]), "--amend\nfirst");
    let blamed = lab.read("git_blame", json!({"path": "--output=x"})).await.ok();
    assert_eq!(blamed["lines"][0]["text"], "x");
    assert_eq!(lab.read("git_log", json!({"path": "-c"})).await.ok()["commits"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn g02_a_directory_outside_of_the_root_is_refused() {
    let lab = Lab::with_repository();
    let outside = lab.path("outside");
    fs::create_dir(&outside).unwrap();
    lab.git(&outside, &["init", "--quiet"]);
    symlink(&outside, lab.root().join("link")).unwrap();
    let sibling = lab.path("root-and-more");
    fs::create_dir(&sibling).unwrap();
    lab.git(&sibling, &["init", "--quiet"]);
    for path in [
        outside.display().to_string(),
        sibling.display().to_string(),
        "../outside".into(),
        "repo/../../outside".into(),
        "link".into(),
        lab.root().join("link").display().to_string(),
        "/".into(),
        "repo\0".into(),
    ] {
        let text = lab.read("git_status", json!({"repo_path": path})).await.err();
        assert!(text.contains("outside of the directories") || text.contains("NUL"), "{path:?}: {text}");
    }
    // A repository above the root is not found from inside the root.
    lab.git(&lab.path(""), &["init", "--quiet"]);
    let text = lab.read("git_status", json!({"repo_path": "."})).await.err();
    assert!(text.contains("not a git repository"), "{text}");
}

#[tokio::test]
async fn g02_a_repository_with_a_part_outside_is_refused() {
    let attacks: [(&str, Attack); 9] = [
        (".git file", |lab| {
            fs::remove_dir_all(lab.repo().join(".git")).unwrap();
            fs::write(lab.repo().join(".git"), format!("gitdir: {}/.git\n", lab.path("outside").display()))
                .unwrap();
        }),
        (".git link", |lab| {
            fs::remove_dir_all(lab.repo().join(".git")).unwrap();
            symlink(lab.path("outside/.git"), lab.repo().join(".git")).unwrap();
        }),
        ("worktree of an outside repository", |lab| {
            fs::remove_dir_all(lab.repo()).unwrap();
            let repo = lab.repo().display().to_string();
            lab.git(&lab.path("outside"), &["worktree", "add", "--quiet", &repo, "-b", "x"]);
        }),
        ("common directory", |lab| {
            fs::write(lab.repo().join(".git/commondir"), lab.path("outside/.git").display().to_string())
                .unwrap();
        }),
        ("core.worktree", |lab| lab.set("core.worktree", &lab.path("outside").display().to_string())),
        ("alternates", |lab| {
            let list = format!("{}\n", lab.path("outside/.git/objects").display());
            fs::create_dir_all(lab.repo().join(".git/objects/info")).unwrap();
            fs::write(lab.repo().join(".git/objects/info/alternates"), list).unwrap();
        }),
        ("alternates of alternates", |lab| {
            let middle = lab.repository("middle").join(".git/objects");
            for (objects, target) in [
                (lab.repo().join(".git/objects"), middle.clone()),
                (middle, lab.path("outside/.git/objects")),
            ] {
                fs::create_dir_all(objects.join("info")).unwrap();
                fs::write(objects.join("info/alternates"), format!("{}\n", target.display())).unwrap();
            }
        }),
        ("objects link", |lab| {
            fs::rename(lab.repo().join(".git/objects"), lab.path("moved")).unwrap();
            symlink(lab.path("moved"), lab.repo().join(".git/objects")).unwrap();
        }),
        ("refs link", |lab| {
            fs::rename(lab.repo().join(".git/refs/heads"), lab.path("moved")).unwrap();
            symlink(lab.path("moved"), lab.repo().join(".git/refs/heads")).unwrap();
        }),
    ];
    for (name, attack) in attacks {
        let lab = Lab::with_repository();
        let outside = lab.path("outside");
        fs::create_dir(&outside).unwrap();
        lab.git(&outside, &["init", "--quiet", "--template="]);
        lab.commit(&outside, "secret.txt", "secret\n", "secret commit");
        lab.read("git_log", json!({})).await.ok();
        attack(&lab);
        for tool in ["git_log", "git_branch", "git_status"] {
            let text = lab.read(tool, json!({})).await.err();
            assert!(text.contains("outside"), "{name} {tool}: {text}");
            assert!(!text.contains("secret"), "{name} {tool}: {text}");
        }
    }
}

#[tokio::test]
async fn g02_worktrees_and_alternates_inside_the_root_work() {
    let lab = Lab::with_repository();
    lab.git(&lab.repo(), &["worktree", "add", "--quiet", "../second", "-b", "second"]);
    lab.git(&lab.root(), &["clone", "--quiet", "--shared", "repo", "shared"]);
    for path in ["second", "shared"] {
        assert_eq!(
            lab.read("git_log", json!({"repo_path": path})).await.ok()["commits"][0]["subject"],
            "first"
        );
    }
}

#[tokio::test]
async fn g05_only_allowed_transports_are_used() {
    let lab = Lab::with_repository();
    let mark = lab.mark().display().to_string();
    let allowed = || GitOptions { network: Network::Allowed, ..lab.writing() };
    let remote = lab.path("remote.git");
    lab.git(&lab.root(), &["clone", "--quiet", "--bare", "repo", &remote.display().to_string()]);
    for url in [
        format!("ext::sh -c touch% {mark}"),
        format!("file://{}", remote.display()),
        remote.display().to_string(),
        format!("ssh://-oProxyCommand=touch {mark}/x"),
        format!("-oProxyCommand=touch {mark}:x"),
        "git://127.0.0.1/x".into(),
        "http://127.0.0.1:9/x".into(),
        "fd::17".into(),
        "https://user:secret@127.0.0.1:9/x".into(),
    ] {
        let cloned = lab.call(allowed(), "git_clone", json!({"url": url, "path": "copy"})).await.err();
        assert!(!cloned.contains("secret"), "{cloned}");
        assert!(!lab.root().join("copy").exists());
        if url.starts_with("https") {
            continue;
        }
        // The same address as a configured remote, with repository settings that try to allow it.
        lab.git(&lab.repo(), &["config", "--local", "--replace-all", "remote.evil.url", &url]);
        lab.git(&lab.repo(), &["config", "--local", "--replace-all", "remote.evil.fetch", "+refs/*:refs/*"]);
        lab.call(allowed(), "git_fetch", json!({"remote": "evil"})).await.err();
        lab.call(allowed(), "git_push", json!({"remote": "evil"})).await.err();
        lab.set("protocol.ext.allow", "always");
        lab.set("protocol.allow", "always");
        lab.call(allowed(), "git_fetch", json!({"remote": "evil"})).await.err();
        lab.git(&lab.repo(), &["config", "--local", "--remove-section", "protocol.ext"]);
        lab.git(&lab.repo(), &["config", "--local", "--remove-section", "protocol"]);
    }
    assert!(!lab.mark().exists());
}

#[tokio::test]
async fn g05_settings_that_redirect_a_remote_are_refused() {
    let canary_of = |lab: &Lab| format!("{} #", lab.canary());
    for key in [
        "core.sshCommand",
        "core.gitProxy",
        "remote.origin.uploadpack",
        "remote.origin.receivepack",
        "credential.helper",
        "http.proxy",
        "url.https://evil/.insteadOf",
        "remote.origin.vcs",
    ] {
        let lab = Lab::with_repository();
        let value = canary_of(&lab);
        lab.git(&lab.repo(), &["remote", "add", "origin", "ssh://127.0.0.1:9/x"]);
        lab.set(key, &value);
        let options = || GitOptions { network: Network::Allowed, ..lab.writing() };
        for tool in ["git_fetch", "git_push"] {
            let text = lab.call(options(), tool, json!({})).await.err();
            assert!(
                text.contains("is not trusted here") || text.contains("transport"),
                "{key} {tool}: {text}"
            );
        }
        lab.assert_silent(key);
    }
}

#[tokio::test]
async fn g05_submodules_are_neither_entered_nor_fetched() {
    let lab = Lab::with_repository();
    let inner = lab.repository("inner");
    let url = inner.display().to_string();
    lab.git(&lab.repo(), &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "sub"]);
    lab.git(&lab.repo(), &["commit", "--quiet", "-m", "submodule"]);
    let canary = lab.canary();
    let config = lab.repo().join(".git/modules/sub/config");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{text}\n[core]\nfsmonitor = {canary}\n[filter \"x\"]\nclean = {canary}\n"))
        .unwrap();
    fs::write(lab.repo().join(".git/modules/sub/info-attributes"), "").unwrap();
    fs::create_dir_all(lab.repo().join(".git/modules/sub/info")).unwrap();
    fs::write(lab.repo().join(".git/modules/sub/info/attributes"), "* filter=x\n").unwrap();
    lab.set("submodule.sub.update", &format!("!{canary}"));
    lab.set("submodule.recurse", "true");
    lab.set("submodule.sub.ignore", "none");
    fs::write(lab.repo().join("sub/a.txt"), "dirty\n").unwrap();
    lab.read("git_status", json!({})).await.ok();
    lab.read("git_diff_unstaged", json!({})).await.ok();
    lab.read("git_diff", json!({"target": "HEAD"})).await.ok();
    lab.read("git_show", json!({"revision": "HEAD"})).await.ok();
    lab.change("git_checkout", json!({"branch_name": "HEAD~1"})).await.ok();
    lab.change("git_checkout", json!({"branch_name": "main"})).await.ok();
    lab.write("a.txt", "x\n");
    lab.change("git_stash", json!({"action": "push"})).await.ok();
    lab.assert_silent("submodules");
    let remote = lab.path("remote.git").display().to_string();
    lab.git(&lab.root(), &["clone", "--quiet", "--bare", "repo", &remote]);
    let url = format!("file://{remote}");
    lab.call(lab.networking(), "git_clone", json!({"url": url, "path": "copy"})).await.ok();
    assert!(fs::read_dir(lab.root().join("copy/sub")).unwrap().next().is_none());
}

#[tokio::test]
async fn g06_paths_are_literal_and_stay_inside() {
    let lab = Lab::with_repository();
    fs::write(lab.path("secret.txt"), "secret").unwrap();
    fs::write(lab.root().join("other.txt"), "x").unwrap();
    symlink(lab.path(""), lab.repo().join("way-out")).unwrap();
    lab.write("b.txt", "x\n");
    lab.write("sub/c.txt", "x\n");
    for path in [
        "../other.txt",
        "sub/../../other.txt",
        "way-out",
        "way-out/secret.txt",
        ":/",
        ":(top)b.txt",
        ":!a.txt",
        ":(glob)**",
        "*.txt",
        "[b].txt",
        ".git/config",
        "",
        &lab.path("secret.txt").display().to_string(),
    ] {
        let answer = lab.change("git_add", json!({"files": [path]})).await;
        assert!(answer.failed, "{path:?}: {}", answer.text);
    }
    assert_eq!(lab.git(&lab.repo(), &["diff", "--cached", "--name-only"]), "");
    let absolute = lab.repo().join("b.txt").display().to_string();
    lab.change("git_add", json!({"files": [absolute, "./sub//c.txt"]})).await.ok();
    assert_eq!(lab.git(&lab.repo(), &["diff", "--cached", "--name-only"]), "b.txt\nsub/c.txt");
    // A file with exactly that name.
    lab.write("*.md", "x\n");
    lab.write("real.md", "x\n");
    lab.change("git_add", json!({"files": ["*.md"]})).await.ok();
    assert_eq!(lab.git(&lab.repo(), &["diff", "--cached", "--name-only"]), "*.md\nb.txt\nsub/c.txt");
}

#[tokio::test]
async fn g08_init_stays_inside_and_uses_no_template() {
    let lab = Lab::with_repository();
    symlink(lab.path(""), lab.root().join("way-out")).unwrap();
    for path in
        ["../new", "/tmp/new-repository", "way-out/new", "way-out", "repo/.git/new", "missing/../../new"]
    {
        let answer = lab.change("git_init", json!({"path": path})).await;
        assert!(answer.failed, "{path}: {}", answer.text);
    }
    assert!(!lab.path("new").exists() && !lab.repo().join(".git/new").exists());
    lab.change("git_init", json!({"path": "new"})).await.ok();
    assert!(!lab.root().join("new/.git/hooks").exists());
}

#[tokio::test]
async fn g09_counts_are_clamped() {
    let lab = Lab::with_repository();
    // A history of 700 commits, made quickly.
    let mut script = String::from("reset refs/heads/long\n");
    for number in 0..700 {
        write!(script, "commit refs/heads/long\ncommitter A <a@b> {number} +0000\ndata 1\nx\n").unwrap();
    }
    fs::write(lab.path("script"), script).unwrap();
    let import = format!("git fast-import --quiet < '{}'", lab.path("script").display());
    assert!(
        std::process::Command::new("sh")
            .args(["-c", &import])
            .current_dir(lab.repo())
            .status()
            .unwrap()
            .success()
    );
    for (count, expected) in [(-5, 1), (0, 1), (1_000_000_000, 500), (i64::MIN, 1), (20, 20)] {
        let data = lab.read("git_log", json!({"revision": "long", "max_count": count})).await.ok();
        assert_eq!(data["commits"].as_array().unwrap().len(), expected, "{count}");
        assert_eq!(data["truncated"], true);
    }
    lab.write("a.txt", "x\n");
    lab.read("git_diff_unstaged", json!({"context_lines": -1})).await.ok();
    lab.read("git_diff_unstaged", json!({"context_lines": i64::MAX})).await.ok();
    lab.read("git_blame", json!({"path": "a.txt", "start_line": 0, "end_line": u64::MAX})).await.ok();
}

#[tokio::test]
async fn g09_large_files_are_capped() {
    let lab = Lab::with_repository();
    let file = fs::File::create(lab.repo().join("big.bin")).unwrap();
    // Twice the memory limit of git below.
    file.set_len(128 << 20).unwrap();
    lab.git(&lab.repo(), &["add", "big.bin"]);
    lab.git(&lab.repo(), &["commit", "--quiet", "-m", "big"]);
    lab.commit(&lab.repo(), "long.txt", &"a line of text\n".repeat(100_000), "long");
    let limited = || GitOptions { memory: Some(64 * 1024 * 1024), ..lab.options() };
    let big = lab.call(limited(), "git_show", json!({"revision": "HEAD:big.bin"})).await.ok();
    assert_eq!((big["size"].as_u64(), big.get("content")), (Some(128 << 20), None));
    let long = lab.call(limited(), "git_show", json!({"revision": "HEAD:long.txt"})).await.ok();
    assert_eq!(long["truncated"], true);
    assert_eq!(long["content"].as_str().unwrap().len(), 96 * 1024);
    let commit = lab.call(limited(), "git_show", json!({"revision": "HEAD~1"})).await.ok();
    assert_eq!(commit["files"][0]["path"], "big.bin");
    let patch = lab.call(limited(), "git_show", json!({"revision": "HEAD"})).await.ok();
    assert_eq!(patch["truncated"], true);
    assert!(patch["patch"].as_str().unwrap().len() <= 96 * 1024);
}

#[tokio::test]
async fn g09_a_git_that_hangs_is_killed_with_its_group_at_the_deadline() {
    let lab = Lab::with_repository();
    // Replaces the git program by one that never ends.
    let bin = lab.path("bin");
    fs::create_dir(&bin).unwrap();
    let script = format!("#!/bin/sh\necho $$ > '{}'\nsleep 1000 & sleep 1000\n", lab.mark().display());
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // With settings of the user git is not confined, so the program can write its mark.
    let user_settings = UserSettings::Read("/dev/null".into());
    let deadline = Duration::from_millis(500);
    let options = GitOptions { search: vec![bin], deadline, user_settings, ..lab.options() };
    let text = lab.call(options, "git_status", json!({})).await.err();
    assert!(text.contains("took longer than 0.5 s and was stopped"), "{text}");
    let group = fs::read_to_string(lab.mark()).unwrap();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let fields: Vec<_> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
        assert!(fields.len() < 3 || fields[0] == "Z" || fields[2] != group.trim(), "{stat}");
    }
}

#[tokio::test]
async fn v09_files_that_are_guarded_stay_as_they_are() {
    let lab = Lab::with_repository();
    let repo = lab.repo();
    lab.write("config.json", "mine\n");
    lab.git(&repo, &["add", "."]);
    lab.git(&repo, &["commit", "--quiet", "-m", "mine"]);
    lab.git(&repo, &["switch", "--quiet", "-c", "theirs"]);
    lab.write("config.json", "theirs\n");
    lab.git(&repo, &["commit", "--quiet", "-am", "theirs"]);
    lab.git(&repo, &["switch", "--quiet", "main"]);
    // A tag of the same name must not be used instead of the branch.
    lab.git(&repo, &["tag", "theirs", "main"]);
    lab.git(&repo, &["switch", "--quiet", "-c", "harmless"]);
    lab.write("other.txt", "x\n");
    lab.git(&repo, &["add", "."]);
    lab.git(&repo, &["commit", "--quiet", "-m", "other"]);
    lab.git(&repo, &["switch", "--quiet", "main"]);
    let options = || GitOptions { guarded: vec![repo.join("config.json")], ..lab.writing() };
    for (tool, args) in [
        ("git_checkout", json!({"branch_name": "theirs"})),
        ("git_checkout", json!({"branch_name": "refs/heads/theirs"})),
        ("git_merge", json!({"branch": "refs/heads/theirs"})),
    ] {
        let refused = lab.call(options(), tool, args).await.err();
        assert!(refused.contains("part of the configuration of this server"), "{tool}: {refused}");
        assert_eq!(std::fs::read_to_string(repo.join("config.json")).unwrap(), "mine\n");
    }
    lab.call(options(), "git_merge", json!({"branch": "harmless"})).await.ok();
    lab.call(options(), "git_checkout", json!({"branch_name": "harmless"})).await.ok();
    lab.write("config.json", "changed\n");
    lab.git(&repo, &["stash", "push", "--quiet"]);
    let refused = lab.call(options(), "git_stash", json!({"action": "pop"})).await.err();
    assert!(refused.contains("part of the configuration"), "{refused}");
    lab.git(&repo, &["stash", "pop", "--quiet"]);
    let refused = lab.call(options(), "git_stash", json!({"action": "push"})).await.err();
    assert!(refused.contains("part of the configuration"), "{refused}");
    assert_eq!(std::fs::read_to_string(repo.join("config.json")).unwrap(), "changed\n");
}
