//! F04: a parent directory is repeatedly replaced by a link and back.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::place::{Place, SECRET, attempt, snapshot};

const ROUNDS: usize = 1000;

/// Swaps two names repeatedly until it is dropped.
struct Swapper {
    done: Arc<AtomicBool>,
    swaps: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Swapper {
    fn start(a: PathBuf, b: PathBuf) -> Self {
        let (done, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stop, count) = (Arc::clone(&done), Arc::clone(&swaps));
        let thread = std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
                count.fetch_add(1, Ordering::Relaxed);
                std::thread::yield_now();
            }
        });
        Self { done, swaps, thread: Some(thread) }
    }

    fn swaps(&self) -> u64 {
        self.swaps.load(Ordering::Relaxed)
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// Creates the same names inside and outside, so that an escaping call would find a file to
/// change.
fn fill(dir: &Path, content: &str) {
    for round in 0..ROUNDS {
        fs::write(dir.join(format!("move-{round}")), content).unwrap();
        fs::write(dir.join(format!("delete-{round}")), content).unwrap();
    }
    fs::write(dir.join("read"), content).unwrap();
}

#[tokio::test]
async fn f04_a_parent_swapped_for_a_link_during_4000_calls_has_no_effect_outside() {
    let place = Place::new();
    let (inside, link) = (place.root.join("d"), place.root.join("other"));
    fs::create_dir(&inside).unwrap();
    fill(&inside, "inside");
    fill(&place.outside, SECRET);
    symlink(&place.outside, &link).unwrap();
    let before = snapshot(&place.outside);
    let swapper = Swapper::start(inside.clone(), link.clone());

    // Proves that the race is real: plain access by path soon reaches the outside file.
    while fs::read_to_string(inside.join("read")).unwrap() != SECRET {}

    let mut done = 0;
    for round in 0..ROUNDS {
        let calls = [
            ("write_file", json!({"path": format!("d/write-{}", round % 50), "content": "inside"})),
            ("read_file", json!({"path": "d/read"})),
            (
                "move_file",
                json!({"source": format!("d/move-{round}"), "destination": format!("d/moved-{round}")}),
            ),
            ("delete_file", json!({"path": format!("d/delete-{round}")})),
        ];
        for (tool, arguments) in calls {
            if let Ok(result) = attempt(&place.trial, tool, arguments).await {
                done += 1;
                assert!(!result.to_string().contains(SECRET), "{tool} read outside: {result}");
            }
        }
    }
    assert!(swapper.swaps() > 0);
    drop(swapper);
    assert!(done > 0, "at least some calls met the directory");
    assert_eq!(snapshot(&place.outside), before);
}

#[tokio::test]
async fn f04_making_listing_copying_editing_and_deleting_trees_stay_inside_too() {
    let place = Place::new();
    let (inside, link) = (place.root.join("d"), place.root.join("other"));
    for dir in [&inside, &place.outside] {
        fs::create_dir_all(dir.join("sub/deep")).unwrap();
        fs::write(dir.join("sub/deep/file"), if dir == &inside { "inside" } else { SECRET }).unwrap();
        fs::write(dir.join("edit"), if dir == &inside { "inside" } else { SECRET }).unwrap();
    }
    symlink(&place.outside, &link).unwrap();
    fs::write(place.outside.join("only-outside"), "").unwrap();
    let before = snapshot(&place.outside);
    let swapper = Swapper::start(inside.clone(), link.clone());
    for round in 0..60 {
        let calls = [
            ("create_directory", json!({"path": format!("d/new/{round}/x")})),
            (
                "edit_file",
                json!({"path": "d/edit", "edits": [{"old_text": "i", "new_text": "ii"}], "replace_all": true}),
            ),
            ("copy_file", json!({"source": "d/sub/deep/file", "destination": format!("d/copy-{round}")})),
            ("write_file", json!({"path": "d/append", "content": "x", "mode": "append"})),
            ("list_directory", json!({"path": "d", "depth": 3})),
            ("directory_tree", json!({"path": "d"})),
            ("search_files", json!({"path": "d", "pattern": "only-*"})),
            ("search_content", json!({"path": "d", "query": "only"})),
            ("delete_file", json!({"path": "d/sub", "recursive": true})),
        ];
        for (tool, arguments) in calls {
            if tool == "edit_file" && round > 8 {
                continue;
            }
            if let Ok(result) = attempt(&place.trial, tool, arguments).await {
                let text = result.to_string();
                assert!(!text.contains("only-outside") && !text.contains(SECRET), "{tool}: {text}");
            }
        }
    }
    drop(swapper);
    assert_eq!(snapshot(&place.outside), before);
}
