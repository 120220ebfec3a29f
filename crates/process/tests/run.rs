//! Child programs stay within their limits, and leave no processes behind.

use std::time::Duration;

use trunkline_process::{Command, Ending, Finished, Keep, Limits, Overflow, SpawnError};

const MIB: usize = 1024 * 1024;

fn shell(script: &str) -> Command {
    Command::new("/bin/sh").directory("/").args(["-c", script]).envs([("PATH", "/usr/bin:/bin")])
}

/// Runs it without input, within the default limits.
async fn run(command: Command) -> Finished {
    command.run(&Limits::default(), []).await.expect("the program starts")
}

fn text(finished: &Finished) -> String {
    finished.stdout.text()
}

/// Waits until no process of the group is left; the kernel needs a moment after a kill.
async fn group_is_gone(id: i32) {
    let gone = async {
        while group_exists(id) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone).await.expect("the group is gone");
}

fn group_exists(id: i32) -> bool {
    let entries = std::fs::read_dir("/proc").expect("/proc can be read");
    entries.flatten().any(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // After the name: state, parent, group. A zombie only waits to be reaped.
        let fields: Vec<_> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
        fields.len() > 2 && fields[0] != "Z" && fields[2] == id.to_string()
    })
}

#[tokio::test]
async fn c05_both_streams_are_drained_together_and_keep_their_ends() {
    let script = "echo begin; echo BEGIN >&2; \
        head -c 300000000 /dev/zero >&2 & head -c 300000000 /dev/zero; wait; echo end; echo END >&2";
    let limits = Limits { stdout: Keep::ends(6, 4), stderr: Keep::ends(6, 4), ..Limits::default() };
    let finished = shell(script).run(&limits, []).await.unwrap();
    assert_eq!(finished.ending, Ending::Code(0));
    assert_eq!(
        (finished.stdout.head.as_slice(), finished.stdout.tail.as_slice()),
        (&b"begin\n"[..], &b"end\n"[..])
    );
    assert_eq!(
        (finished.stderr.head.as_slice(), finished.stderr.tail.as_slice()),
        (&b"BEGIN\n"[..], &b"END\n"[..])
    );
    assert_eq!((finished.stdout.total, finished.stderr.total), (300_000_010, 300_000_010));
}

#[tokio::test]
async fn c01_arguments_are_never_read_by_a_shell() {
    let hostile = ["$(touch /tmp/x)", "`id`", "; id", "a\nb", "*", "'\"", "-n", "--", "%s"];
    let finished = run(Command::new("/usr/bin/printf").args(["[%s]"]).args(hostile)).await;
    assert_eq!(text(&finished), format!("[{}]", hostile.join("][")));
}

#[tokio::test]
async fn c06_the_environment_is_only_what_was_given() {
    let finished = run(Command::new("/usr/bin/env").envs([("ONE", "1")])).await;
    let names: Vec<String> =
        text(&finished).lines().map(|line| line.split('=').next().unwrap_or_default().to_owned()).collect();
    // Shells may set these for their children.
    let given: Vec<_> =
        names.iter().filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str())).collect();
    assert_eq!(given, ["ONE"]);
}

#[tokio::test]
async fn c08_status_and_signal_are_told() {
    assert_eq!(run(shell("exit 3")).await.ending, Ending::Code(3));
    assert_eq!(run(shell("exit 127")).await.ending, Ending::Code(127));
    assert_eq!(run(shell("kill -SEGV $$")).await.ending, Ending::Signal(11));
}

#[tokio::test]
async fn c08_a_program_that_cannot_start_is_an_error_and_not_a_status() {
    let fails = async |program: &str, directory: &str, arg: &str| {
        let command = Command::new(program).directory(directory).args([arg]);
        command.run(&Limits::default(), []).await.unwrap_err()
    };
    assert!(matches!(fails("/nonexistent/program", "/", "").await, SpawnError::NotFound { .. }));
    assert!(matches!(fails("/etc/passwd", "/", "").await, SpawnError::NotExecutable { .. }));
    assert!(matches!(fails("sh", "/", "").await, SpawnError::NotAbsolute { .. }));
    assert!(matches!(fails("/bin/sh", "/nonexistent", "").await, SpawnError::BadWorkingDirectory { .. }));
    let nul = fails("/bin/sh", "/", "a\0b").await;
    assert!(matches!(nul, SpawnError::Other { source, .. } if source.to_string().contains("nul byte")));
}

#[tokio::test]
async fn the_deadline_kills_the_whole_group() {
    let limits = Limits { deadline: Duration::from_millis(300), ..Limits::default() };
    let command = shell("trap '' TERM; sleep 1000 & sleep 1000 & echo up; wait");
    let running = command.begin(&limits, []).unwrap();
    let id = running.id();
    let finished = running.wait().await;
    assert_eq!(finished.ending, Ending::Deadline);
    assert_eq!(text(&finished), "up\n");
    group_is_gone(id).await;
}

#[tokio::test]
async fn dropping_the_run_kills_the_whole_group() {
    let running = shell("sleep 1000 & sleep 1000").begin(&Limits::default(), []).unwrap();
    let id = running.id();
    assert!(group_exists(id));
    drop(running);
    group_is_gone(id).await;
}

#[tokio::test]
async fn a_kill_is_told_as_one() {
    let running = shell("sleep 1000").begin(&Limits::default(), []).unwrap();
    assert_eq!(running.try_wait(), None);
    running.kill();
    assert_eq!(running.wait().await.ending, Ending::Killed);
    assert_eq!(running.try_wait(), Some(Ending::Killed));
}

#[tokio::test]
async fn what_the_leader_leaves_behind_is_killed_at_its_end() {
    let running = shell("sleep 1000 & echo done").begin(&Limits::default(), []).unwrap();
    let id = running.id();
    let finished = running.wait().await;
    assert_eq!((finished.ending, text(&finished).as_str()), (Ending::Code(0), "done\n"));
    group_is_gone(id).await;
}

#[tokio::test]
async fn one_that_leaves_the_group_cannot_hold_up_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let script = "mkfifo ready go; setsid sh -c ': > ready; read x < go' & read x < ready; echo done";
    let command = shell(script).directory(directory.path());
    let finished = tokio::time::timeout(Duration::from_secs(20), run(command)).await.unwrap();
    assert_eq!((finished.ending, text(&finished).as_str()), (Ending::Code(0), "done\n"));
    // The process that left the group still runs; this ends it.
    std::fs::write(directory.path().join("go"), "").unwrap();
}

#[tokio::test]
async fn c04_memory_beyond_the_limit_is_refused() {
    let limits = Limits { memory: Some(64 * 1024 * 1024), ..Limits::default() };
    // The shell holds the whole output in its memory.
    let script = "x=$(head -c 200000000 /dev/zero | tr '\\0' a); echo ${#x}";
    let finished = shell(script).run(&limits, []).await.unwrap();
    assert_ne!(finished.ending, Ending::Code(0), "{}", text(&finished));
    assert_eq!(
        run(shell("x=$(head -c 1000000 /dev/zero | tr '\\0' a); echo ${#x}")).await.ending,
        Ending::Code(0)
    );
}

#[tokio::test]
async fn c04_file_size_and_open_files_are_limited() {
    let directory = tempfile::tempdir().unwrap();
    let limits = Limits { file_size: Some(MIB as u64), open_files: Some(32), ..Limits::default() };
    let script = "ulimit -n; ulimit -c; head -c 10000000 /dev/zero > big; wc -c < big";
    let finished = shell(script).directory(directory.path()).run(&limits, []).await.unwrap();
    assert_eq!(text(&finished).split_whitespace().collect::<Vec<_>>(), ["32", "0", "1048576"]);
}

#[tokio::test]
async fn one_that_only_talks_is_stopped_when_it_has_said_enough() {
    let limits = Limits { stdout: Keep::head(1000), overflow: Overflow::Stop, ..Limits::default() };
    let finished = Command::new("/usr/bin/yes").run(&limits, []).await.unwrap();
    assert_eq!(finished.ending, Ending::Overflow);
    assert_eq!(finished.stdout.head.len(), 1000);
}

#[tokio::test]
async fn input_is_given_and_may_be_left_unread() {
    let big = vec![b'x'; 10 * MIB];
    let finished = shell("wc -c").run(&Limits::default(), big.clone()).await.unwrap();
    assert_eq!(text(&finished).trim(), big.len().to_string());
    assert_eq!(shell("exit 0").run(&Limits::default(), big).await.unwrap().ending, Ending::Code(0));
    assert_eq!(text(&run(shell("cat")).await), "");
}
