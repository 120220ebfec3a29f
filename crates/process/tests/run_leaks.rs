//! Many children leak nothing. Alone in its binary, because it counts the descriptors of the
//! process.

use trunkline_process::{Command, Ending, Limits};

#[tokio::test]
async fn p04_many_short_children_leave_nothing_open() {
    let open = || std::fs::read_dir("/proc/self/fd").map(Iterator::count).unwrap_or_default();
    let children = || std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    let command = Command::new("/bin/sh").args(["-c", "exit 0"]);
    let run = || async { command.run(&Limits::default(), []).await.unwrap() };
    // The first run starts the watchdog, which stays.
    run().await;
    let before = open();
    assert_eq!(children().split_whitespace().count(), 1);
    for _ in 0..200 {
        assert_eq!(run().await.ending, Ending::Code(0));
    }
    assert_eq!(open(), before);
    assert_eq!(children().split_whitespace().count(), 1, "zombies are left");
}
