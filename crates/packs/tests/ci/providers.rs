//! The tools for hosted services, tested against a scripted service.

use std::sync::Arc;

use serde_json::{Value, json};
use trunkline_packs::ci::{CiOptions, FetchMethod, FetchRequest, ProviderOptions, Rerun, Token};
use trunkline_toolbox::Trial;

use crate::{
    bench::{Said, call, caller, trial},
    service::{Answer, Service},
};

const HUB: &str = "https://api.github.com/repos/me/sums/actions";
const LAB: &str = "https://gitlab.com/api/v4/projects/group%2Fsums";
const SECRET: &str = "a-token-of-no-known-shape";

fn options(service: &Arc<Service>, providers: Vec<ProviderOptions>) -> CiOptions {
    let mut options = CiOptions::new([env!("CARGO_MANIFEST_DIR")]);
    options.fetch = Some(Arc::clone(service) as _);
    options.providers = providers;
    options
}

fn hub() -> ProviderOptions {
    ProviderOptions {
        projects: vec!["me/sums".into()],
        rerun: Rerun::Offered,
        ..ProviderOptions::github(Token::new(SECRET))
    }
}

fn lab() -> ProviderOptions {
    ProviderOptions { projects: vec!["group/sums".into()], ..ProviderOptions::gitlab(Token::new(SECRET)) }
}

fn ask(service: &Arc<Service>, provider: ProviderOptions) -> Trial {
    trial(options(service, vec![provider]))
}

fn hub_run(id: u64, status: &str, conclusion: Option<&str>) -> Value {
    json!({"id": id, "name": "CI", "head_branch": "main", "head_sha": "0123456789abcdef", "status": status, "conclusion": conclusion,
        "event": "push", "html_url": format!("https://github.com/me/sums/actions/runs/{id}"), "created_at": "2026-11-01T10:00:00Z", "updated_at": "2026-11-01T10:05:00Z"})
}

fn hub_job(id: u64, conclusion: &str) -> Value {
    json!({"id": id, "name": format!("job {id}"), "status": "completed", "conclusion": conclusion, "html_url": "https://github.com/x",
        "steps": [{"name": "checkout", "conclusion": "success"}, {"name": "run tests", "conclusion": conclusion}]})
}

fn authorized(request: &FetchRequest) -> bool {
    request.headers.iter().any(|(name, value)| name == "authorization" && value.contains(SECRET))
}

fn told(said: &Said) -> &Value {
    assert!(!said.is_error, "{}", said.text);
    &said.data
}

#[tokio::test]
async fn all_pages_of_runs_are_read() {
    let page = |from: u64| json!({"total_count": 150, "workflow_runs": (from..from + 75).map(|id| hub_run(id, "completed", Some("success"))).collect::<Vec<_>>()});
    let first = format!("{HUB}/runs?per_page=100&branch=feature%2Fx&status=failure");
    let second = format!("{HUB}/runs?page=2");
    let link = format!("<{second}>; rel=\"next\", <{HUB}/runs?page=9>; rel=\"last\"");
    let service = Service::new(vec![
        (&first, Answer::json(&page(1)).header("Link", &link)),
        (&second, Answer::json(&page(76))),
    ]);
    let trial = ask(&service, hub());
    let arguments = json!({"branch": "feature/x", "state": "failed", "limit": 150});
    let said = call(&trial, "list_runs", arguments).await;
    let data = told(&said);
    assert_eq!((data["runs"].as_array().map(Vec::len), &data["truncated"]), (Some(150), &json!(false)));
    assert_eq!((&data["runs"][0]["id"], &data["runs"][0]["state"]), (&json!("1"), &json!("succeeded")));
    assert!(service.seen().iter().all(authorized));
    let short =
        call(&trial, "list_runs", json!({"branch": "feature/x", "state": "failed", "limit": 100})).await;
    assert_eq!(
        (told(&short)["runs"].as_array().map(Vec::len), &short.data["truncated"]),
        (Some(100), &json!(true))
    );
}

#[tokio::test]
async fn a_failed_job_on_the_last_page_is_found_and_its_log_is_clean() {
    let jobs = format!("{HUB}/runs/7/jobs?filter=latest&per_page=100");
    let next = format!("{HUB}/runs/7/jobs?filter=latest&per_page=100&page=2");
    let first = json!({"total_count": 3, "jobs": [hub_job(1, "success"), hub_job(2, "success")]});
    let second = json!({"total_count": 3, "jobs": [hub_job(3, "failure")]});
    let log_at = format!("{HUB}/jobs/3/logs");
    let blob = "https://blobs.example/log?sig=abc";
    let long = format!(
        "{}\u{1b}[31mError: it broke\u{1b}[0m\nDEPLOY_TOKEN=hunter2hunter2 {SECRET}\n",
        "noise noise noise\n".repeat(5000)
    );
    let service = Service::new(vec![
        (&jobs, Answer::json(&first).header("link", &format!("<{next}>; rel=\"next\""))),
        (&next, Answer::json(&second)),
        (&log_at, Answer::status(302).header("location", blob)),
        (blob, Answer::text(&long)),
    ]);
    let said = call(&ask(&service, hub()), "failed_job_logs", json!({"runId": "7", "tailLines": 3})).await;
    let data = told(&said);
    assert_eq!(
        (&data["totalJobs"], &data["failedJobs"], &data["truncated"]),
        (&json!(3), &json!(1), &json!(false))
    );
    let log = &data["logs"][0];
    assert_eq!((&log["name"], &log["failedAt"]), (&json!("job 3"), &json!("run tests")));
    assert_eq!(log["log"], "noise noise noise\nError: it broke\nDEPLOY_TOKEN=[redacted] [redacted]");
    assert_eq!((&log["sizeBytes"], &log["truncated"]), (&json!(long.len()), &json!(true)));
    let seen = service.seen();
    assert_eq!(
        seen.iter().map(authorized).collect::<Vec<_>>(),
        [true, true, true, false],
        "the token stays with its service"
    );
}

#[tokio::test]
async fn logs_are_cut_to_the_bytes_asked_for() {
    let jobs = format!("{HUB}/runs/7/jobs?filter=latest&per_page=100");
    let log_at = format!("{HUB}/jobs/3/logs");
    let service = Service::new(vec![
        (&jobs, Answer::json(&json!({"jobs": [hub_job(3, "failure"), hub_job(4, "failure")]}))),
        (&log_at, Answer::text(&"line\n".repeat(2000))),
    ]);
    let trial = ask(&service, hub());
    let said =
        call(&trial, "failed_job_logs", json!({"runId": "7", "tailLines": 2000, "maxBytes": 256})).await;
    let data = told(&said);
    assert_eq!(
        (data["logs"][0]["log"].as_str().map(str::len), &data["logs"][0]["truncated"]),
        (Some(256), &json!(true))
    );
    assert!(
        data["logs"][1]["problem"].as_str().is_some_and(|problem| problem.contains("cannot be reached")),
        "{data}"
    );
    let one = call(&trial, "failed_job_logs", json!({"runId": "7", "maxJobs": 1})).await;
    assert_eq!(
        (told(&one)["logs"].as_array().map(Vec::len), &one.data["truncated"]),
        (Some(1), &json!(true))
    );
    let named = call(&trial, "failed_job_logs", json!({"runId": "7", "jobName": "job 9"})).await;
    assert!(named.is_error && named.text.contains("job 3, job 4"), "{}", named.text);
}

#[tokio::test]
async fn gitlab_pipelines_are_read_page_by_page() {
    let pipeline = |id: u64| json!({"id": id, "status": "failed", "ref": "main", "sha": "abc", "source": "push", "web_url": "https://gitlab.com/x", "created_at": "2026-11-01"});
    let list = format!("{LAB}/pipelines?per_page=2&status=failed");
    let jobs = format!("{LAB}/pipelines/5/jobs?per_page=100");
    let more = format!("{LAB}/pipelines/5/jobs?per_page=100&page=2");
    let trace = format!("{LAB}/jobs/9/trace");
    let good = json!([{"id": 8, "name": "lint", "status": "success"}]);
    let bad = json!([{"id": 9, "name": "test", "status": "failed", "stage": "check", "failure_reason": "script_failure"}]);
    let service = Service::new(vec![
        (&list, Answer::json(&json!([pipeline(5), pipeline(4)])).header("X-Next-Page", "2")),
        (&jobs, Answer::json(&good).header("x-next-page", "2")),
        (&more, Answer::json(&bad).header("x-next-page", "")),
        (&trace, Answer::text("it broke\n")),
    ]);
    let trial = ask(&service, lab());
    let said = call(&trial, "list_runs", json!({"state": "failed", "limit": 2})).await;
    assert_eq!((&told(&said)["runs"][0]["state"], &said.data["truncated"]), (&json!("failed"), &json!(true)));
    let said = call(&trial, "failed_job_logs", json!({"runId": "5"})).await;
    let data = told(&said);
    assert_eq!(
        (&data["totalJobs"], &data["logs"][0]["log"], &data["logs"][0]["failedAt"]),
        (&json!(2), &json!("it broke"), &json!("stage check, script_failure"))
    );
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_with_the_run_or_with_patience() {
    let at = format!("{HUB}/runs/7");
    let running = Answer::json(&hub_run(7, "in_progress", None));
    let service = Service::new(vec![
        (&at, running.clone()),
        (&at, running.clone()),
        (&at, Answer::json(&hub_run(7, "completed", Some("failure")))),
    ]);
    let said = call(&ask(&service, hub()), "wait_for_run", json!({"runId": "7"})).await;
    assert_eq!((&told(&said)["finished"], &said.data["run"]["state"]), (&json!(true), &json!("failed")));
    assert_eq!(service.seen().len(), 3);

    let service = Service::new(vec![(&at, running)]);
    let said =
        call(&ask(&service, hub()), "wait_for_run", json!({"runId": "7", "timeoutSeconds": 1000})).await;
    assert_eq!((&told(&said)["finished"], &said.data["run"]["state"]), (&json!(false), &json!("running")));
    assert!(said.text.contains("call wait_for_run again"), "{}", said.text);
    assert_eq!(service.seen().len(), 6, "asked every 5 s for 25 s");
}

#[tokio::test]
async fn starting_again_is_a_permission_of_its_own() {
    let failed = format!("{HUB}/runs/7/rerun-failed-jobs");
    let all = format!("{HUB}/runs/7/rerun");
    let service = Service::new(vec![(&failed, Answer::status(201)), (&all, Answer::status(201))]);
    let trial = ask(&service, hub());
    let arguments = json!({"runId": "7"});
    let without = trial.clone().caller(caller("alice", &["ci:read"]));
    assert!(without.run_tool("rerun", arguments.clone()).await.outcome.is_err());
    let with = trial.caller(caller("alice", &["ci:rerun"]));
    told(&call(&with, "rerun", arguments).await);
    told(&call(&with, "rerun", json!({"runId": "7", "failedOnly": false})).await);
    let seen = service.seen();
    assert_eq!(
        seen.iter().map(|request| (request.method, request.url.as_str())).collect::<Vec<_>>(),
        [(FetchMethod::Post, failed.as_str()), (FetchMethod::Post, all.as_str())]
    );

    let denied = ask(&service, ProviderOptions { rerun: Rerun::Denied, ..hub() })
        .caller(caller("alice", &["ci:rerun"]));
    assert!(denied.run_tool("rerun", json!({"runId": "7"})).await.outcome.is_err());
}

#[tokio::test]
async fn the_token_is_not_sent_where_an_answer_points_to() {
    let first = format!("{HUB}/runs?per_page=20");
    let answer = Answer::json(&json!({"workflow_runs": []}))
        .header("link", "<https://api.github.com.evil.example/x>; rel=\"next\"");
    let service = Service::new(vec![(&first, answer)]);
    let said = call(&ask(&service, hub()), "list_runs", json!({})).await;
    assert!(said.is_error && said.text.contains("another host"), "{}", said.text);

    let jobs = format!("{HUB}/runs/7/jobs?filter=latest&per_page=100");
    let log_at = format!("{HUB}/jobs/3/logs");
    for location in
        ["http://169.254.169.254/latest", "file:///etc/passwd", "http://127.0.0.1:1/x", "//evil.example/x"]
    {
        let service = Service::new(vec![
            (&jobs, Answer::json(&json!({"jobs": [hub_job(3, "failure")]}))),
            (&log_at, Answer::status(302).header("location", location)),
        ]);
        let said = call(&ask(&service, hub()), "failed_job_logs", json!({"runId": "7"})).await;
        assert!(
            told(&said)["logs"][0]["problem"].as_str().is_some_and(|problem| problem.contains("not safe")),
            "{location}: {}",
            said.text
        );
        assert_eq!(service.seen().len(), 2, "{location}");
    }
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    let first = format!("{HUB}/runs?per_page=20");
    for (answer, words) in [
        (Answer::status(401), "Ask the operator for a valid one"),
        (Answer::status(403), "right to read"),
        (Answer::status(403).header("x-ratelimit-remaining", "0"), "Wait a few minutes"),
        (Answer::status(429).header("retry-after", "30"), "Wait 30 s"),
        (Answer::status(404), "list_runs"),
        (Answer::status(502), "Try again"),
        (Answer::text("<html>"), "check the configured address"),
    ] {
        let service = Service::new(vec![(&first, answer)]);
        let said = call(&ask(&service, hub()), "list_runs", json!({})).await;
        assert!(said.is_error && said.text.contains(words), "{words}: {}", said.text);
        assert!(!said.text.contains(SECRET));
    }
}

#[tokio::test]
async fn only_configured_projects_and_plain_names_are_asked_about() {
    let service = Service::new(Vec::new());
    let trial = ask(&service, hub());
    for arguments in [json!({"project": "you/other"}), json!({"provider": "gitlab"})] {
        assert!(call(&trial, "list_runs", arguments).await.is_error);
    }
    let open = ask(&service, ProviderOptions { projects: Vec::new(), ..hub() });
    for project in ["../../user", "me/..", "me/sums/../../x", "me/sums?x", "me"] {
        assert!(call(&open, "list_runs", json!({"project": project})).await.is_error, "{project}");
    }
    assert!(call(&open, "list_runs", json!({})).await.text.contains("Set `project`"));
    for id in ["../7", "7/jobs", "latest", "-1", ""] {
        assert!(call(&trial, "failed_job_logs", json!({"runId": id})).await.is_error, "{id}");
    }
    let both = crate::bench::trial(options(&service, vec![hub(), lab()]));
    assert!(call(&both, "list_runs", json!({})).await.text.contains("github, gitlab"));
    assert!(service.seen().is_empty(), "nothing was asked");
}
