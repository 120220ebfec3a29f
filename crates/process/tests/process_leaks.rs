//! Many children leave nothing behind. Alone in its process, because it counts what is open there.

use trunkline_process::{Ending, Program};

#[tokio::test]
async fn p04_many_short_children_leave_nothing_open() {
    let open = || std::fs::read_dir("/proc/self/fd").map(Iterator::count).unwrap_or_default();
    let run = || async { Program::new("/bin/sh", "/").args(["-c", "exit 0"]).run().await.unwrap() };
    run().await;
    let before = open();
    for _ in 0..200 {
        assert_eq!(run().await.ending, Ending::Code(0));
    }
    assert_eq!(open(), before);
    let children = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    assert_eq!(children.trim(), "", "zombies are left");
}
