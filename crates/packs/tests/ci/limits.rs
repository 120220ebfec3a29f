//! Resource limits of programs, and cleanup of their processes. Attack ids are in the test names.

use std::time::Duration;

use serde_json::json;
use trunkline_packs::ci::CiOptions;
use trunkline_protocol::Handler;

use crate::bench::{Bench, goes};

const MIB: u64 = 1024 * 1024;

fn unchanged(_: &mut CiOptions) {}

#[tokio::test]
async fn c04_ten_gigabytes_are_not_had() {
    let bench = Bench::script(
        "try:\n    bytearray(10 << 30)\nexcept MemoryError:\n    print('refused')\n    raise SystemExit(3)\n",
        unchanged,
    );
    let said = bench.run_script().await;
    assert_eq!(
        (&said.data["exitCode"], &said.data["logTail"]),
        (&json!(3), &json!("refused")),
        "{}",
        said.text
    );
}

#[tokio::test]
async fn c04_many_processes_together_do_not_get_more_than_their_tree_may() {
    let script = "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n        block = bytearray(b'x' * (60 << 20))\n        time.sleep(60)\n        os._exit(0)\ntime.sleep(60)\n";
    let bench = Bench::script(script, |options| options.limits.tree_memory = Some(200 * MIB));
    let said = bench.run_script().await;
    assert_eq!(
        (&said.data["outcome"], &said.data["success"]),
        (&json!("too_much_memory"), &json!(false)),
        "{}",
        said.text
    );
    assert!(said.text.contains("ask the operator for a higher limit"), "{}", said.text);
}

#[tokio::test]
async fn c04_a_fork_bomb_is_put_out_with_all_its_processes() {
    let script = "import os, time\nfor n in range(400):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(300)\n        os._exit(0)\n    if n == 20:\n        open('pids', 'w').write(str(os.getpid()))\ntime.sleep(300)\n";
    let bench = Bench::script(script, |options| options.limits.processes = Some(40));
    let said = bench.run_script().await;
    assert_eq!(said.data["outcome"], "too_many_processes", "{}", said.text);
    goes(&bench.read("pids")).await;
    let mark = format!("TRUNKLINE_RUN={}", said.data["jobId"].as_str().expect("an id"));
    assert_eq!(marked(&mark), 0, "processes of the run are left");
}

/// Number of running processes with this environment variable.
fn marked(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").expect("a list of processes").flatten();
    let environments = processes.filter_map(|process| std::fs::read(process.path().join("environ")).ok());
    environments
        .filter(|text| text.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes()))
        .count()
}

#[tokio::test]
async fn c04_open_files_and_the_size_of_files_are_bounded() {
    let script = "files = []\ntry:\n    while True:\n        files.append(open('/dev/null'))\nexcept OSError as error:\n    print(error.strerror, len(files) < 64)\nfiles.clear()\ntry:\n    with open('big', 'wb') as big:\n        for _ in range(64):\n            big.write(b'x' * (1 << 20))\nexcept OSError as error:\n    print(error.strerror)\n";
    let bench = Bench::script(script, |options| {
        options.limits.open_files = Some(64);
        options.limits.file_size = Some(4 * MIB);
    });
    let said = bench.run_script().await;
    assert_eq!(said.data["logTail"], "Too many open files True\nFile too large", "{}", said.text);
    assert!(std::fs::metadata(bench.root.path().join("big")).expect("a file").len() <= 4 * MIB);
}

#[tokio::test]
async fn c04_spinning_ends_at_the_deadline_with_all_descendants() {
    let script = "import os\nchild = os.fork()\nif child:\n    open('pid', 'w').write(str(child))\nwhile True:\n    pass\n";
    let bench = Bench::script(script, |options| options.limits.deadline = Duration::from_secs(1));
    let said = bench.run_script().await;
    assert_eq!(
        (&said.data["outcome"], &said.data["state"]),
        (&json!("timed_out"), &json!("ended")),
        "{}",
        said.text
    );
    goes(&bench.read("pid")).await;
}

#[tokio::test]
async fn a_daemon_that_left_the_group_goes_with_the_run() {
    let script = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        open('pid', 'w').write(str(os.getpid()))\n        time.sleep(300)\n    os._exit(0)\nos.wait()\nwhile not os.path.exists('pid') or not open('pid').read():\n    time.sleep(0.01)\n";
    let bench = Bench::script(script, unchanged);
    let said = bench.run_script().await;
    assert_eq!(said.data["success"], true, "{}", said.text);
    goes(&bench.read("pid")).await;
}

#[tokio::test]
async fn a_call_that_is_given_up_takes_its_program_along() {
    let script = "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(300)\n";
    let bench = Bench::script(script, unchanged);
    let request = bench
        .trial
        .request("tools/call", json!({"name": "run_command", "arguments": {"command": "python3 main.py"}}));
    let toolbox = bench.toolbox.clone();
    let mut reply = toolbox.call(request);
    let pid = tokio::select! {
        pid = bench.appears("pid") => pid,
        () = async { while reply.next().await.is_some() {} } => panic!("the call ended"),
    };
    drop(reply);
    goes(&pid).await;
}

#[tokio::test]
async fn c05_both_streams_are_drained_and_their_ends_kept() {
    let script = "import sys, threading\ndef fill(stream):\n    stream.write(b'first line\\n')\n    for _ in range(96):\n        stream.write(b'x' * 1023 + b'\\n' + (b'y' * 1023 + b'\\n') * 1023)\n    stream.write(b'last line\\n')\n    stream.flush()\nthreads = [threading.Thread(target=fill, args=(s.buffer,)) for s in (sys.stdout, sys.stderr)]\n[t.start() for t in threads]\n[t.join() for t in threads]\n";
    let bench = Bench::script(script, unchanged);
    let said = bench.run_script().await;
    assert_eq!(said.data["success"], true, "{}", said.text);
    let total = 96 * MIB + 21;
    assert_eq!((&said.data["logSizeBytes"], &said.data["truncated"]), (&json!(2 * total), &json!(true)));
    let job = said.data["jobId"].clone();
    for stream in ["stdout", "stderr"] {
        let head = bench.call("job_log", json!({"jobId": job, "stream": stream, "limit": 100})).await;
        assert!(
            head.data["text"].as_str().is_some_and(|text| text.starts_with("first line")),
            "{}",
            head.text
        );
        let gap = bench.call("job_log", json!({"jobId": job, "stream": stream, "offset": 10 * MIB})).await;
        assert!(gap.data["skippedBytes"].as_u64().is_some_and(|skipped| skipped > 80 * MIB), "{}", gap.data);
        let tail = bench.call("job_log", json!({"jobId": job, "stream": stream, "offset": total - 10})).await;
        assert_eq!((&tail.data["text"], &tail.data["truncated"]), (&json!("last line\n"), &json!(false)));
    }
}

#[tokio::test]
async fn c06_secrets_of_ours_are_not_in_the_environment() {
    let bench = Bench::script(
        "import os\nprint('\\n'.join(sorted(os.environ)))\nprint(os.environ['WANTED'])\n",
        |options| {
            for name in [
                "GITHUB_TOKEN",
                "AWS_SECRET_ACCESS_KEY",
                "TRUNKLINE_TOKEN",
                "SSH_AUTH_SOCK",
                "LD_PRELOAD",
                "NODE_OPTIONS",
                "BASH_ENV",
            ] {
                options.environment.push((name.into(), "do-not-tell".into()));
            }
            options.environment.push(("WANTED".into(), "passed on".into()));
            options.pass = vec!["WANTED".into()];
        },
    );
    let said = bench.run_script().await;
    let log = said.data["logTail"].as_str().expect("a log");
    assert!(log.contains("PATH") && log.contains("passed on") && said.data["success"] == true, "{log}");
    for name in ["TOKEN", "SECRET", "SSH_", "LD_PRELOAD", "NODE_OPTIONS", "BASH_ENV", "do-not-tell"] {
        assert!(!log.contains(name), "{name} in {log}");
    }
}

#[tokio::test]
async fn c08_how_a_program_ended_is_told_as_it_is() {
    for (end, outcome, code, signal) in [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "killed_by_signal", json!(null), json!(11)),
        ("os.kill(os.getpid(), signal.SIGKILL)", "killed_by_signal", json!(null), json!(9)),
        ("raise SystemExit(126)", "failed", json!(126), json!(null)),
        ("raise SystemExit(127)", "failed", json!(127), json!(null)),
        ("raise SystemExit(0)", "succeeded", json!(0), json!(null)),
    ] {
        let bench = Bench::script(&format!("import os, signal\n{end}\n"), unchanged);
        let said = bench.run_script().await;
        let told = (&said.data["outcome"], &said.data["exitCode"], &said.data["signal"]);
        assert_eq!(told, (&json!(outcome), &code, &signal), "{end}: {}", said.text);
        assert_eq!(said.data["advice"].is_string(), outcome != "succeeded", "{end}");
    }
}

#[tokio::test]
async fn secrets_and_terminal_controls_are_not_shown() {
    let bench = Bench::script("print('\\x1b[31mred\\x1b[0m API_TOKEN=abcdef123456')\n", unchanged);
    let said = bench.run_script().await;
    assert_eq!(said.data["logTail"], "red API_TOKEN=[redacted]");
    let log = bench.call("job_log", json!({"jobId": said.data["jobId"]})).await;
    assert_eq!(log.data["text"], "red API_TOKEN=[redacted]\n");
}

/// Lines of a key that was made for this test.
const KEY: [&str; 4] = [
    "MIICWwIBAAKBgQDDs5NjMRsKq+FV6+6J4GjN56623PoQzuuEkSkSRPMmI7Ub/RiS",
    "y/Mlw95oy2lqZDGklOYeCNHb+AVmfgyWPY2TC04tKzo4UmR0jBxBqhvkXjbWao5v",
    "tQQKUwflvmPiYst7I0YcX2QSxSb8plFP6h/GKq++TYWV2V543zxzAttPowIDAQAB",
    "DRysDguGYCR70XxxOExnSNvUxkHNde8DAmessO2nOg==",
];

#[tokio::test]
async fn c07_parts_of_a_key_are_not_shown_in_any_page_of_a_log() {
    const BEGIN: &str = "-----BEGIN RSA PRIVATE KEY-----";
    const END: &str = "-----END RSA PRIVATE KEY-----";
    let body = KEY.join("\n");
    for printed in [
        format!("{BEGIN}\n{body}\n{END}"),
        format!("{body}\n{END}"),
        format!("{BEGIN}\n{body}"),
        body,
        KEY[1..3].join("\n"),
        KEY[2..].join("\n"),
    ] {
        let script = format!("print({printed:?})\nprint('SECRET=\\'quoted value\\'')\n");
        let bench = Bench::script(&script, unchanged);
        let said = bench.run_script().await;
        let mut shown = said.text.clone();
        for offset in (0..printed.len()).step_by(17) {
            let asked = json!({"jobId": said.data["jobId"], "offset": offset, "limit": 100});
            shown.push_str(&bench.call("job_log", asked).await.text);
        }
        for line in KEY {
            for part in line.as_bytes().windows(8) {
                let part = std::str::from_utf8(part).expect("ASCII");
                assert!(!shown.contains(part), "{part} of {printed} in {shown}");
            }
        }
        assert!(!shown.contains("quoted") && !shown.contains("value"), "{shown}");
    }
}
