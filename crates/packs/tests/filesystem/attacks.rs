//! Content, names and protected places: attacks F06, F08, F09, F10, F12 and F13.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};
use trunkline_packs::sandbox::Protected;

use crate::place::{Place, attempt, snapshot};

#[tokio::test]
async fn f06_a_file_of_2_gb_is_read_in_small_parts() {
    let place = Place::new();
    let file = File::create(place.root.join("big")).unwrap();
    file.set_len(2 << 30).unwrap();
    let text = place.err("read_file", json!({"path": "big"})).await;
    assert!(text.contains("base64"), "{text}");
    let part = place
        .ok("read_file", json!({"path": "big", "encoding": "base64", "offset": (2_u64 << 30) - 4}))
        .await;
    assert_eq!((&part["content"], &part["truncated"]), (&json!("AAAAAA=="), &json!(false)));
    let part = place.ok("read_file", json!({"path": "big", "encoding": "base64"})).await;
    assert_eq!((&part["truncated"], &part["next_offset"]), (&json!(true), &json!(48 << 10)));
    place.err("read_media_file", json!({"path": "big"})).await;
    place.err("edit_file", json!({"path": "big", "edits": [{"old_text": "a", "new_text": "b"}]})).await;
    place.err("copy_file", json!({"source": "big", "destination": "copy"})).await;
    let found = place.ok("search_content", json!({"query": "a"})).await;
    assert_eq!(found["files_passed_over"], 1);
}

#[tokio::test]
async fn f06_lines_of_a_file_too_large_for_memory() {
    let place = Place::with(|options| {
        options.caps.scan_bytes = 1000;
        options.caps.read_bytes = 100;
    });
    let lines: String = (0..1000).map(|n| format!("line {n:04}\n")).collect::<Vec<_>>().concat();
    place.write("log", &lines);
    let head = place.ok("read_file", json!({"path": "log", "head": 2})).await;
    assert_eq!(head["content"], "line 0000\nline 0001\n");
    assert_eq!((&head["truncated"], &head["next_offset"]), (&json!(true), &json!(2)));
    let tail = place.ok("read_file", json!({"path": "log", "tail": 2})).await;
    assert_eq!((&tail["content"], &tail["truncated"]), (&json!("line 0998\nline 0999\n"), &json!(false)));
    let middle = place.ok("read_file", json!({"path": "log", "offset": 500})).await;
    assert_eq!((&middle["count"], &middle["next_offset"]), (&json!(10), &json!(510)));
    let more = place.ok("read_file", json!({"path": "log", "tail": 50})).await;
    assert_eq!((&more["count"], &more["truncated"]), (&json!(9), &json!(true)));
}

#[tokio::test]
async fn f06_odd_windows_are_bounded_or_refused() {
    let place = Place::with(|options| options.caps.read_bytes = 1000);
    place.write("three", "a\nb\nc");
    for wrong in [json!({"head": -1}), json!({"head": 0}), json!({"tail": 0}), json!({"head": 1, "tail": 1})]
    {
        let mut arguments = wrong;
        arguments["path"] = "three".into();
        place.err("read_file", arguments).await;
    }
    let text = place.err("read_file", json!({"path": "three", "offset": 4})).await;
    assert!(text.contains("has 3 lines"), "{text}");
    assert_eq!(place.ok("read_file", json!({"path": "three", "offset": 3})).await["content"], "");
    place.write("wide", "ü".repeat(5000));
    let wide = place.ok("read_file", json!({"path": "wide"})).await;
    assert_eq!((wide["content"].as_str().unwrap().len(), &wide["truncated"]), (1000, &json!(true)));
    place.write("empty", "");
    let empty = place.ok("read_file", json!({"path": "empty", "tail": 3})).await;
    assert_eq!((&empty["content"], &empty["total_lines"]), (&json!(""), &json!(0)));
}

#[tokio::test]
async fn f06_what_is_not_utf8_needs_its_encoding() {
    let place = Place::new();
    place.write("binary", b"\x7fELF\0\x01\xff");
    let text = place.err("read_file", json!({"path": "binary"})).await;
    assert!(text.contains("not UTF-8") && text.contains("base64"), "{text}");
    let utf16: Vec<u8> = "\u{feff}grüß\r\ndich".encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.write("marked", &utf16);
    let read = place.ok("read_file", json!({"path": "marked"})).await;
    assert_eq!((&read["content"], &read["encoding"]), (&json!("grüß\r\ndich"), &json!("utf-16le")));
    place.write("unmarked", &utf16[2..]);
    assert!(place.err("read_file", json!({"path": "unmarked"})).await.contains("utf-16le"));
    place.ok("read_file", json!({"path": "unmarked", "encoding": "utf-16le"})).await;
    place.write("latin", b"caf\xe9");
    assert!(place.err("read_file", json!({"path": "latin"})).await.contains("offset 3"));
    assert_eq!(
        place.ok("read_file", json!({"path": "latin", "encoding": "latin-1"})).await["content"],
        "café"
    );
}

fn edit(path: &str, edits: &[(&str, &str)]) -> Value {
    let edits: Vec<Value> =
        edits.iter().map(|(old, new)| json!({"old_text": old, "new_text": new})).collect();
    json!({"path": path, "edits": edits})
}

#[tokio::test]
async fn f08_text_that_is_missing_or_ambiguous_is_not_edited() {
    let place = Place::new();
    let content = "let a = 1;\n  let b = 2;\nlet a = 1;\naaa\n";
    place.write("f", content);
    let wrong: [&[(&str, &str)]; 7] = [
        &[("nowhere", "x")],
        &[("let a = 1;", "x")],
        &[("aa", "x")],
        &[("", "x")],
        &[("let b", "let b")],
        &[("let b = 2", "x"), ("b = 2;", "y")],
        &[("let b", "x"), ("nowhere", "y")],
    ];
    for edits in wrong {
        place.err("edit_file", edit("f", edits)).await;
        assert_eq!(place.read("f"), content);
    }
    assert!(place.err("edit_file", edit("f", &[("let a = 1;", "x")])).await.contains("lines 1, 3"));
    assert!(place.err("edit_file", edit("f", &[("let  b = 2;", "x")])).await.contains("line 2"));
    assert!(place.err("edit_file", edit("f", wrong[5])).await.contains("edits 1 and 2 overlap"));
    let mut all = edit("f", &[("let a", "let c")]);
    all["replace_all"] = true.into();
    assert_eq!(place.ok("edit_file", all).await["replacements"], 2);
    assert_eq!(place.read("f"), content.replace("let a", "let c"));
}

#[tokio::test]
async fn f08_replacements_are_literal() {
    let place = Place::new();
    place.write("f", "price: OLD (.*)\n");
    place.ok("edit_file", edit("f", &[("OLD", "$& $1 \\1 ${x}"), ("(.*)", "$'")])).await;
    assert_eq!(place.read("f"), "price: $& $1 \\1 ${x} $'\n");
}

#[tokio::test]
async fn f08_line_ends_encoding_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let path = place.write("crlf", "one\r\ntwo\r\nthree\r\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    place.ok("edit_file", edit("crlf", &[("one\ntwo\n", "1\n2\n2b\n")])).await;
    assert_eq!(place.read("crlf"), "1\r\n2\r\n2b\r\nthree\r\n");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o751);
    place.write("lf", "one\ntwo\n");
    place.ok("edit_file", edit("lf", &[("one\r\ntwo", "1\n2")])).await;
    assert_eq!(place.read("lf"), "1\n2\n");
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    place.write("wide", utf16("\u{feff}grüß"));
    place.ok("edit_file", edit("wide", &[("grüß", "dich")])).await;
    assert_eq!(fs::read(place.root.join("wide")).unwrap(), utf16("\u{feff}dich"));
}

#[tokio::test]
async fn f08_a_dry_run_shows_the_diff_and_writes_nothing() {
    let place = Place::new();
    place.write("f", "a\nb\nc\n");
    let before = fs::metadata(place.root.join("f")).unwrap().ino();
    let mut arguments = edit("f", &[("b", "B")]);
    arguments["dry_run"] = true.into();
    let shown = place.ok("edit_file", arguments).await;
    assert_eq!(shown["diff"], "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    assert_eq!((&shown["written"], place.read("f").as_str()), (&json!(false), "a\nb\nc\n"));
    assert_eq!(fs::metadata(place.root.join("f")).unwrap().ino(), before);
}

#[tokio::test]
async fn f09_nothing_is_replaced_by_a_move() {
    let place = Place::new();
    place.write("a", "a");
    place.write("b", "b");
    place.write("dir/inner/x", "x");
    for (source, destination) in
        [("a", "b"), ("a", "dir"), ("dir", "a"), ("a", "a"), ("dir", "dir/inner/dir"), ("dir", "dir/new")]
    {
        let before = snapshot(&place.root);
        place.err("move_file", json!({"source": source, "destination": destination})).await;
        assert_eq!(snapshot(&place.root), before, "{source} to {destination}");
    }
    let text = place.err("move_file", json!({"source": "dir", "destination": "dir/new"})).await;
    assert!(text.contains("into itself"), "{text}");
    place.ok("move_file", json!({"source": "dir", "destination": "moved"})).await;
    assert_eq!(place.read("moved/inner/x"), "x");
}

#[tokio::test]
async fn f09_of_two_moves_to_one_name_exactly_one_wins() {
    let place = Place::new();
    for round in 0..200 {
        place.write("left", "left");
        place.write("right", "right");
        let to = format!("target-{round}");
        let (a, b) = tokio::join!(
            attempt(&place.trial, "move_file", json!({"source": "left", "destination": to})),
            attempt(&place.trial, "move_file", json!({"source": "right", "destination": to})),
        );
        assert!(a.is_ok() != b.is_ok(), "{a:?} {b:?}");
        let (winner, loser) = if a.is_ok() { ("left", "right") } else { ("right", "left") };
        assert_eq!((place.read(&to).as_str(), place.read(loser).as_str()), (winner, loser));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn f09_a_move_to_another_filesystem_is_refused_with_advice() {
    let other = tempfile::tempdir_in("/dev/shm").unwrap();
    let place = Place::with(|options| options.roots.push(other.path().to_owned()));
    place.write("a", "a");
    if fs::metadata(&place.root).unwrap().dev() == fs::metadata(other.path()).unwrap().dev() {
        return;
    }
    let to = other.path().join("a");
    let text = place.err("move_file", json!({"source": "a", "destination": to.to_str().unwrap()})).await;
    assert!(text.contains("another filesystem") && text.contains("copy_file"), "{text}");
    assert_eq!((place.read("a").as_str(), to.exists()), ("a", false));
}

#[tokio::test]
async fn f10_the_root_and_full_directories_are_not_deleted() {
    let place = Place::new();
    place.write("dir/file", "x");
    let root = place.root.to_str().unwrap();
    for path in [".", "./", root, "dir/./", "dir"] {
        place.err("delete_file", json!({"path": path})).await;
    }
    for path in [".", root] {
        let text = place.err("delete_file", json!({"path": path, "recursive": true})).await;
        assert!(text.contains("allowed directory itself"), "{text}");
    }
    assert_eq!(place.read("dir/file"), "x");
    let gone = place.ok("delete_file", json!({"path": "dir", "recursive": true})).await;
    assert_eq!((&gone["entries_deleted"], place.root.join("dir").exists()), (&json!(2), false));
}

#[tokio::test]
async fn f10_deleting_a_link_or_a_tree_with_links_leaves_the_targets() {
    let place = Place::new();
    place.write("kept/file", "kept");
    fs::create_dir(place.root.join("tree")).unwrap();
    symlink(&place.outside, place.root.join("tree/out")).unwrap();
    symlink("../kept", place.root.join("tree/in")).unwrap();
    symlink(&place.outside, place.root.join("link")).unwrap();
    place.ok("delete_file", json!({"path": "link"})).await;
    let gone = place.ok("delete_file", json!({"path": "tree", "recursive": true})).await;
    assert_eq!(gone["entries_deleted"], 3);
    assert_eq!((snapshot(&place.outside).len(), place.read("kept/file").as_str()), (1, "kept"));
}

#[tokio::test]
async fn f10_a_tree_with_too_much_or_protected_names_stays_whole() {
    let place = Place::with(|options| options.caps.deleted = 10);
    for n in 0..10 {
        place.write(&format!("many/{n}"), "");
    }
    place.write("project/a", "");
    place.write("project/z/.git/config", "");
    for path in ["many", "project"] {
        let before = snapshot(&place.root);
        place.err("delete_file", json!({"path": path, "recursive": true})).await;
        assert_eq!(snapshot(&place.root), before);
    }
}

#[tokio::test]
async fn f12_strange_names_are_shown_safely_and_can_be_given_back() {
    let place = Place::new();
    let names: [&[u8]; 6] = [
        b"two\nlines",
        b"\x1b[31mred\x07",
        b"bad\xff\xfe",
        "turn\u{202e}txt.exe".as_bytes(),
        b"back\\slash",
        b"a\rb\tc",
    ];
    for name in names {
        fs::write(place.root.join(OsStr::from_bytes(name)), name).unwrap();
    }
    let listing = place.ok("list_directory", json!({"path": "."})).await;
    let shown: Vec<&str> =
        listing["entries"].as_array().unwrap().iter().map(|e| e["path"].as_str().unwrap()).collect();
    assert_eq!(shown.len(), names.len());
    for path in shown {
        assert!(!path.contains(|c: char| c.is_control() || c == '\u{202e}'), "{path:?}");
        let read = place.ok("read_file", json!({"path": path, "encoding": "base64"})).await;
        assert_eq!(read["path"], path);
        let copy = format!("copies/{path}");
        place.ok("copy_file", json!({"source": path, "destination": copy})).await;
        place.ok("delete_file", json!({"path": path})).await;
    }
    for name in names {
        let copy = place.root.join("copies").join(OsStr::from_bytes(name));
        assert_eq!(fs::read(copy).unwrap(), name);
    }
    let error = place.err("read_file", json!({"path": "no\u{1b}[2J\u{202e}file"})).await;
    assert!(error.contains("x1b[2J") && !error.contains('\u{202e}'), "{error}");
}

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
