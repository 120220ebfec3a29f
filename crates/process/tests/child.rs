//! Children as real processes: environment, streams, exit and the shutdown steps.
#![expect(clippy::unwrap_used, reason = "a helper of a test may stop at the first surprise")]

mod child_support;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use child_support::{Child, LONG, alive, line, sh, spawn, start, until_gone};
use tokio::{io::AsyncWriteExt, time::timeout};
use trunkline_process::{Command, Departure, Ending, GracePeriods, ShutdownStep, SpawnError};

const SHORT: GracePeriods =
    GracePeriods { eof: Duration::from_millis(200), term: Duration::from_millis(200) };
const PATIENT: GracePeriods = GracePeriods { eof: LONG, term: LONG };

/// A new directory in the build's temporary directory.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("child-{name}-{}", std::process::id()));
    fs::create_dir_all(&path).unwrap();
    path
}

fn script(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Closes its stdin first.
async fn shutdown(child: Child, patience: GracePeriods) -> Departure {
    child.process.shutdown(patience, async { drop(child.stdin) }).await
}

#[tokio::test]
async fn a_secret_of_the_parent_is_not_seen() {
    let mut command = sh("env; echo done");
    command.inherited =
        [("SECRET_TOKEN", "canary"), ("HOME", "/h"), ("LC_ALL", "C"), ("HTTPS_PROXY", "http://u:canary@p")]
            .map(|(name, value)| (name.into(), value.into()))
            .to_vec();
    command.env.push(("GIVEN".into(), "yes".into()));
    let (_child, mut reader) = start(&command);
    let mut seen = Vec::new();
    while let Some(text) = line(&mut reader).await.filter(|text| text != "done") {
        seen.push(text);
    }
    assert!(!seen.iter().any(|text| text.contains("canary")), "{seen:?}");
    for expected in ["HOME=/h", "LC_ALL=C", "GIVEN=yes", "PATH=/usr/bin:/bin"] {
        assert!(seen.iter().any(|text| text == expected), "{expected} in {seen:?}");
    }
    // The shell adds PWD, and some add SHLVL, OLDPWD and `_`; nothing of this process may be
    // there.
    let own = ["HOME=", "LC_ALL=", "GIVEN=", "PATH=", "PWD=", "SHLVL=", "OLDPWD=", "_="];
    assert!(seen.iter().all(|text| own.iter().any(|name| text.starts_with(name))), "{seen:?}");
}

#[tokio::test]
async fn a_bare_name_is_looked_up_in_the_path_of_the_child() {
    let place = directory("path");
    script(&place.join("only-in-the-childs-path"), "#!/bin/sh\necho \"$0 found\"\n", 0o755);
    let mut command = Command::new("only-in-the-childs-path");
    assert!(matches!(
        spawn(&command),
        Err(SpawnError::NotFound { searched, .. }) if !searched.is_empty()
    ));
    command.env.push(("PATH".into(), format!("/nonexistent:{}:/bin", place.display()).into()));
    let (_child, mut reader) = start(&command);
    assert!(line(&mut reader).await.is_some_and(|text| text.ends_with("found")));
    fs::remove_dir_all(place).unwrap();
}

#[tokio::test]
async fn a_relative_program_counts_from_the_working_directory() {
    let place = directory("relative");
    script(&place.join("server"), "#!/bin/sh\npwd\n", 0o755);
    let mut command = Command::new("./server");
    command.directory = Some(place.clone());
    let (_child, mut reader) = start(&command);
    assert_eq!(line(&mut reader).await.map(PathBuf::from), Some(fs::canonicalize(&place).unwrap()));
    fs::remove_dir_all(place).unwrap();
}

#[tokio::test]
async fn failures_to_start_are_told_apart() {
    let place = directory("failures");
    script(&place.join("plain"), "echo hi\n", 0o644);
    script(&place.join("no-interpreter"), "#!/nonexistent/python\n", 0o755);
    script(&place.join("garbage"), "\u{1}\u{2}\u{3}", 0o755);
    let run = |program: PathBuf| spawn(&Command::new(program)).unwrap_err();
    assert!(
        matches!(run(place.join("absent")), SpawnError::NotFound { searched, .. } if searched.is_empty())
    );
    for name in ["plain", "no-interpreter", "garbage"] {
        assert!(matches!(run(place.join(name)), SpawnError::NotExecutable { .. }), "{name}");
    }
    assert!(matches!(run(place.clone()), SpawnError::NotExecutable { .. }));
    for bad in [place.join("absent"), place.join("plain")] {
        let mut command = sh("true");
        command.directory = Some(bad.clone());
        let error = spawn(&command).unwrap_err();
        assert!(matches!(&error, SpawnError::BadWorkingDirectory { directory, .. } if *directory == bad));
        assert!(!error.is_transient());
    }
    fs::remove_dir_all(place).unwrap();
}

#[tokio::test]
async fn lines_go_both_ways_and_the_end_of_input_ends_a_polite_child() {
    let (mut child, mut reader) = start(&sh("while read -r x; do printf '%s\\n' \"$x\"; done; exit 7"));
    for number in 0..100 {
        child.stdin.write_all(format!("{{\"id\":{number}}}\n").as_bytes()).await.unwrap();
    }
    for number in 0..100 {
        assert_eq!(line(&mut reader).await.unwrap(), format!("{{\"id\":{number}}}"));
    }
    assert_eq!(child.try_wait(), None);
    let departure = shutdown(child, PATIENT).await;
    assert_eq!((departure.ending, departure.rung), (Ending::Code(7), ShutdownStep::EndOfInput));
    assert_eq!(line(&mut reader).await, None);
}

#[tokio::test]
async fn an_early_exit_is_told_with_its_code_and_last_words() {
    let (child, mut reader) = start(&sh("echo 'missing API_KEY' >&2; exit 1"));
    assert_eq!(timeout(LONG, child.wait()).await.unwrap(), Ending::Code(1));
    assert_eq!(child.try_wait(), Some(Ending::Code(1)));
    assert_eq!(child.stderr().last_lines(1), ["missing API_KEY"]);
    assert_eq!(line(&mut reader).await, None);
}

#[tokio::test]
async fn a_signal_is_told_as_such() {
    let (child, _reader) = start(&sh("kill -SEGV $$"));
    assert_eq!(timeout(LONG, child.wait()).await.unwrap(), Ending::Signal(11));
}

#[tokio::test]
async fn output_before_the_exit_can_be_read_after_it() {
    let (child, mut reader) = start(&sh("echo '{\"last\":1}'"));
    assert_eq!(timeout(LONG, child.wait()).await.unwrap(), Ending::Code(0));
    assert_eq!(line(&mut reader).await.unwrap(), "{\"last\":1}");
}

#[tokio::test]
async fn a_child_that_ignores_the_end_of_input_is_terminated() {
    let (child, mut reader) = start(&sh("echo up; exec sleep 1000"));
    assert_eq!(line(&mut reader).await.unwrap(), "up");
    let departure = shutdown(child, GracePeriods { eof: Duration::from_millis(100), term: LONG }).await;
    assert_eq!((departure.ending, departure.rung), (Ending::Signal(15), ShutdownStep::Terminate));
}

#[tokio::test]
async fn a_child_that_ignores_everything_is_killed_with_its_group() {
    let (child, mut reader) = start(&sh("trap '' TERM; sleep 1000 & echo $!; while :; do sleep 1000; done"));
    let grandchild: i32 = line(&mut reader).await.unwrap().parse().unwrap();
    let leader = child.id();
    let departure = shutdown(child, SHORT).await;
    assert_eq!((departure.ending, departure.rung), (Ending::Signal(9), ShutdownStep::Kill));
    assert!(!alive(leader));
    // EOF on stdout comes only when every process that holds it has ended.
    assert_eq!(line(&mut reader).await, None);
    until_gone(grandchild).await;
}

#[tokio::test]
async fn grandchildren_go_even_when_the_leader_exits_by_itself() {
    let (child, mut reader) = start(&sh("trap '' TERM; sleep 1000 & echo $!; read -r x; exit 3"));
    let grandchild: i32 = line(&mut reader).await.unwrap().parse().unwrap();
    let departure = shutdown(child, PATIENT).await;
    assert_eq!((departure.ending, departure.rung), (Ending::Code(3), ShutdownStep::EndOfInput));
    assert_eq!(line(&mut reader).await, None);
    until_gone(grandchild).await;
}

#[tokio::test]
async fn who_stays_behind_longer_than_the_grace_is_named_and_goes() {
    let mut command = sh("sleep 1000 & echo $!; read line");
    command.grace = Duration::from_millis(50);
    let (child, mut reader) = start(&command);
    let grandchild: i32 = line(&mut reader).await.unwrap().parse().unwrap();
    let survivors = shutdown(child, PATIENT).await.survivors;
    assert_eq!(survivors.as_deref(), Some(["sleep".to_owned()].as_slice()));
    until_gone(grandchild).await;
}

#[tokio::test]
async fn who_leaves_within_the_grace_is_not_named_and_without_one_nobody_is() {
    let mut command = sh("sleep 0.1 & read line");
    command.grace = LONG;
    let (child, _reader) = start(&command);
    assert_eq!(shutdown(child, PATIENT).await.survivors, Some(Vec::new()));
    let (child, _reader) = start(&sh("sleep 1000 & read line"));
    assert_eq!(shutdown(child, PATIENT).await.survivors, None);
}

#[tokio::test]
async fn dropping_kills_the_group_at_once() {
    let (child, mut reader) = start(&sh("trap '' TERM; sleep 1000 & echo $!; sleep 1000"));
    let grandchild: i32 = line(&mut reader).await.unwrap().parse().unwrap();
    let leader = child.id();
    drop(child);
    assert_eq!(line(&mut reader).await, None);
    until_gone(leader).await;
    until_gone(grandchild).await;
}

#[test]
fn a_runtime_that_goes_takes_its_children_along() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (child, grandchild) = runtime.block_on(async {
        let (child, mut reader) = start(&sh("sleep 1000 & echo $!; sleep 1000"));
        let grandchild: i32 = line(&mut reader).await.unwrap().parse().unwrap();
        (child, grandchild)
    });
    runtime.shutdown_timeout(LONG);
    let other = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    other.block_on(until_gone(grandchild));
    assert_eq!(other.block_on(child.wait()), Ending::Unknown);
}

#[tokio::test]
async fn much_stderr_is_drained_in_bounded_memory() {
    const BYTES: u64 = 200_000_000;
    let (child, _reader) = start(&sh(&format!("yes 0123456789 | head -c {BYTES} >&2; echo 'the end' >&2")));
    assert_eq!(timeout(LONG * 4, child.wait()).await.unwrap(), Ending::Code(0));
    let stderr = child.stderr().captured();
    assert_eq!(stderr.total, BYTES + 8);
    assert!(stderr.tail_text().len() <= 64 * 1024);
    assert!(stderr.tail_text().ends_with("the end\n"));
}

#[tokio::test]
async fn a_process_that_left_the_group_does_not_hold_up_the_end() {
    let (child, mut reader) = start(&sh("setsid sh -c 'echo $$; exec sleep 1000' & read -r x; exit 0"));
    let runaway: i32 = line(&mut reader).await.unwrap().parse().unwrap();
    let departure = shutdown(child, PATIENT).await;
    assert_eq!(departure.ending, Ending::Code(0));
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(runaway).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
}
