//! Reading files and listing directories.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::place::Place;

#[tokio::test]
async fn pages_of_a_file_follow_one_another() {
    let place = Place::with(|options| options.caps.read_lines = 3);
    place.write("f", "1\n2\n3\n4\n5");
    let first = place.ok("read_file", json!({"path": "f"})).await;
    assert_eq!(first["content"], "1\n2\n3\n");
    assert_eq!((&first["next_offset"], &first["total_lines"]), (&json!(3), &json!(5)));
    let second = place.ok("read_file", json!({"path": "f", "offset": first["next_offset"]})).await;
    assert_eq!((&second["content"], &second["truncated"]), (&json!("4\n5"), &json!(false)));
    assert_eq!(place.ok("read_file", json!({"path": "f", "tail": 2})).await["content"], "4\n5");
    assert_eq!(place.ok("read_file", json!({"path": "f", "offset": 1, "limit": 1})).await["content"], "2\n");
}

#[tokio::test]
async fn several_files_share_one_answer_and_fail_alone() {
    let place = Place::with(|options| options.caps.read_bytes = 8192);
    place.write("a", "small");
    place.write("b", "line\n".repeat(10_000));
    let read = place.ok("read_multiple_files", json!({"paths": ["a", "missing", "b"]})).await;
    assert_eq!(read["files"][0]["file"]["content"], "small");
    assert!(read["files"][1]["error"].as_str().unwrap().contains("does not exist"));
    let cut = read["files"][2]["file"]["content"].as_str().unwrap();
    assert!(cut.len() > 4096 && cut.len() <= 8192, "{}", cut.len());
    assert_eq!((&read["truncated"], &read["failed"]), (&json!(true), &json!(1)));
    let many: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    place.err("read_multiple_files", json!({"paths": many})).await;
}

#[tokio::test]
async fn an_image_is_known_by_its_content() {
    let place = Place::new();
    place.write("picture.txt", b"\x89PNG\r\n\x1a\nrest");
    place.write("sound.wav", b"RIFF\0\0\0\0WAVEfmt ");
    place.write("data.bin", b"\0\x01\x02");
    for (path, block, mime) in [
        ("picture.txt", "image", "image/png"),
        ("sound.wav", "audio", "audio/wav"),
        ("data.bin", "resource", "application/octet-stream"),
    ] {
        let result = place.trial.call("read_media_file", json!({"path": path})).await;
        let shown: Value = serde_json::to_value(&result).unwrap();
        assert_eq!(shown["content"][0]["type"], block, "{shown}");
        assert_eq!(shown["structuredContent"]["mime_type"], mime);
    }
}

#[tokio::test]
async fn listings_go_down_sort_leave_out_and_are_cut() {
    let place = Place::with(|options| options.caps.entries = 4);
    place.write("a/small", "1");
    place.write("a/large", "1".repeat(100));
    place.write("skip/x", "");
    symlink("a", place.root.join("link")).unwrap();
    let paths = |listing: &Value| -> Vec<String> {
        listing["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["path"].as_str().unwrap().to_owned())
            .collect()
    };
    let flat = place.ok("list_directory", json!({"path": "."})).await;
    assert_eq!(paths(&flat), ["a", "link", "skip"]);
    assert_eq!(flat["entries"][1]["type"], "symlink");
    let deep = place
        .ok("list_directory", json!({"path": ".", "depth": 2, "exclude": ["skip"], "sort": "size"}))
        .await;
    assert_eq!(paths(&deep)[..2], ["a/large", "a/small"]);
    assert_eq!(deep["entries"][0]["size_bytes"], 100);
    let cut = place.ok("list_directory", json!({"path": ".", "depth": 2})).await;
    assert_eq!((paths(&cut).len(), &cut["total"], &cut["truncated"]), (4, &json!(6), &json!(true)));
}

#[tokio::test]
async fn a_listing_of_long_names_is_cut_by_its_size() {
    let place = Place::with(|options| options.caps.read_bytes = 10_000);
    for n in 0..200 {
        place.write(&format!("{n:0>200}"), "");
    }
    let listing = place.ok("list_directory", json!({"path": ".", "sizes": true})).await;
    assert!(listing.to_string().len() < 12_000);
    assert_eq!((&listing["total"], &listing["truncated"]), (&json!(200), &json!(true)));
}

#[tokio::test]
async fn a_tree_shows_near_levels_first_and_marks_what_is_missing() {
    let place = Place::new();
    for n in 0..20 {
        place.write(&format!("deep/one/two/{n}"), "");
    }
    place.write("zeta/last", "");
    place.write("target/built", "");
    place.write(".gitignore", "target\n");
    let tree = place.ok("directory_tree", json!({"path": ".", "max_entries": 6})).await;
    let names: Vec<&str> =
        tree["children"].as_array().unwrap().iter().map(|n| n["name"].as_str().unwrap()).collect();
    assert_eq!(names, [".gitignore", "deep", "zeta"]);
    assert_eq!((&tree["entries"], &tree["truncated"]), (&json!(6), &json!(true)));
    assert_eq!(tree["children"][2]["children"][0]["name"], "last");
    let flat =
        place.ok("directory_tree", json!({"path": ".", "max_depth": 1, "include_ignored": true})).await;
    assert_eq!(flat["children"].as_array().unwrap().len(), 4);
    assert_eq!(flat["children"][1]["truncated"], true);
}

#[tokio::test]
async fn facts_about_files_links_and_what_is_not_there() {
    let place = Place::new();
    place.write("f", "12345");
    symlink("f", place.root.join("l")).unwrap();
    let info = place.ok("get_file_info", json!({"path": "f"})).await;
    assert_eq!((&info["type"], &info["size_bytes"], &info["links"]), (&json!("file"), &json!(5), &json!(1)));
    let info = place.ok("get_file_info", json!({"path": "l"})).await;
    assert_eq!((&info["type"], &info["link_target"]), (&json!("symlink"), &json!("f")));
    fs::create_dir(place.root.join("d")).unwrap();
    for (path, file, directory) in [
        ("f", true, false),
        ("l", true, false),
        ("d", false, true),
        (".", false, true),
        ("f/x", false, false),
        ("no", false, false),
    ] {
        assert_eq!(place.ok("file_exists", json!({"path": path})).await["exists"], file, "{path}");
        assert_eq!(place.ok("directory_exists", json!({"path": path})).await["exists"], directory, "{path}");
    }
    let allowed = place.ok("list_allowed_directories", json!({})).await;
    assert_eq!(allowed["directories"][0], place.root.to_str().unwrap());
    assert_eq!(allowed["writable"], true);
}
