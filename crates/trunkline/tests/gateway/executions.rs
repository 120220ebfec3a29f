//! Executions over REST, through the real binary. Tests are named by requirement or attack.

use crate::{
    door::Door,
    redis_process::RedisProcess,
    rest::{JSON, Rest, body_of, code, echo_site},
    site::{HANG, PAUSE, Site, until},
    wire::{Answer, Wire},
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{fs, time::Instant};

impl Rest {
    /// Sends a request with a body.
    pub(crate) async fn post(&mut self, path: &str, more: &str, body: &Value) -> (Answer, Value) {
        let headers = self.headers(&format!("{JSON}{more}"));
        let answer = self.wire.send(&format!("POST {path}"), &headers, &body.to_string()).await.unwrap();
        let value = body_of(&answer);
        (answer, value)
    }

    /// Starts an execution and returns its id.
    pub(crate) async fn start(&mut self, tool: &str, params: &Value) -> String {
        let body = json!({"params": params, "mode": "async"});
        let (answer, body) = self.execute(tool, &body).await;
        assert_eq!(answer.status, 202, "{body}");
        let id = body["executionId"].as_str().unwrap().to_owned();
        assert_eq!(answer.header("location"), Some(format!("/mcp/executions/{id}").as_str()));
        id
    }

    pub(crate) async fn delete(&mut self, id: &str) -> (Answer, Value) {
        let headers = self.headers("");
        let answer = self.wire.send(&format!("DELETE /mcp/executions/{id}"), &headers, "").await.unwrap();
        let value = body_of(&answer);
        (answer, value)
    }

    /// Waits for a state.
    pub(crate) async fn reaches(&mut self, id: &str, wanted: &[&str]) -> Value {
        let began = Instant::now();
        loop {
            let answer = self.get(&format!("/mcp/executions/{id}")).await;
            let body = body_of(&answer);
            if wanted.contains(&body["state"].as_str().unwrap_or_default()) {
                return body;
            }
            assert!(began.elapsed() < HANG, "{id}: {body}");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Follows the events of an execution.
    async fn follow(door: &Door, id: &str, last: Option<u64>) -> (Answer, Wire) {
        let mut wire = Wire::open(&door.address).await.unwrap();
        let headers = last.map(|last| format!("Last-Event-ID: {last}\r\n")).unwrap_or_default();
        let answer = wire.begin(&format!("GET /mcp/executions/{id}/events"), &headers, "").await.unwrap();
        (answer, wire)
    }
}

/// The number, name and data of the next event.
async fn next_event(wire: &mut Wire) -> (u64, String, Value) {
    loop {
        let event = wire.whole_event().await;
        let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if let Some(id) = line("id:") {
            let data = serde_json::from_str(line("data:").unwrap()).unwrap();
            return (id.parse().unwrap(), line("event:").unwrap().to_owned(), data);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_an_asynchronous_execution_is_waited_for_listed_and_cancelled() {
    let site = echo_site("async");
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let id = rest.start("echo_echo", &json!({"text": "hi"})).await;
    let done = body_of(&rest.get(&format!("/mcp/executions/{id}?wait=30")).await);
    assert_eq!((&done["state"], &done["success"]), (&json!("done"), &json!(true)), "{done}");
    let (_, sync) = rest.execute("echo_echo", &json!({"params": {"text": "hi"}})).await;
    assert_eq!(done["result"], sync["result"]);
    assert_eq!(done["metadata"]["executionId"], json!(id));

    let gate = site.path("never");
    let waits = rest.start("echo_gate", &json!({"text": "x", "path": gate})).await;
    rest.reaches(&waits, &["running"]).await;
    let listed = body_of(&rest.get("/mcp/executions?state=running").await);
    assert_eq!(listed["executions"][0]["executionId"], json!(waits), "{listed}");
    assert_eq!(listed["executions"].as_array().unwrap().len(), 1);
    let first = body_of(&rest.get("/mcp/executions?limit=1").await);
    assert_eq!(first["executions"][0]["executionId"], json!(id));
    let next = format!("/mcp/executions?limit=1&cursor={}", first["nextCursor"].as_str().unwrap());
    let second = body_of(&rest.get(&next).await);
    assert_eq!(second["executions"][0]["executionId"], json!(waits));
    assert!(second.get("nextCursor").is_none(), "{second}");
    let by_tool = body_of(&rest.get("/mcp/executions?tool=echo_echo").await);
    assert_eq!(by_tool["executions"].as_array().unwrap().len(), 1, "{by_tool}");

    let (answer, cancelled) = rest.delete(&waits).await;
    assert_eq!((answer.status, &cancelled["state"]), (200, &json!("cancelled")), "{cancelled}");
    let (answer, again) = rest.delete(&id).await;
    assert_eq!((answer.status, &again["state"]), (200, &json!("done")), "an end stays as it is");
    let failed = rest.start("echo_nothing", &json!({})).await;
    let failed = body_of(&rest.get(&format!("/mcp/executions/{failed}?wait=30")).await);
    assert_eq!((&failed["state"], code(&failed)), (&json!("failed"), "TOOL_NOT_FOUND"));
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e04_requests_that_race_for_one_key_leave_no_execution_behind() {
    let site = echo_site("key-race");
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    for round in 0..4 {
        let mut racing = Vec::new();
        for number in 0..16 {
            let mut one = Rest::at(&door, None).await;
            racing.push(tokio::spawn(async move {
                let body = json!({"params": {"text": number.to_string()}, "mode": "async"});
                let key = format!("Idempotency-Key: race-{round}\r\n");
                one.post("/mcp/tools/echo_echo/execute", &key, &body).await.0.status
            }));
        }
        let mut accepted = 0;
        for one in racing {
            let status = one.await.unwrap();
            assert!([202, 422].contains(&status), "{status}");
            accepted += usize::from(status == 202);
        }
        assert_eq!(accepted, 1);
    }
    let listed = body_of(&rest.get("/mcp/executions").await);
    assert_eq!(listed["executions"].as_array().unwrap().len(), 4, "{listed}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e01_e02_bad_requests_about_executions_are_refused_with_their_field() {
    let site = echo_site("bad-executions");
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let long = "a".repeat(5000);
    for id in ["x", "..%2f..%2fetc", "%00", &"0".repeat(48), &long] {
        let answer = rest.get(&format!("/mcp/executions/{id}")).await;
        assert_eq!((answer.status, code(&body_of(&answer))), (404, "EXECUTION_NOT_FOUND"), "{id}");
    }
    for (query, field) in
        [("state=finished", "state"), ("limit=0", "limit"), ("all=maybe", "all"), ("stat=done", "stat")]
    {
        let answer = rest.get(&format!("/mcp/executions?{query}")).await;
        let body = body_of(&answer);
        assert_eq!((answer.status, &body["error"]["details"]["field"]), (400, &json!(field)), "{body}");
    }
    let id = rest.start("echo_echo", &json!({"text": "x"})).await;
    for query in ["wait=long", "wait=-1", "weight=1"] {
        assert_eq!(rest.get(&format!("/mcp/executions/{id}?{query}")).await.status, 400, "{query}");
    }
    let answer = format!("/mcp/executions/{id}/answer");
    rest.reaches(&id, &["done"]).await;
    let (none, _) = rest.post(&answer, "", &json!({"content": {}})).await;
    assert_eq!(none.status, 409);
    for body in [json!([]), json!({"action": "maybe"}), json!({"content": "x"}), json!({"x": 1})] {
        assert_eq!(rest.post(&answer, "", &body).await.0.status, 400, "{body}");
    }
    let put = rest.wire.send(&format!("PUT /mcp/executions/{id}"), "", "").await.unwrap();
    assert_eq!((put.status, put.header("allow")), (405, Some("GET, HEAD, DELETE")));
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h4_an_execution_survives_its_streams_and_a_resumed_one_loses_and_repeats_nothing() {
    let site = echo_site("resume");
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let gate = site.path("gate");
    let params = json!({"text": "t", "path": gate, "steps": 5});
    let id = rest.start("echo_gate", &params).await;
    let mut seen = Vec::new();
    // The gate is closed, so all of these arrive before the tool ends. Each stream is dropped
    // after two events.
    while seen.len() < 6 {
        let last = seen.last().map(|(number, ..): &(u64, String, Value)| *number);
        let (answer, mut wire) = Rest::follow(&door, &id, last).await;
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        for _ in 0..2 {
            seen.push(next_event(&mut wire).await);
        }
    }
    let running = body_of(&rest.get(&format!("/mcp/executions/{id}")).await);
    assert_eq!((&running["state"], &running["progress"]["progress"]), (&json!("running"), &json!(5)));
    fs::write(&gate, "").unwrap();
    let (_, mut wire) = Rest::follow(&door, &id, Some(seen.last().unwrap().0)).await;
    let last = next_event(&mut wire).await;
    assert_eq!((last.1.as_str(), &last.2["success"]), ("result", &json!(true)), "{last:?}");
    let numbers: Vec<u64> = seen.iter().map(|(number, ..)| *number).chain([last.0]).collect();
    assert_eq!(numbers, (1..=7).collect::<Vec<u64>>());
    let steps: Vec<&Value> =
        seen.iter().filter(|(_, name, _)| name == "progress").map(|(_, _, data)| &data["progress"]).collect();
    assert_eq!(steps, [1, 2, 3, 4, 5].map(|step| json!(step)).iter().collect::<Vec<_>>());
    // The client knows the end: there is nothing more, and a browser must not come again.
    assert_eq!(Rest::follow(&door, &id, Some(last.0)).await.0.status, 204);
    let (_, mut whole) = Rest::follow(&door, &id, None).await;
    for number in 1..=7 {
        assert_eq!(next_event(&mut whole).await.0, number);
    }
    assert_eq!(Rest::follow(&door, &id, None).await.0.status, 200);
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_questions_of_tools_of_both_eras_are_answered_over_rest() {
    for era in ["modern", "legacy"] {
        let site = Site::of("answers", |site| json!({"echo": site.echo("echo", era)}));
        let mut door = site.open();
        let mut rest = Rest::at(&door, None).await;
        let id = rest.start("echo_ask", &json!({})).await;
        let waiting = body_of(&rest.get(&format!("/mcp/executions/{id}?wait=30")).await);
        assert_eq!((&waiting["state"], &waiting["question"]["message"]), (&json!("waiting"), &json!("Who?")));
        assert_eq!(waiting["question"]["schema"]["required"], json!(["name"]), "{waiting}");
        let path = format!("/mcp/executions/{id}/answer");
        let (other, _) = rest.post(&path, "", &json!({"question": "another"})).await;
        assert_eq!(other.status, 400);
        let question = &waiting["question"]["id"];
        let answer = json!({"question": question, "content": {"name": "Ada"}});
        let (given, body) = rest.post(&path, "", &answer).await;
        assert_eq!(given.status, 200, "{body}");
        let done = body_of(&rest.get(&format!("/mcp/executions/{id}?wait=30")).await);
        let text = done["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{done}"));
        let told: Value = serde_json::from_str(text).unwrap();
        assert_eq!(told, json!({"action": "accept", "content": {"name": "Ada"}}), "{era}");

        let declined = rest.start("echo_ask", &json!({})).await;
        rest.reaches(&declined, &["waiting"]).await;
        let path = format!("/mcp/executions/{declined}/answer");
        rest.post(&path, "", &json!({"action": "decline"})).await;
        let done = body_of(&rest.get(&format!("/mcp/executions/{declined}?wait=30")).await);
        assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("decline"), "{done}");
        door.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e04_a_repeat_with_the_same_key_runs_nothing_twice() {
    let site = echo_site("keys");
    let mut door = site.open();
    let (gate, log) = (site.path("gate"), site.path("log"));
    let params = json!({"text": "once", "path": gate, "log": log});
    let key = "Idempotency-Key: k-1\r\n";
    let path = "/mcp/tools/echo_gate/execute";
    let call = async |body: Value| Rest::at(&door, None).await.post(path, key, &body).await;
    // The first request is dropped before its answer; what it started goes on.
    let mut dropped = Rest::at(&door, None).await;
    let headers = dropped.headers(&format!("{JSON}{key}Accept: text/event-stream\r\n"));
    let body = json!({ "params": params }).to_string();
    let answer = dropped.wire.begin(&format!("POST {path}"), &headers, &body).await.unwrap();
    assert_eq!(answer.status, 200);
    let location = answer.header("location").unwrap().to_owned();
    drop(dropped);
    let (early, running) = call(json!({"params": params, "mode": "async"})).await;
    assert_eq!((early.status, early.header("location")), (202, Some(location.as_str())), "{running}");
    let (other, body) = call(json!({"params": {"text": "other", "path": gate}})).await;
    assert_eq!((other.status, code(&body)), (422, "VALIDATION_ERROR"));
    assert_eq!(body["error"]["details"]["field"], "Idempotency-Key");
    until(|| fs::read_to_string(&log).is_ok_and(|text| text.contains("begin")), || "no run".to_owned()).await;
    let waits = call(json!({ "params": params }));
    let opens = async { fs::write(&gate, "").unwrap() };
    let ((late, body), ()) = tokio::join!(waits, opens);
    assert_eq!((late.status, &body["result"]["content"][0]["text"]), (200, &json!("once")), "{body}");
    let (again, repeated) = call(json!({ "params": params })).await;
    assert_eq!((again.status, &repeated), (200, &body), "the very same answer");
    assert_eq!(fs::read_to_string(&log).unwrap(), "begin once\nend once\n");
    let wrong = format!("Idempotency-Key: {}\r\n", "k".repeat(256));
    let (wrong, body) = Rest::at(&door, None).await.post(path, &wrong, &json!({})).await;
    assert_eq!((wrong.status, &body["error"]["details"]["field"]), (400, &json!("Idempotency-Key")));
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h6_a_queued_execution_has_its_position_its_deadline_and_can_be_cancelled() {
    let site = Site::new("queued");
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern"), "other": site.echo("other", "modern")}},
        "limits": {"executions": 1, "executionQueue": 2, "executionTimeout": "1h"},
    }));
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let gate = site.path("gate");
    let wait = json!({"text": "x", "path": gate});
    let running = rest.start("echo_gate", &wait).await;
    rest.reaches(&running, &["running"]).await;
    let low = json!({"params": wait, "mode": "async", "context": {"priority": "low"}});
    let low = rest.execute("echo_gate", &low).await.1;
    let high = json!({"params": wait, "mode": "async", "context": {"priority": "high", "timeout": 999_999_999_999_u64}});
    let high = rest.execute("echo_gate", &high).await.1;
    let id = |body: &Value| body["executionId"].as_str().unwrap().to_owned();
    let at = async |rest: &mut Rest, body: &Value| {
        rest.reaches(&id(body), &["queued"]).await["queuePosition"].clone()
    };
    assert_eq!((at(&mut rest, &high).await, at(&mut rest, &low).await), (json!(1), json!(2)));
    let (refused, body) = rest.execute("echo_gate", &json!({"mode": "async"})).await;
    assert_eq!((refused.status, code(&body)), (503, "RATE_LIMIT_ERROR"), "the queue is full");
    assert_eq!(refused.header("retry-after"), Some("1"));
    // The queue of another server is not concerned.
    let elsewhere = rest.start("other_echo", &json!({"text": "x"})).await;
    rest.reaches(&elsewhere, &["done"]).await;
    assert_eq!(rest.delete(&id(&high)).await.1["state"], "cancelled");
    assert_eq!(at(&mut rest, &low).await, json!(1));
    fs::write(&gate, "").unwrap();
    rest.reaches(&id(&low), &["done"]).await;
    let short = json!({"params": {"ms": 60_000}, "mode": "async", "context": {"timeout": 50}});
    let short = rest.execute("echo_nap", &short).await.1;
    let late = rest.reaches(&id(&short), &["failed"]).await;
    assert_eq!(code(&late), "TIMEOUT_ERROR", "{late}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_executions_below_a_view_are_seen_there_and_at_the_main_endpoint() {
    let site = echo_site("below");
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let path = "/mcp/server/echo/tools/echo/execute";
    let (answer, body) = rest.post(path, "", &json!({"params": {"text": "x"}, "mode": "async"})).await;
    let id = body["executionId"].as_str().unwrap();
    let location = answer.header("location").unwrap().to_owned();
    assert_eq!(location, format!("/mcp/server/echo/executions/{id}"));
    assert_eq!(body_of(&rest.get(&format!("{location}?wait=30")).await)["state"], "done");
    assert_eq!(rest.get(&format!("/mcp/executions/{id}")).await.status, 200);
    let main = rest.start("echo_echo", &json!({"text": "x"})).await;
    assert_eq!(rest.get(&format!("/mcp/server/echo/executions/{main}")).await.status, 404);
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_a_synchronous_call_without_a_key_touches_no_store() {
    let site = Site::new("untouched");
    let store = site.path("state/store.redb");
    site.configure(
        &json!({"mcp": {"servers": {"echo": site.echo("echo", "modern")}}, "store": {"path": store}}),
    );
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    for _ in 0..3 {
        assert_eq!(rest.execute("echo_echo", &json!({"params": {"text": "x"}})).await.0.status, 200);
    }
    rest.stream("echo_echo", &json!({"text": "x", "steps": 2})).await;
    for _ in 0..3 {
        rest.wire.event().await;
    }
    assert!(!store.exists(), "the store was opened");
    let mut rest = Rest::at(&door, None).await;
    let id = rest.start("echo_echo", &json!({"text": "kept"})).await;
    rest.reaches(&id, &["done"]).await;
    assert!(store.exists());
    door.stop().await;
    // The result is kept after a restart.
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let kept = body_of(&rest.get(&format!("/mcp/executions/{id}")).await);
    assert_eq!(kept["result"]["content"][0]["text"], "kept", "{kept}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_graceful_stop_lets_executions_finish_and_cancels_the_rest() {
    let site = Site::new("drained");
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "store": {"path": site.path("store.redb")},
        "limits": {"drain": "2s"},
    }));
    let (gate, log) = (site.path("gate"), site.path("log"));
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let ends = rest.start("echo_gate", &json!({"text": "a", "path": gate, "log": log})).await;
    let waits = rest.start("echo_gate", &json!({"text": "b", "path": site.path("never"), "log": log})).await;
    until(|| fs::read_to_string(&log).is_ok_and(|text| text.lines().count() == 2), || "not begun".to_owned())
        .await;
    door.signal(Signal::TERM);
    fs::write(&gate, "").unwrap();
    door.ended().await;
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    assert_eq!(rest.reaches(&ends, &["done"]).await["success"], true);
    let cancelled = rest.reaches(&waits, &["cancelled"]).await;
    assert!(cancelled["error"]["message"].as_str().unwrap().contains("stopped"), "{cancelled}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_replicas_with_one_redis_share_executions_and_leave_each_others_alone() {
    let redis = RedisProcess::start().await;
    let site = Site::new("replicas");
    site.configure(
        &json!({"mcp": {"servers": {"echo": site.echo("echo", "modern")}}, "store": {"url": redis.url()}}),
    );
    let (mut one, mut other) = (site.open(), site.open());
    let (mut first, mut second) = (Rest::at(&one, None).await, Rest::at(&other, None).await);
    let gate = site.path("gate");
    let id = first.start("echo_gate", &json!({"text": "x", "path": gate, "steps": 1})).await;
    second.reaches(&id, &["running"]).await;
    // The stream at the other replica gets the progress and the end.
    let (_, mut events) = Rest::follow(&other, &id, None).await;
    while next_event(&mut events).await.1 != "progress" {}
    fs::write(&gate, "").unwrap();
    assert_eq!(next_event(&mut events).await.1, "result");
    let asks = first.start("echo_ask", &json!({})).await;
    second.reaches(&asks, &["waiting"]).await;
    let (answered, body) =
        second.post(&format!("/mcp/executions/{asks}/answer"), "", &json!({"content": {"name": "Bo"}})).await;
    assert_eq!(answered.status, 200, "{body}");
    second.reaches(&asks, &["done"]).await;
    let waits = first.start("echo_gate", &json!({"text": "x", "path": site.path("never")})).await;
    second.reaches(&waits, &["running"]).await;
    assert_eq!(second.delete(&waits).await.1["state"], "cancelled", "by way of the other replica");
    let lost = first.start("echo_gate", &json!({"text": "x", "path": site.path("never")})).await;
    first.reaches(&lost, &["running"]).await;
    one.signal(Signal::KILL);
    one.ended().await;
    let unknown = second.reaches(&lost, &["unknown", "failed", "done"]).await;
    assert_eq!(unknown["state"], "unknown", "{unknown}");
    assert_eq!(unknown["error"]["details"]["retryable"], false);
    other.stop().await;
}
