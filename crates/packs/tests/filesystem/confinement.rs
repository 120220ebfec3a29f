//! Paths, links and roots: attacks F01, F02, F03, F05 and F14.

use std::ffi::CString;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, FileType, Mode};
use serde_json::{Value, json};
use trunkline_packs::filesystem::{self, Access, FilesystemOptions};
use trunkline_packs::sandbox::{HardLinks, Roots};
use trunkline_toolbox::{Toolbox, ToolboxBuilder};

use crate::place::{Place, SECRET, err, ok, snapshot, trial};

/// Every tool that takes a path, with that path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("read_media_file", json!({"path": path})),
        ("list_directory", json!({"path": path})),
        ("directory_tree", json!({"path": path})),
        ("search_files", json!({"path": path, "pattern": "*"})),
        ("search_content", json!({"path": path, "query": "o"})),
        ("get_file_info", json!({"path": path})),
        ("file_exists", json!({"path": path})),
        ("directory_exists", json!({"path": path})),
        ("write_file", json!({"path": path, "content": "x"})),
        ("write_file", json!({"path": path, "content": "x", "mode": "append"})),
        ("edit_file", json!({"path": path, "edits": [{"old_text": "o", "new_text": "x"}]})),
        ("create_directory", json!({"path": path})),
        ("copy_file", json!({"source": path, "destination": "copied"})),
        ("copy_file", json!({"source": "own.txt", "destination": path, "overwrite": true})),
        ("move_file", json!({"source": path, "destination": "moved"})),
        ("move_file", json!({"source": "own.txt", "destination": path})),
        ("delete_file", json!({"path": path})),
        ("delete_file", json!({"path": path, "recursive": true})),
    ]
}

async fn refused_everywhere(place: &Place, path: &str) {
    let before = snapshot(&place.base);
    for (tool, arguments) in calls(path) {
        let text = place.err(tool, arguments).await;
        assert!(!text.contains(SECRET), "{tool} {path:?}: {text}");
    }
    let many = place.ok("read_multiple_files", json!({"paths": [path, "own.txt"]})).await;
    assert_eq!(many["failed"], 1, "{path:?}: {many}");
    assert_eq!(snapshot(&place.base), before, "{path:?}");
}

#[tokio::test]
async fn f01_paths_that_try_to_leave_are_refused_by_every_tool() {
    let place = Place::new();
    place.write("own.txt", "own");
    place.write("dir/file", "");
    let long = "x/".repeat(2500);
    let absolute = place.outside.join("secret.txt");
    let paths = [
        "..",
        "../outside/secret.txt",
        "dir/../../outside/secret.txt",
        "dir/..",
        "./../outside",
        "/",
        "/etc/passwd",
        "//etc/passwd",
        "~",
        "~/secret.txt",
        "~root/x",
        "..\\outside\\secret.txt",
        "dir\\file",
        "a\0b",
        "own.txt\0.png",
        "C:\\Windows\\win.ini",
        "C:/Windows",
        "c:",
        "\\\\?\\C:\\x",
        "\\\\server\\share",
        "//?/C:/x",
        "\\x2e\\x2e/outside/secret.txt",
        "dir\\x2f..\\x2f..\\x2foutside",
        "\\x00",
        "",
        &long,
        &"n".repeat(300),
        absolute.to_str().unwrap(),
    ];
    for path in paths {
        refused_everywhere(&place, path).await;
    }
}

#[tokio::test]
async fn f01_percent_signs_are_not_decoded() {
    let place = Place::new();
    place.err("read_file", json!({"path": "%2e%2e/outside/secret.txt"})).await;
    place.ok("write_file", json!({"path": "%2e%2e/new", "content": "x"})).await;
    assert_eq!(place.read("%2e%2e/new"), "x");
}

#[tokio::test]
async fn f01_the_refusal_says_what_to_do() {
    let place = Place::new();
    let text = place.err("read_file", json!({"path": "../x"})).await;
    assert!(text.contains("contains `..`") && text.contains("without `..`"), "{text}");
    let text = place.err("read_file", json!({"path": "/etc/passwd"})).await;
    assert!(text.contains("outside") && text.contains("list_allowed_directories"), "{text}");
}

#[tokio::test]
async fn f02_neighbours_with_similar_names_are_outside() {
    let place = Place::new();
    place.write("own.txt", "own");
    for name in ["root2", "root ", "root\"", "Root", "ROOT", "root."] {
        let dir = place.base.join(name);
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("secret.txt"), SECRET).unwrap();
        refused_everywhere(&place, dir.join("secret.txt").to_str().unwrap()).await;
    }
    let inside = place.root.join("own.txt");
    place.ok("read_file", json!({"path": inside.to_str().unwrap()})).await;
    let quoted = format!("{} ", inside.display());
    place.err("read_file", json!({"path": quoted})).await;
}

#[tokio::test]
async fn f03_links_that_lead_out_are_refused() {
    let place = Place::new();
    place.write("own.txt", "own");
    fs::create_dir(place.root.join("sub")).unwrap();
    symlink(&place.outside, place.root.join("absolute")).unwrap();
    symlink("../outside", place.root.join("relative")).unwrap();
    symlink("../../outside", place.root.join("sub/deep")).unwrap();
    symlink("relative", place.root.join("chained")).unwrap();
    symlink("sub/../../outside", place.root.join("winding")).unwrap();
    for link in ["absolute", "relative", "sub/deep", "chained", "winding"] {
        refused_everywhere(&place, &format!("{link}/secret.txt")).await;
        let text = place.err("read_file", json!({"path": format!("{link}/secret.txt")})).await;
        assert!(text.contains("leads out"), "{text}");
    }
    symlink("../outside/secret.txt", place.root.join("file")).unwrap();
    for tool in ["read_file", "read_media_file", "file_exists"] {
        place.err(tool, json!({"path": "file"})).await;
    }
    let text = place.err("write_file", json!({"path": "file", "content": "x"})).await;
    assert!(text.contains("symbolic link"), "{text}");
    place.err("write_file", json!({"path": "file", "content": "x", "mode": "append"})).await;
    place.err("edit_file", json!({"path": "file", "edits": [{"old_text": "o", "new_text": "x"}]})).await;
    assert_eq!(fs::read_to_string(place.outside.join("secret.txt")).unwrap(), SECRET);
}

#[tokio::test]
async fn f03_a_dangling_link_is_not_written_through() {
    let place = Place::new();
    symlink("../outside/new.txt", place.root.join("dangling")).unwrap();
    symlink("../outside/newdir", place.root.join("dangling-dir")).unwrap();
    symlink("missing", place.root.join("inner")).unwrap();
    for path in ["dangling", "dangling-dir/x", "inner", "inner/x"] {
        place.err("write_file", json!({"path": path, "content": "x"})).await;
        place.err("create_directory", json!({"path": path})).await;
    }
    assert_eq!(snapshot(&place.outside).len(), 1);
    assert!(!place.root.join("missing").exists());
}

#[tokio::test]
async fn f03_a_chain_of_41_links_is_too_long_and_one_of_40_is_not() {
    let place = Place::new();
    place.write("l0", "end");
    for n in 1..=41 {
        symlink(format!("l{}", n - 1), place.root.join(format!("l{n}"))).unwrap();
    }
    let text = place.err("read_file", json!({"path": "l41"})).await;
    assert!(text.contains("more than 40 symbolic links"), "{text}");
    assert_eq!(place.ok("read_file", json!({"path": "l40"})).await["content"], "end");
    symlink("round", place.root.join("round")).unwrap();
    place.err("read_file", json!({"path": "round/x"})).await;
}

#[tokio::test]
async fn f03_links_that_stay_inside_are_followed() {
    let place = Place::new();
    place.write("a/b/file", "content");
    symlink("../b/./file", place.root.join("a/b/link")).unwrap();
    symlink("a/b", place.root.join("short")).unwrap();
    symlink(place.root.join("a"), place.root.join("whole")).unwrap();
    symlink("..", place.root.join("a/up")).unwrap();
    for path in ["a/b/link", "short/file", "whole/b/file", "a/up/a/b/file", "whole/up/short/link"] {
        assert_eq!(place.ok("read_file", json!({"path": path})).await["path"], "a/b/file", "{path}");
    }
    place.ok("list_directory", json!({"path": "a/up"})).await;
    place.ok("write_file", json!({"path": "short/new/file", "content": "x"})).await;
    assert_eq!(place.read("a/b/new/file"), "x");
}

#[tokio::test]
async fn f03_a_hard_link_is_read_by_default_but_its_other_name_never_changes() {
    let place = Place::new();
    let outside = place.outside.join("secret.txt");
    fs::hard_link(&outside, place.root.join("hard")).unwrap();
    assert_eq!(place.ok("read_file", json!({"path": "hard"})).await["content"], SECRET);
    let text = place.err("write_file", json!({"path": "hard", "content": "x", "mode": "append"})).await;
    assert!(text.contains("hard links"), "{text}");
    place.ok("edit_file", json!({"path": "hard", "edits": [{"old_text": "only", "new_text": "not"}]})).await;
    place.ok("write_file", json!({"path": "hard", "content": "new"})).await;
    assert_eq!(place.read("hard"), "new");
    assert_eq!(fs::read_to_string(outside).unwrap(), SECRET);
}

#[tokio::test]
async fn f03_hard_links_can_be_refused_for_reading() {
    let place = Place::with(|options| options.hard_links = HardLinks::Refuse);
    fs::hard_link(place.outside.join("secret.txt"), place.root.join("hard")).unwrap();
    for (tool, arguments) in [
        ("read_file", json!({"path": "hard"})),
        ("read_media_file", json!({"path": "hard"})),
        ("copy_file", json!({"source": "hard", "destination": "copy"})),
        (
            "edit_file",
            json!({"path": "hard", "edits": [{"old_text": "o", "new_text": "x"}], "dry_run": true}),
        ),
    ] {
        assert!(!place.err(tool, arguments).await.contains(SECRET));
    }
    let found = place.ok("search_content", json!({"query": "only"})).await;
    assert_eq!(found["matches"], json!([]));
}

#[tokio::test]
async fn f05_pipes_sockets_and_devices_are_refused_without_hanging() {
    let place = Place::new();
    place.write("own.txt", "own");
    let fifo = CString::new(place.root.join("fifo").to_str().unwrap()).unwrap();
    rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let _socket = UnixListener::bind(place.root.join("socket")).unwrap();
    symlink("/dev/zero", place.root.join("zero")).unwrap();
    for path in ["fifo", "socket", "zero"] {
        for tool in ["read_file", "read_media_file"] {
            place.err(tool, json!({"path": path})).await;
        }
        place.err("write_file", json!({"path": path, "content": "x"})).await;
        place.err("write_file", json!({"path": path, "content": "x", "mode": "append"})).await;
        place.err("copy_file", json!({"source": path, "destination": "copy"})).await;
        place.err("edit_file", json!({"path": path, "edits": [{"old_text": "o", "new_text": "x"}]})).await;
    }
    let found = place.ok("search_content", json!({"query": "own"})).await;
    assert_eq!(found["files_searched"], 1);
    assert_eq!(place.ok("file_exists", json!({"path": "fifo"})).await["exists"], false);
    let devices = trial(FilesystemOptions { roots: vec!["/dev".into()], ..FilesystemOptions::default() });
    for path in ["zero", "null"] {
        assert!(err(&devices, "read_file", json!({"path": path})).await.contains("is a device"));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn f05_proc_leads_nowhere() {
    let proc = trial(FilesystemOptions { roots: vec!["/proc/self".into()], ..FilesystemOptions::default() });
    for path in
        ["exe", "cwd", "root", "root/etc/passwd", "cwd/Cargo.toml", "fd/0", "environ", "mem", "status"]
    {
        err(&proc, "read_file", json!({"path": path})).await;
        err(&proc, "list_directory", json!({"path": path})).await;
    }
}

#[tokio::test]
async fn f14_a_root_that_is_replaced_stays_the_directory_it_was() {
    let place = Place::new();
    place.write("own.txt", "own");
    fs::rename(&place.root, place.base.join("renamed")).unwrap();
    symlink(&place.outside, &place.root).unwrap();
    let absolute = place.root.join("secret.txt");
    place.err("read_file", json!({"path": absolute.to_str().unwrap()})).await;
    place.err("read_file", json!({"path": "secret.txt"})).await;
    assert_eq!(place.ok("read_file", json!({"path": "own.txt"})).await["content"], "own");
    place.ok("write_file", json!({"path": "new/file", "content": "x"})).await;
    assert!(place.base.join("renamed/new/file").exists());
    assert_eq!(snapshot(&place.outside).len(), 1);
}

#[tokio::test]
async fn f14_a_root_that_is_deleted_is_told() {
    let place = Place::new();
    fs::remove_dir_all(&place.root).unwrap();
    fs::create_dir(&place.root).unwrap();
    for (tool, arguments) in [
        ("read_file", json!({"path": "a"})),
        ("read_file", json!({"path": "a/b"})),
        ("write_file", json!({"path": "a", "content": ""})),
        ("write_file", json!({"path": "a/b", "content": ""})),
        ("create_directory", json!({"path": "a"})),
    ] {
        let text = place.err(tool, arguments).await;
        assert!(text.contains("no longer exists"), "{text}");
    }
    assert_eq!(snapshot(&place.root).len(), 0);
}

#[tokio::test]
async fn f14_roots_of_a_client_only_make_the_area_smaller() {
    let place = Place::new();
    place.write("own.txt", "own");
    place.write("sub/file", "inner");
    symlink("../outside", place.root.join("link")).unwrap();
    let roots = Roots::open([&place.root]).unwrap();
    let narrowed = |paths: &[&std::path::Path]| {
        let roots = roots.intersect(&paths.iter().map(|path| path.to_path_buf()).collect::<Vec<_>>());
        let options = FilesystemOptions { access: Access::ReadWrite, ..FilesystemOptions::default() };
        let tools = filesystem::tools(roots, options);
        tools.into_iter().fold(Toolbox::new("files", "1"), ToolboxBuilder::tool).build().unwrap().test()
    };
    let wide = narrowed(&[std::path::Path::new("/")]);
    ok(&wide, "read_file", json!({"path": "own.txt"})).await;
    err(&wide, "read_file", json!({"path": "/etc/passwd"})).await;
    let small = narrowed(&[&place.root.join("sub"), &place.outside]);
    assert_eq!(ok(&small, "read_file", json!({"path": "file"})).await["content"], "inner");
    err(&small, "read_file", json!({"path": place.root.join("own.txt").to_str().unwrap()})).await;
    for none in [narrowed(&[&place.outside]), narrowed(&[&place.root.join("link")]), narrowed(&[])] {
        assert!(err(&none, "read_file", json!({"path": "own.txt"})).await.contains("no allowed directory"));
    }
}

#[tokio::test]
async fn several_roots_are_told_apart_and_the_longest_one_counts() {
    let place = Place::with(|options| {
        let root = options.roots[0].clone();
        let second = root.parent().unwrap().join("second");
        fs::create_dir_all(second.join("nested")).unwrap();
        fs::write(second.join("nested/file"), "deep").unwrap();
        options.roots.extend([second.clone(), second.join("nested")]);
    });
    let path = place.base.join("second/nested/file");
    let read = place.ok("read_file", json!({"path": path.to_str().unwrap()})).await;
    assert_eq!(read["path"], path.to_str().unwrap());
    place.ok("copy_file", json!({"source": path.to_str().unwrap(), "destination": "copied"})).await;
    assert_eq!(place.read("copied"), "deep");
}

#[tokio::test]
async fn a_root_given_in_a_roundabout_way_is_the_same_root() {
    let place = Place::with(|options| {
        let root = options.roots[0].clone();
        symlink(&root, root.parent().unwrap().join("alias")).unwrap();
        options.roots = vec![root.join("../outside/../alias")];
    });
    place.write("own.txt", "own");
    let text = place.err("read_file", json!({"path": "/etc/passwd"})).await;
    assert!(text.contains("outside the allowed"), "{text}");
    place.ok("read_file", json!({"path": place.root.join("own.txt").to_str().unwrap()})).await;
}
