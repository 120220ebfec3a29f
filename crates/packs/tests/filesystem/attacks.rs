//! Content and names: attacks F06, F08, F09, F10 and F12.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};

use serde_json::{Value, json};

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
