//! Jobs: ownership, limits and status.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::{Bench, call, caller, goes};

const SLEEPER: &str = "import os, time\nprint('started', flush=True)\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(300)\n";

fn start() -> Value {
    json!({"action": "command", "command": "python3 main.py"})
}

#[tokio::test]
async fn a_job_is_started_followed_read_and_cancelled() {
    let bench = Bench::script(SLEEPER, |_| {});
    let started = bench.call("start_job", start()).await;
    assert_eq!(
        (&started.data["state"], &started.data["success"]),
        (&json!("running"), &json!(false)),
        "{}",
        started.text
    );
    let job = started.data["jobId"].clone();
    let pid = bench.appears("pid").await;

    let status = bench.call("job_status", json!({"jobId": job})).await;
    assert_eq!(status.data["state"], "running");
    assert!(status.text.contains("waitSeconds 25"), "{}", status.text);
    let log = bench.call("job_log", json!({"jobId": job})).await;
    assert_eq!(
        (&log.data["text"], &log.data["nextOffset"], &log.data["truncated"]),
        (&json!("started\n"), &json!(8), &json!(true))
    );
    let list = bench.call("list_jobs", json!({})).await;
    assert_eq!((&list.data["jobs"][0]["jobId"], &list.data["jobs"][0]["outcome"]), (&job, &json!(null)));

    let ended = bench.call("cancel_job", json!({"jobId": job})).await;
    assert_eq!(
        (&ended.data["state"], &ended.data["outcome"]),
        (&json!("ended"), &json!("cancelled")),
        "{}",
        ended.text
    );
    goes(&pid).await;
    let again = bench.call("cancel_job", json!({"jobId": job})).await;
    assert_eq!(again.data["outcome"], "cancelled");
    let rest = bench.call("job_log", json!({"jobId": job, "offset": 8})).await;
    assert_eq!((&rest.data["text"], &rest.data["truncated"]), (&json!(""), &json!(false)));
}

#[tokio::test]
async fn a_call_that_takes_long_goes_on_as_a_job() {
    let script = "import os, time\nwhile not os.path.exists('go'):\n    time.sleep(0.01)\nprint('done')\n";
    let bench = Bench::script(script, |options| options.limits.patience = Duration::from_millis(50));
    let said = bench.run_script().await;
    assert_eq!(said.data["state"], "running", "{}", said.text);
    std::fs::write(bench.root.path().join("go"), "").expect("a file");
    let ended = bench.call("job_status", json!({"jobId": said.data["jobId"], "waitSeconds": 25})).await;
    assert_eq!(
        (&ended.data["success"], &ended.data["logTail"]),
        (&json!(true), &json!("done")),
        "{}",
        ended.text
    );
}

#[tokio::test]
async fn a_job_belongs_to_its_caller() {
    let bench = Bench::script(SLEEPER, |_| {});
    let (alice, bob) =
        (bench.trial.clone().caller(caller("alice", &[])), bench.trial.clone().caller(caller("bob", &[])));
    let job = call(&alice, "start_job", start()).await.data["jobId"].clone();
    for tool in ["job_status", "job_log", "cancel_job"] {
        let said = call(&bob, tool, json!({"jobId": job})).await;
        let unknown = call(&bob, tool, json!({"jobId": "0".repeat(32)})).await;
        assert!(said.is_error && said.text.contains("there is no job"), "{tool}: {}", said.text);
        assert_eq!(
            said.text.replace(job.as_str().expect("an id"), "?"),
            unknown.text.replace(&"0".repeat(32), "?")
        );
    }
    assert_eq!(call(&bob, "list_jobs", json!({})).await.data["jobs"], json!([]));
    assert_eq!(call(&alice, "job_status", json!({"jobId": job})).await.data["state"], "running");
}

#[tokio::test]
async fn the_number_of_running_jobs_is_bounded() {
    let bench = Bench::script(SLEEPER, |options| {
        options.jobs.running = 3;
        options.jobs.running_per_caller = 2;
    });
    let (alice, bob) =
        (bench.trial.clone().caller(caller("alice", &[])), bench.trial.clone().caller(caller("bob", &[])));
    let first = call(&alice, "start_job", start()).await;
    call(&alice, "start_job", start()).await;
    let third = call(&alice, "start_job", start()).await;
    assert!(third.is_error && third.text.contains("cancel_job"), "{}", third.text);
    assert!(!call(&bob, "start_job", start()).await.is_error);
    let fourth = call(&bob, "start_job", start()).await;
    assert!(fourth.is_error && fourth.text.contains("too many jobs"), "{}", fourth.text);
    call(&alice, "cancel_job", json!({"jobId": first.data["jobId"]})).await;
    assert!(!call(&bob, "start_job", start()).await.is_error);
}

#[tokio::test]
async fn ended_jobs_are_forgotten() {
    let bench = Bench::script("print('x')\n", |options| options.jobs.kept = 2);
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(bench.run_script().await.data["jobId"].clone());
    }
    assert!(bench.call("job_status", json!({"jobId": jobs[0]})).await.is_error);
    assert!(!bench.call("job_status", json!({"jobId": jobs[2]})).await.is_error);

    let bench = Bench::script("print('x')\n", |options| options.jobs.ttl = Duration::ZERO);
    let job = bench.run_script().await.data["jobId"].clone();
    assert!(bench.call("job_status", json!({"jobId": job})).await.is_error);
}

#[tokio::test]
async fn a_job_ends_at_the_time_its_caller_set() {
    let bench = Bench::script(SLEEPER, |_| {});
    let mut order = start();
    order["timeoutSeconds"] = json!(1);
    let job = bench.call("start_job", order).await.data["jobId"].clone();
    let ended = bench.call("job_status", json!({"jobId": job, "waitSeconds": 25})).await;
    assert_eq!(ended.data["outcome"], "timed_out", "{}", ended.text);
}

#[tokio::test]
async fn jobs_end_with_the_pack() {
    let bench = Bench::script(SLEEPER, |_| {});
    bench.call("start_job", start()).await;
    let pid = bench.appears("pid").await;
    drop(bench);
    goes(&pid).await;
}

#[tokio::test]
async fn what_a_job_shall_do_must_be_clear() {
    let bench = Bench::script(SLEEPER, |_| {});
    for arguments in [
        json!({"action": "command"}),
        json!({"action": "build", "command": "python3 main.py"}),
        json!({"action": "command", "command": "id"}),
        json!({"action": "build"}),
    ] {
        let said = bench.call("start_job", arguments.clone()).await;
        assert!(said.is_error && said.text.contains('\n'), "{arguments}: {}", said.text);
    }
}
