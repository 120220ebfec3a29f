//! A gateway that is suspended (SIGSTOP) and resumed.

use crate::{
    caller::{Caller, LEGACY, MODERN, text},
    door::Door,
    process::until_draining,
    site::{Site, rounds, until},
    upstream::{in_flight, upstream},
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{
    fs,
    time::{Duration, Instant},
};
use tokio::{task::JoinSet, time::sleep};

/// The timeouts that are tried, in seconds. If the machine is so busy that a plain call uses half
/// of one, the next is tried.
const LIMITS: [u64; 3] = [2, 10, 40];
/// Seconds by which the pause exceeds the timeout.
const MORE: u64 = 2;
/// Number of clients that send during the pause.
const SPEAKERS: usize = 8;
/// The servers: two programs, and two addresses.
const SERVERS: [&str; 4] = ["one", "two", "three", "four"];
const TOOLS: [&str; 4] = ["one_gate", "two_gate", "three_far_gate", "four_far_gate"];
/// The files that calls wait for: one is created during the pause, the other after it.
const GATES: [&str; 2] = ["early", "late"];

/// A gateway in front of programs and of another gateway, which keeps running during the pause.
struct Stand {
    site: Site,
    far: Site,
    inner: Door,
    door: Door,
}

/// Calls in flight: each returns its caller and the response.
type Calls = JoinSet<(Caller, Value)>;

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    /// The machine was too busy for a clear result.
    Unclear,
}

impl Stand {
    /// `given` is merged into the gateway's configuration.
    async fn new(name: &str, given: Value, request: u64) -> Self {
        let far = Site::of(&format!("{name}-far"), |far| {
            let mut patient = far.echo("far", "modern");
            // It is not suspended, so its own timeouts keep running.
            patient["timeout"] = json!({"request": "10m"});
            json!({ "far": patient })
        });
        let inner = far.open();
        let site = Site::new(name);
        let mut servers = json!({
            "one": site.echo("one", "modern"),
            "two": site.echo("two", "legacy"),
            "three": {"url": inner.endpoint, "era": "modern"},
            "four": {"url": inner.endpoint, "era": "legacy"},
        });
        for server in SERVERS {
            servers[server]["timeout"] = json!({"request": format!("{request}s")});
        }
        let mut config = given;
        config["mcp"] = json!({ "servers": servers });
        site.configure(&config);
        let door = site.open();
        let mut caller = Caller::open(&door, None, MODERN).await;
        for tool in TOOLS {
            let text = caller.insist(&tool.replace("gate", "echo"), json!({"text": "there"})).await;
            assert_eq!(text, "there");
        }
        Self { site, far, inner, door }
    }

    /// Starts calls of both eras to each server and gate.
    async fn busy(&self) -> Calls {
        let mut callers = Vec::new();
        for tool in TOOLS {
            for gate in GATES {
                for revision in [LEGACY, MODERN] {
                    callers.push((Caller::open(&self.door, None, revision).await, tool, gate));
                }
            }
        }
        let (mut calls, many) = (Calls::new(), callers.len() as u64);
        for (mut caller, tool, gate) in callers {
            let path = self.site.path(gate).display().to_string();
            calls.spawn(async move {
                let heard = caller.call(tool, json!({"text": gate, "path": path})).await;
                (caller, heard)
            });
        }
        let count = |status: &Value| SERVERS.iter().map(|server| in_flight(status, server)).sum::<u64>();
        self.door.until(|status| count(status) == many).await;
        calls
    }

    fn open_gate(&self, gate: &str) {
        fs::write(self.site.path(gate), "").unwrap();
    }

    async fn stop(&self, pause: u64) {
        self.door.signal(Signal::STOP);
        until(|| state(self.door.pid()) == 'T', || "it does not pause".into()).await;
        self.open_gate(GATES[0]);
        sleep(Duration::from_secs(pause)).await;
    }

    fn go_on(&self) -> Instant {
        self.door.signal(Signal::CONT);
        self.open_gate(GATES[1]);
        Instant::now()
    }

    async fn end(mut self) {
        self.door.stop().await;
        self.site.emptied().await;
        self.inner.stop().await;
        self.far.emptied().await;
    }
}

/// Collects all responses; `None` if one is missing and the machine was too busy.
async fn collect(calls: Calls, went_on: Instant, limit: u64) -> Option<Vec<Caller>> {
    let mut callers = Vec::new();
    for (caller, heard) in calls.join_all().await {
        let is_slow = went_on.elapsed() > Duration::from_secs(limit) / 2;
        if text(&heard).is_none() && is_slow {
            return None;
        }
        assert!(text(&heard).is_some_and(|text| GATES.contains(&text.as_str())), "{heard:#}");
        callers.push(caller);
    }
    Some(callers)
}

/// Suspends a gateway for longer than the call timeout, and checks that no call fails.
async fn endure(name: &str, (limit, pause): (u64, u64)) -> Verdict {
    let stand = Stand::new(name, json!({}), limit).await;
    let pids = SERVERS.map(|server| stand.site.processes(server));
    let mut early = Caller::open(&stand.door, None, LEGACY).await;
    let began = Instant::now();
    let mut calls = stand.busy().await;
    stand.door.signal(Signal::HUP);
    stand.door.signal(Signal::PIPE);
    stand.door.signal(Signal::STOP);
    until(|| state(stand.door.pid()) == 'T', || "it does not pause".into()).await;
    if began.elapsed() > Duration::from_secs(limit) / 2 {
        return Verdict::Unclear;
    }
    // A request sent during the pause is answered after it.
    calls.spawn(async move {
        let heard = early.call("one_echo", json!({"text": GATES[0]})).await;
        (early, heard)
    });
    stand.stop(pause).await;
    let Some(callers) = collect(calls, stand.go_on(), limit).await else { return Verdict::Unclear };
    for mut caller in callers {
        for tool in TOOLS {
            assert_eq!(caller.said(&tool.replace("gate", "echo"), json!({"text": "awake"})).await, "awake");
        }
    }
    let status = stand.door.status().await;
    for server in SERVERS {
        assert_eq!(upstream(&status, server)["calls"]["failed"], 0, "{status:#}");
    }
    // The gateway's own session with a server may have ended in favour of a caller's.
    let now = SERVERS.map(|server| stand.site.processes(server));
    let stayed = |(now, before): (&Vec<i32>, &Vec<i32>)| now.iter().all(|pid| before.contains(pid));
    assert!(now.iter().zip(&pids).all(stayed), "a server was started again: {pids:?}, then {now:?}");
    stand.end().await;
    Verdict::Passed
}

/// Tries one timeout after the other until the result is clear.
async fn clearly(attempt: impl AsyncFn(u64) -> Verdict) {
    for limit in LIMITS {
        if attempt(limit).await == Verdict::Passed {
            return;
        }
    }
    panic!("the machine is too busy to tell");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p03_a_pause_longer_than_a_call_may_take_ends_no_call() {
    clearly(async |limit| endure(&format!("paused-{limit}"), (limit, limit + MORE)).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p03_hangups_broken_pipes_and_a_pause_end_nothing() {
    let pause = rounds(2, 60) as u64;
    assert_eq!(endure("paused", (60, pause)).await, Verdict::Passed);
}

/// Checks that requests sent during a pause are answered after it, although the connections
/// exceeded their idle timeout.
async fn hear(limit: u64) -> Verdict {
    let given = json!({"limits": {"headerTimeout": format!("{limit}s")}});
    let stand = Stand::new(&format!("unheard-{limit}"), given, 60).await;
    let began = Instant::now();
    let mut callers = Vec::new();
    for number in 0..SPEAKERS {
        callers.push(Caller::open(&stand.door, None, [LEGACY, MODERN][number % 2]).await);
    }
    stand.door.signal(Signal::STOP);
    until(|| state(stand.door.pid()) == 'T', || "it does not pause".into()).await;
    if began.elapsed() > Duration::from_secs(limit) / 2 {
        return Verdict::Unclear;
    }
    let mut calls = Calls::new();
    for mut caller in callers {
        calls.spawn(async move {
            let heard = caller.call("one_echo", json!({"text": GATES[0]})).await;
            (caller, heard)
        });
    }
    stand.stop(limit + MORE).await;
    stand.go_on();
    for (_, heard) in calls.join_all().await {
        assert_eq!(text(&heard).as_deref(), Some(GATES[0]), "{heard:#}");
    }
    stand.end().await;
    Verdict::Passed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p03_what_is_said_during_a_pause_is_heard_after_it() {
    clearly(hear).await;
}

/// Checks that a draining gateway lets its calls finish, although it is suspended for longer than
/// the drain timeout.
async fn drain(limit: u64) -> Verdict {
    let given = json!({"limits": {"drain": format!("{limit}s")}});
    let mut stand = Stand::new(&format!("pausing-{limit}"), given, 60).await;
    let calls = stand.busy().await;
    let told = Instant::now();
    stand.door.signal(Signal::TERM);
    until_draining(&stand.door).await;
    stand.door.signal(Signal::STOP);
    until(|| state(stand.door.pid()) == 'T', || "it does not pause".into()).await;
    if told.elapsed() > Duration::from_secs(limit) / 2 {
        return Verdict::Unclear;
    }
    stand.stop(limit + MORE).await;
    if collect(calls, stand.go_on(), limit).await.is_none() {
        return Verdict::Unclear;
    }
    assert_eq!(stand.door.ended().await.code(), Some(0));
    stand.site.emptied().await;
    stand.inner.stop().await;
    stand.far.emptied().await;
    Verdict::Passed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p03_a_pause_while_it_is_going_cuts_no_call_off() {
    clearly(drain).await;
}

fn state(pid: i32) -> char {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap()
}
