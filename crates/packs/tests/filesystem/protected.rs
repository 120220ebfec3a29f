//! Protected files and directories: attacks F13, G14, V09 and V13.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::json;
use trunkline_packs::sandbox::Protected;

use crate::place::{Place, snapshot};

#[tokio::test]
async fn f13_secrets_are_neither_read_nor_written_at_any_depth() {
    let place = Place::new();
    let secrets = [
        ".env",
        "a/b/.env",
        ".env.production",
        ".ENV",
        ".Env.",
        ".env ",
        ".ssh/id_rsa",
        "deep/.ssh/config",
        ".SSH/x",
        "home/id_ed25519",
        ".aws/credentials",
        ".docker/config.json",
        "x/.netrc",
        ".git-credentials",
        ".e\u{200c}nv",
        ".env::$DATA",
    ];
    for path in secrets {
        place.write(path, "token=1234");
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("read_media_file", json!({"path": path})),
            ("search_content", json!({"path": path, "query": "token"})),
            ("get_file_info", json!({"path": path})),
            ("copy_file", json!({"source": path, "destination": "copy"})),
            ("move_file", json!({"source": path, "destination": "moved"})),
            ("write_file", json!({"path": path, "content": ""})),
            ("edit_file", json!({"path": path, "edits": [{"old_text": "token", "new_text": ""}]})),
            ("delete_file", json!({"path": path})),
        ] {
            let text = place.err(tool, arguments).await;
            assert!(
                text.contains("protected by the rule") && !text.contains("1234"),
                "{tool} {path}: {text}"
            );
        }
    }
    let found = place.ok("search_content", json!({"query": "token", "include_ignored": true})).await;
    assert_eq!(found["matches"], json!([]));
    place.write(".env.example", "token=");
    place.ok("read_file", json!({"path": ".env.example"})).await;
}

#[tokio::test]
async fn f13_what_git_runs_is_not_written_at_any_depth() {
    let place = Place::new();
    place.write(".git/config", "[core]");
    place.write("plain/hooks/pre-commit", "");
    let paths = [
        ".git/hooks/pre-commit",
        ".git/config",
        "sub/.git/hooks/x",
        ".GIT/config",
        ".git./config",
        ".git /x",
        ".Git/HOOKS/x",
        "git~1/config",
        ".g\u{200c}it/config",
        ".git::$INDEX_ALLOCATION/config",
        ".git",
    ];
    for path in paths {
        for (tool, arguments) in [
            ("write_file", json!({"path": path, "content": "x"})),
            ("create_directory", json!({"path": path})),
            ("move_file", json!({"source": "plain", "destination": path})),
            ("copy_file", json!({"source": "plain/hooks/pre-commit", "destination": path})),
            ("delete_file", json!({"path": path, "recursive": true})),
        ] {
            let text = place.err(tool, arguments).await;
            assert!(text.contains("protected by the rule"), "{tool} {path}: {text}");
        }
    }
    place.ok("read_file", json!({"path": ".git/config"})).await;
}

#[tokio::test]
async fn f13_a_link_does_not_lead_around_the_rules() {
    let place = Place::new();
    place.write(".git/hooks/sample", "");
    place.write(".ssh/key", "private");
    place.write(".docker/config.json", "auth");
    symlink(".git", place.root.join("innocent")).unwrap();
    symlink(".ssh", place.root.join("keys")).unwrap();
    symlink(".ssh/key", place.root.join("key")).unwrap();
    for path in ["innocent/hooks/pre-commit", "innocent/new/dir/file", "keys/key"] {
        place.err("write_file", json!({"path": path, "content": "x"})).await;
    }
    place.err("read_file", json!({"path": "keys/key"})).await;
    place.err("read_file", json!({"path": "key"})).await;
    place.err("list_directory", json!({"path": "keys"})).await;
    assert!(!place.root.join(".git/new").exists());
    // A rule of two names cannot be bypassed by renaming the first.
    place.err("move_file", json!({"source": ".docker", "destination": "docker"})).await;
}

#[tokio::test]
async fn v13_secrets_and_records_of_the_server_are_not_read() {
    let place = Place::with(|options| {
        let private = ["state/trunkline", "tls.key"].map(|name| options.roots[0].join(name));
        options.protected = Protected::default().and_private(&private);
    });
    fs::create_dir_all(place.root.join("state/trunkline/audit")).unwrap();
    for file in ["state/trunkline/operator", "state/trunkline/audit/1.jsonl", "tls.key", "free"] {
        fs::write(place.root.join(file), "canary").unwrap();
    }
    symlink("state/trunkline", place.root.join("link")).unwrap();
    for path in ["state/trunkline/operator", "link/operator", "link/audit/1.jsonl", "TLS.key", "tls.key"] {
        let refused = place.err("read_file", json!({"path": path})).await;
        assert!(refused.contains("is protected by the rule"), "{path}: {refused}");
    }
    for (tool, arguments) in [
        ("copy_file", json!({"source": "tls.key", "destination": "copy"})),
        ("move_file", json!({"source": "state", "destination": "copy"})),
        ("write_file", json!({"path": "state/trunkline/operator", "content": "x"})),
        ("list_directory", json!({"path": "state/trunkline"})),
        ("get_file_info", json!({"path": "tls.key"})),
    ] {
        let refused = place.err(tool, arguments).await;
        assert!(refused.contains("is protected by the rule"), "{tool}: {refused}");
    }
    let found = place.ok("search_content", json!({"query": "canary"})).await;
    assert_eq!(found["files_matched"], 1, "{found}");
    let tree = place.ok("directory_tree", json!({"path": "."})).await.to_string();
    assert!(!tree.contains("operator"), "{tree}");
}

#[tokio::test]
async fn v09_files_guarded_by_their_path_can_be_read_and_nothing_else() {
    let mut guarded = PathBuf::new();
    let place = Place::with(|options| {
        guarded = options.roots[0].join("etc/named.json");
        options.protected =
            Protected::default().and_files(&[guarded.clone(), options.roots[0].join("state")]);
    });
    fs::create_dir(place.root.join("etc")).unwrap();
    fs::write(&guarded, "{}").unwrap();
    place.write("free", "x");
    symlink("etc", place.root.join("link")).unwrap();
    let before = snapshot(&place.root);
    for path in [
        "etc/named.json",
        "link/named.json",
        "etc/NAMED.json",
        "state/new",
        "trunkline.json",
        "a/trunkline.json.",
    ] {
        let refused = place.err("write_file", json!({"path": path, "content": "evil"})).await;
        assert!(refused.contains("is protected by the rule"), "{path}: {refused}");
    }
    let edit = json!({"path": "etc/named.json", "edits": [{"old_text": "{}", "new_text": "evil"}]});
    for (tool, arguments) in [
        ("edit_file", edit),
        ("delete_file", json!({"path": "etc/named.json"})),
        ("delete_file", json!({"path": "etc", "recursive": true})),
        ("move_file", json!({"source": "etc", "destination": "elsewhere"})),
        ("move_file", json!({"source": "etc/named.json", "destination": "elsewhere"})),
        ("move_file", json!({"source": "free", "destination": "etc/named.json"})),
        ("copy_file", json!({"source": "free", "destination": "etc/named.json"})),
        ("create_directory", json!({"path": "state"})),
    ] {
        let refused = place.err(tool, arguments).await;
        assert!(refused.contains("is protected by the rule"), "{tool}: {refused}");
    }
    assert_eq!(snapshot(&place.root), before);
    assert_eq!(place.ok("read_file", json!({"path": "etc/named.json"})).await["content"], "{}");
    place.ok("write_file", json!({"path": "etc/other", "content": "x"})).await;
}

/// A bare repository, and one whose git directory is named by a file.
#[tokio::test]
async fn g14_git_directories_of_any_name_are_not_changed() {
    let place = Place::new();
    for top in ["bare.git", "sub/meta"] {
        for name in ["HEAD", "objects/info/x", "refs/heads/main", "hooks/sample"] {
            place.write(&format!("{top}/{name}"), "x");
        }
    }
    place.write("work/.git", "gitdir: part\n");
    place.write("work/part/HEAD", "x");
    place.write("free", "x");
    symlink("../sub/meta", place.root.join("work/link")).unwrap();
    let before = snapshot(&place.root);
    for top in ["bare.git", "sub/meta", "work/part", "work/link"] {
        for (tool, arguments) in [
            ("write_file", json!({"path": format!("{top}/index"), "content": "x"})),
            ("write_file", json!({"path": format!("{top}/hooks/new/post-merge"), "content": "x"})),
            (
                "edit_file",
                json!({"path": format!("{top}/HEAD"), "edits": [{"old_text": "x", "new_text": "y"}]}),
            ),
            ("create_directory", json!({"path": format!("{top}/a/b")})),
            ("copy_file", json!({"source": "free", "destination": format!("{top}/index")})),
            ("move_file", json!({"source": "free", "destination": format!("{top}/index")})),
            ("delete_file", json!({"path": format!("{top}/HEAD")})),
        ] {
            let refused = place.err(tool, arguments).await;
            assert!(refused.contains("protected by the rule `git directory`"), "{tool} {top}: {refused}");
        }
    }
    for path in ["sub", "bare.git"] {
        place.err("delete_file", json!({"path": path, "recursive": true})).await;
    }
    place.err("move_file", json!({"source": "bare.git", "destination": "other"})).await;
    assert_eq!(snapshot(&place.root), before);
    place.ok("read_file", json!({"path": "bare.git/HEAD"})).await;
    place.ok("write_file", json!({"path": "work/src/a", "content": "x"})).await;
}

#[tokio::test]
async fn f13_credentials_in_gits_own_files_are_not_shown() {
    let place = Place::new();
    let token = format!("ghp_{}", "a1B2c3".repeat(6));
    let config = format!("[remote \"origin\"]\n\turl = https://{token}@github.com/a/b.git\n");
    let password = "[remote \"origin\"]\n\turl = https://me:hunter22@example.org/a.git\n";
    for name in ["HEAD", "objects/x", "refs/x"] {
        place.write(&format!("bare.git/{name}"), "x");
    }
    for path in [".git/config", "sub/.git/modules/a/b/config", "bare.git/config", ".gitconfig"] {
        for text in [config.as_str(), password] {
            place.write(path, text);
            for (tool, arguments) in [
                ("read_file", json!({"path": path})),
                ("read_file", json!({"path": path, "encoding": "base64", "offset": 40, "limit": 9})),
                ("read_media_file", json!({"path": path})),
                ("copy_file", json!({"source": path, "destination": "copy"})),
            ] {
                let refused = place.err(tool, arguments).await;
                assert!(refused.contains("contains credentials"), "{tool} {path}: {refused}");
            }
            let several = place.ok("read_multiple_files", json!({"paths": [path]})).await.to_string();
            assert!(!several.contains(&token) && !several.contains("hunter22"), "{several}");
            for query in ["url", "hunter", "ghp_a"] {
                let search = json!({"query": query, "include_ignored": true});
                assert_eq!(place.ok("search_content", search).await["matches"], json!([]), "{path}");
            }
        }
        std::fs::remove_file(place.root.join(path)).unwrap();
    }
    place.write(".git/config", "[remote \"origin\"]\n\turl = git@github.com:a/b.git\n");
    let search = json!({"query": "url", "include_ignored": true});
    assert_eq!(place.ok("search_content", search).await["matches"].as_array().unwrap().len(), 1);
}

/// The home directory is reached through a link, and the directories do not exist yet.
#[tokio::test]
async fn v09_missing_guarded_directories_are_found_through_links() {
    let place = Place::with(|options| {
        let root = options.roots[0].clone();
        let home = root.parent().unwrap().join("home");
        symlink(&root, &home).unwrap();
        symlink("dangling/target", root.join("state")).unwrap();
        options.protected =
            Protected::default().and_files(&[home.join(".local/state/tl"), home.join("state/tl")]);
    });
    for path in [".local/state/tl/approved", ".local/state/tl", "dangling/target/tl/x", "dangling/target/tl"]
    {
        let refused = place.err("write_file", json!({"path": path, "content": "x"})).await;
        assert!(refused.contains("protected by the rule"), "{path}: {refused}");
    }
    place.ok("write_file", json!({"path": ".local/state/other", "content": "x"})).await;
}
