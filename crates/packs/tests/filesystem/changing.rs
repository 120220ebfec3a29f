//! Writing, copying and making directories.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::json;

use crate::place::{Place, attempt, snapshot};

#[tokio::test]
async fn the_modes_of_writing() {
    let place = Place::new();
    let made = place.ok("write_file", json!({"path": "new/dir/f", "content": "1", "mode": "create"})).await;
    assert_eq!((&made["created"], &made["bytes_written"]), (&json!(true), &json!(1)));
    place.err("write_file", json!({"path": "new/dir/f", "content": "2", "mode": "create"})).await;
    place.ok("write_file", json!({"path": "new/dir/f", "content": "3", "mode": "append"})).await;
    assert_eq!(place.read("new/dir/f"), "13");
    place.ok("write_file", json!({"path": "new/dir/f", "content": "4"})).await;
    assert_eq!(place.read("new/dir/f"), "4");
    place.ok("write_file", json!({"path": "raw", "content": "AP8=", "encoding": "base64"})).await;
    assert_eq!(fs::read(place.root.join("raw")).unwrap(), [0, 255]);
    place.err("write_file", json!({"path": "raw", "content": "?", "encoding": "base64"})).await;
    place.err("write_file", json!({"path": "new/dir", "content": "x"})).await;
    place.err("write_file", json!({"path": "raw/x", "content": "x"})).await;
}

#[tokio::test]
async fn what_killed_writes_left_behind_goes_with_the_next_write() {
    let place = Place::new();
    let old = place.write(".trunkline-4711-0-1a2b.tmp", "half");
    let in_use = place.write(".trunkline-4711-1-1a2b.tmp", "half");
    let writer = fs::File::open(&in_use).unwrap();
    writer.lock().unwrap();
    let foreign = place.write(".trunkline-notes.tmp", "mine");
    place.ok("write_file", json!({"path": "f", "content": "1"})).await;
    assert!(!old.exists(), "its writer has ended");
    assert!(in_use.exists(), "its writer holds the lock");
    assert!(foreign.exists(), "it is not ours");
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_not_overwritten() {
    let place = Place::new();
    place.write("f", "first");
    let hash = place.ok("read_file", json!({"path": "f"})).await["sha256"].clone();
    place.write("f", "second");
    let text = place.err("write_file", json!({"path": "f", "content": "mine", "expected_hash": hash})).await;
    assert!(text.contains("changed") && text.contains("read the file again"), "{text}");
    assert_eq!(place.read("f"), "second");
    let hash = place.ok("read_file", json!({"path": "f"})).await["sha256"].clone();
    let written =
        place.ok("write_file", json!({"path": "f", "content": "mine", "expected_hash": hash})).await;
    place
        .ok("write_file", json!({"path": "f", "content": "again", "expected_hash": written["sha256"]}))
        .await;
    place.err("write_file", json!({"path": "no", "content": "", "expected_hash": hash})).await;
    assert!(!place.root.join("no").exists());
}

#[tokio::test]
async fn a_replaced_file_keeps_permissions_but_not_the_right_to_act_as_its_owner() {
    let place = Place::new();
    let path = place.write("script", "old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4750)).unwrap();
    place.ok("write_file", json!({"path": "script", "content": "new"})).await;
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o750);
    place.ok("copy_file", json!({"source": "script", "destination": "copy"})).await;
    assert_eq!(fs::metadata(place.root.join("copy")).unwrap().mode() & 0o7777, 0o750);
}

#[tokio::test]
async fn nothing_is_left_beside_a_file_when_writing_fails() {
    let place = Place::with(|options| options.caps.write_bytes = 1000);
    place.write("f", "x");
    place.write("g", "y");
    let before = snapshot(&place.root);
    place.err("copy_file", json!({"source": "f", "destination": "g"})).await;
    place.err("copy_file", json!({"source": "f", "destination": "f", "overwrite": true})).await;
    place.err("write_file", json!({"path": "f", "content": "z".repeat(1001)})).await;
    assert_eq!(snapshot(&place.root), before);
    place.ok("copy_file", json!({"source": "f", "destination": "g", "overwrite": true})).await;
    assert_eq!(place.read("g"), "x");
}

#[tokio::test]
async fn edits_of_one_file_at_the_same_time_lose_nothing() {
    let place = Place::new();
    let lines: String = (0..40).map(|n| format!("<{n}>\n")).collect::<Vec<_>>().concat();
    place.write("f", &lines);
    let edits: Vec<_> = (0..40)
        .map(|n| {
            let edit = json!({"old_text": format!("<{n}>"), "new_text": format!("[{n}]")});
            let trial = place.trial.clone();
            tokio::spawn(
                async move { attempt(&trial, "edit_file", json!({"path": "f", "edits": [edit]})).await },
            )
        })
        .collect();
    for edit in edits {
        edit.await.unwrap().unwrap();
    }
    assert_eq!(place.read("f"), lines.replace('<', "[").replace('>', "]"));
}

#[tokio::test]
async fn directories_are_made_with_their_parents_and_only_once() {
    let place = Place::new();
    place.write("file", "");
    assert_eq!(place.ok("create_directory", json!({"path": "a/b/c"})).await["created"], true);
    assert_eq!(place.ok("create_directory", json!({"path": "a/b/c/"})).await["created"], false);
    assert_eq!(place.ok("create_directory", json!({"path": "."})).await["created"], false);
    place.err("create_directory", json!({"path": "file"})).await;
    place.err("create_directory", json!({"path": "file/x"})).await;
    place.ok("delete_file", json!({"path": "a/b/c"})).await;
    assert!(!place.root.join("a/b/c").exists());
}

#[tokio::test]
async fn a_flushed_write_reaches_its_name_as_well() {
    let place = Place::with(|options| options.durability = trunkline_packs::sandbox::Durability::Flushed);
    place.ok("write_file", json!({"path": "d/f", "content": "1"})).await;
    place.ok("write_file", json!({"path": "d/f", "content": "2", "mode": "append"})).await;
    place.ok("move_file", json!({"source": "d/f", "destination": "d/g"})).await;
    assert_eq!(place.read("d/g"), "12");
    place.ok("delete_file", json!({"path": "d", "recursive": true})).await;
}
