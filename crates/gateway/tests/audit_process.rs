//! The audit trail of a process that is killed, and of one whose disk is full. Both tests run this
//! test program again as that process.

use futures_util::future::join_all;
use serde_json::{Value, json};
use std::{
    collections::HashSet,
    fs,
    hash::{BuildHasher, RandomState},
    io::{BufRead, BufReader, Read, Write, stdin, stdout},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};
use trunkline_gateway::audit::{Audited, Durability, Options, Trail, verify};
use trunkline_protocol::{Call, Fault, FaultKind, Handler, Raw, Reply, method};

const KILLS: usize = 200;

struct Echo;

impl Handler for Echo {
    fn call(&self, call: Call) -> Reply {
        Reply::ready(Ok(call.params.unwrap_or_else(Raw::null)))
    }
}

fn audited(dir: &Path, options: Options) -> Result<Audited<Echo>, String> {
    let trail = Trail::open(dir, options).map_err(|error| format!("{error:?}"))?;
    Ok(Audited::new(Echo, trail, Arc::new(|_, tool| tool.starts_with("get"))))
}

async fn call(handler: &Audited<Echo>, name: &str) -> Result<Raw, Fault> {
    let params = json!({"name": name, "arguments": {"path": "/tmp/x", "content": "some text"}});
    handler.call(Call::new(method::TOOLS_CALL, Some(params.into()))).outcome().await
}

fn say(line: &str) {
    stdout().write_all(format!("\n{line}\n").as_bytes()).expect("the parent listens");
}

fn dir_from_stdin() -> (PathBuf, String) {
    let mut lines = stdin().lines().map(|line| line.expect("the parent writes lines"));
    (lines.next().unwrap_or_default().into(), lines.next().unwrap_or_default())
}

/// Runs one of the ignored tests below as a separate process, through `launcher` if that is not
/// empty.
fn spawn(test: &str, launcher: &[&str], input: &str) -> (Child, ChildStdin) {
    let own = std::env::current_exe().expect("a test has a path");
    let mut command = match launcher {
        [] => Command::new(own),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).arg(own);
            command
        }
    };
    command.args([test, "--exact", "--ignored", "--nocapture"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut pipe = child.stdin.take().expect("it is piped");
    pipe.write_all(input.as_bytes()).expect("it reads");
    (child, pipe)
}

#[test]
fn d01_no_answered_call_is_missing_after_200_kills() {
    let dir = tempfile::tempdir().unwrap();
    let random = RandomState::new();
    let mut answered = HashSet::new();
    for kill in 0..KILLS {
        let input = format!("{}\n{kill}\n", dir.path().display());
        let (mut child, pipe) = spawn("writer_process", &[], &input);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let after = random.hash_one(kill) % 24;
        let mut seen = 0;
        for line in lines.by_ref() {
            seen += u64::from(line == "opening");
            if let Some(call) = line.strip_prefix("answered ") {
                answered.insert(call.to_owned());
                seen += 1;
            }
            if seen > after {
                break;
            }
        }
        child.kill().unwrap();
        answered.extend(lines.filter_map(|line| line.strip_prefix("answered ").map(str::to_owned)));
        assert_eq!(child.wait().unwrap().code(), None, "it was killed, and had not ended by itself");
        drop(pipe);
        let report = verify(dir.path()).unwrap();
        assert!(report.is_intact(), "after kill {kill}: {report:#?}");
    }
    assert!(answered.len() > KILLS, "{}", answered.len());
    let ended = targets(dir.path(), |record| record["kind"] == "end" && record["outcome"] != "unknown");
    let missing: Vec<_> = answered.difference(&ended).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let started = targets(dir.path(), |record| record["kind"] == "start");
    assert!(ended.is_subset(&started));
    // The next writer of the trail records once that the outcome of calls in flight is unknown.
    drop(audited(dir.path(), Options::default()).unwrap());
    let report = verify(dir.path()).unwrap();
    assert!(report.is_intact() && report.unfinished == 0, "{report:#?}");
    let unknown = targets(dir.path(), |record| record["outcome"] == "unknown");
    assert!(!unknown.is_empty() && unknown.is_disjoint(&ended), "{unknown:?}");
    assert!(verify(dir.path()).unwrap().segments > 20);
}

/// The targets of all records for which `wanted` is true.
fn targets(dir: &Path, wanted: impl Fn(&Value) -> bool) -> HashSet<String> {
    let mut found = HashSet::new();
    for entry in fs::read_dir(dir).expect("the trail is there") {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let text = fs::read_to_string(path).expect("a segment is text");
        let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let targets = records.filter(&wanted);
        found.extend(targets.filter_map(|record| record["target"].as_str().map(str::to_owned)));
    }
    found
}

#[test]
#[ignore = "is run by d01"]
fn writer_process() {
    let (dir, tag) = dir_from_stdin();
    say("opening");
    // Every other process, including the first, lets no call wait for a sync: it may be killed
    // before anything is synced.
    let is_even = tag.parse::<usize>().is_ok_and(|kill| kill % 2 == 0);
    let batch = Durability::Batch { interval: Duration::from_millis(5) };
    let durability = if is_even { batch } else { Durability::Sync };
    let options = Options { segment_bytes: 16 * 1024, durability, ..Options::default() };
    let handler = audited(&dir, options).unwrap();
    let caller = |task: usize| {
        let (handler, tag) = (&handler, &tag);
        async move {
            for n in 0.. {
                let effect = if n % 2 == 0 { "write" } else { "get" };
                let name = format!("{effect}-{tag}-{task}-{n}");
                call(handler, &name).await.unwrap();
                say(&format!("answered {name}"));
            }
        }
    };
    thread::scope(|scope| {
        for lane in 0..2 {
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(join_all((0..4).map(|task| caller(4 * lane + task))));
            });
        }
    });
}

#[test]
fn d02_a_file_system_that_is_full_refuses_changes_until_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size=8m tmpfs '{}' && exec \"$@\"", dir.path().display());
    let launcher = ["unshare", "-rm", "sh", "-c", &mount, "sh"];
    let (mut child, pipe) = spawn("full_disk_process", &launcher, &format!("{}\n\n", dir.path().display()));
    drop(pipe);
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let status = child.wait().unwrap();
    if !text.contains("mounted") {
        eprintln!("not shown here: this system does not let its users mount a small file system");
        return;
    }
    assert!(status.success() && text.contains("\nintact\n"), "{text}");
}

#[tokio::test]
#[ignore = "is run by d02"]
async fn full_disk_process() {
    let (dir, _) = dir_from_stdin();
    say("mounted");
    let ballast = dir.join("ballast");
    fs::write(&ballast, vec![1; 6 * 1024 * 1024]).unwrap();
    let trail = dir.join("trail");
    let handler = audited(&trail, Options { segment_bytes: 256 * 1024, ..Options::default() }).unwrap();
    let mut answered = HashSet::new();
    let fault = loop {
        let name = format!("write-{}", answered.len());
        match call(&handler, &name).await {
            Ok(_) => assert!(answered.insert(name)),
            Err(fault) => break fault,
        }
        assert!(answered.len() < 100_000, "the disk is never full");
    };
    assert_eq!(fault.kind(), FaultKind::StoreUnavailable);
    assert!(call(&handler, "get-while-full").await.is_ok());
    assert!(verify(&trail).unwrap().is_intact());
    fs::remove_file(ballast).unwrap();
    while call(&handler, "write-again").await.is_err() {
        tokio::task::yield_now().await;
    }
    drop(handler);
    let report = verify(&trail).unwrap();
    // The last start record kept while the disk was full may belong to an end record that was
    // lost.
    let most = u64::from(report.lost > 0);
    assert!(report.is_intact() && report.unfinished <= most, "{report:#?}");
    answered.extend(["get-while-full".to_owned(), "write-again".to_owned()]);
    assert!(answered.is_subset(&targets(&trail, |record| record["kind"] == "end")));
    say("intact");
}
