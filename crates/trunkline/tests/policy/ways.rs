//! Any call that is allowed over one way in is allowed over all others, and vice versa.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    door::Door,
    outcome::Outcome,
    site::{HANG, Site, rounds},
    wire::Wire,
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, process::Stdio};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

/// A small generator of reproducible choices.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

fn policy(dice: &mut Dice) -> Value {
    let conditions = [
        json!({"at": "/text", "glob": "a*"}),
        json!({"at": "/text", "oneOf": ["a", "b"]}),
        json!({"at": "/text", "within": "/srv"}),
        json!({"at": "/steps", "max": 1}),
        json!({"at": "/steps", "exists": false}),
    ];
    let tools = ["echo_*", "echo_echo", "*", "echo_p*", "echo_renamed", "nap", "other_*"];
    let rules: Vec<Value> = (0..=dice.below(5))
        .map(|_| {
            let mut rule = json!({"effect": dice.pick(&["allow", "deny", "deny", "ask"])});
            if dice.below(3) > 0 {
                rule["tools"] = json!([dice.pick(&tools)]);
            }
            if dice.below(2) == 0 {
                rule["servers"] = json!([dice.pick(&["echo", "e*", "other"])]);
            }
            if dice.below(2) == 0 {
                rule["arguments"] = json!([dice.pick(&conditions)]);
            }
            if dice.below(4) == 0 {
                rule["callers"] = json!([dice.pick(&["local", "key:*"])]);
            }
            if dice.below(4) == 0 {
                rule["annotations"] = json!({"readOnlyHint": dice.pick(&[true, false])});
            }
            if dice.below(4) == 0 {
                rule["tags"] = json!(["calm"]);
            }
            rule
        })
        .collect();
    json!({"default": dice.pick(&["allow", "allow", "deny", "ask"]), "rules": rules})
}

/// The server's own name of a tool, its public name, and arguments.
type Case = (&'static str, &'static str, Value);

fn cases(dice: &mut Dice) -> Vec<Case> {
    let tools = [("echo", "echo_echo"), ("nap", "echo_nap"), ("pid", "echo_pid"), ("large", "echo_renamed")];
    let texts = ["a", "b", "abc", "/srv/x", "/srv/../x", "zzz"];
    let mut cases = Vec::new();
    for (own, public) in tools {
        let mut arguments = json!({"text": dice.pick(&texts), "ms": 1, "bytes": 1});
        if dice.below(2) == 0 {
            arguments["steps"] = dice.below(3).into();
        }
        cases.push((own, public, arguments));
    }
    cases
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m03_a11_every_way_in_decides_alike() {
    let mut seen = BTreeSet::new();
    for seed in 0..rounds(4, 60) {
        let mut dice = Dice(seed as u64 * 7919 + 5);
        let site = Site::new("ways");
        let mut echo = site.echo("echo", "modern");
        echo["tools"] = json!({
            "pid": {"annotations": {"readOnlyHint": true}, "tags": ["calm"]},
            "large": {"rename": "renamed"},
        });
        let policy = policy(&mut dice);
        // Nobody is there to decide about a call that needs consent.
        let limits = json!({"approvalTimeout": "1s"});
        site.configure(&json!({"mcp": {"servers": {"echo": echo}}, "policy": policy, "limits": limits}));
        let cases = cases(&mut dice);
        let all = all_ways(&site, &cases).await;
        for (way, outcomes) in &all {
            assert_eq!(*outcomes, all[0].1, "{way}, seed {seed}: {policy:#} {cases:?}");
            seen.extend(outcomes.iter().map(|outcome| format!("{outcome:?}")));
        }
        site.emptied().await;
    }
    // The choices are not trivial.
    assert!(seen.len() >= 3, "{seen:?}");
}

async fn all_ways(site: &Site, cases: &[Case]) -> Vec<(&'static str, Vec<Outcome>)> {
    let mut door = site.open();
    let mut all = vec![
        ("modern", over_http(&door, "/mcp", MODERN, cases).await),
        ("legacy", over_http(&door, "/mcp", LEGACY, cases).await),
        ("server", over_http(&door, "/mcp/server/echo", LEGACY, cases).await),
        ("HTTP+SSE", over_sse(&door, cases).await),
        ("REST", over_rest(&door, cases).await),
    ];
    door.stop().await;
    all.push(("stdio", over_stdio(site, cases).await));
    let mut command = site.binary();
    command.args(["bridge", "echo", "--json", "--listen", "127.0.0.1:0"]);
    command.env("TRUNKLINE_CONFIG", site.path("trunkline.json"));
    let mut bridge = Door::start(&mut command);
    all.push(("bridge", over_http(&bridge, "/mcp", MODERN, cases).await));
    bridge.stop().await;
    all.push(("command line", by_command(site, cases)));
    all
}

async fn over_http(door: &Door, path: &str, revision: &'static str, cases: &[Case]) -> Vec<Outcome> {
    let mut caller = Caller::at(door, path, None, revision).await;
    let listed = caller.tools().await;
    let mut outcomes = Vec::new();
    for (own, public, arguments) in cases {
        // The view of a single server and a bridge have no prefix.
        let renamed = public.strip_prefix("echo_").unwrap();
        let name = if path == "/mcp" && !listed.iter().any(|name| name == own || name == renamed) {
            public
        } else {
            renamed
        };
        let outcome = Outcome::of(&caller.call(name, arguments.clone()).await);
        assert_eq!(listed.iter().any(|known| known == name), outcome != Outcome::Hidden, "{name}");
        outcomes.push(outcome);
    }
    outcomes
}

fn initialize() -> Value {
    let client = json!({"name": "by-hand", "version": "1"});
    let params = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

fn frames(cases: &[Case]) -> Vec<Value> {
    let call = |(id, (_, public, arguments)): (usize, &Case)| {
        let params = json!({"name": public, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": id + 1, "method": "tools/call", "params": params})
    };
    cases.iter().enumerate().map(call).collect()
}

async fn over_sse(door: &Door, cases: &[Case]) -> Vec<Outcome> {
    let mut stream = Wire::open(&door.address).await.unwrap();
    let head = stream.begin("GET /sse", "Accept: text/event-stream\r\n", "").await.unwrap();
    assert_eq!(head.status, 200);
    let place = stream.event().await;
    let place = place.strip_prefix(&format!("http://{}", door.address)).unwrap_or(&place).to_owned();
    let mut post = Wire::open(&door.address).await.unwrap();
    let heard = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let mut outcomes = Vec::new();
    for frame in [initialize(), heard].into_iter().chain(frames(cases)) {
        let headers = "Content-Type: application/json\r\n";
        let taken = post.send(&format!("POST {place}"), headers, &frame.to_string()).await.unwrap();
        assert_eq!(taken.status, 202, "{}", taken.text());
        if frame["id"].is_null() {
            continue;
        }
        let answer = loop {
            let event: Value = serde_json::from_str(&stream.event().await).unwrap();
            if event["id"] == frame["id"] {
                break event;
            }
        };
        if frame["id"] != 0 {
            outcomes.push(Outcome::of(&answer));
        }
    }
    outcomes
}

async fn over_rest(door: &Door, cases: &[Case]) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for (_, public, arguments) in cases {
        let mut wire = Wire::open(&door.address).await.unwrap();
        let body = json!({ "params": arguments }).to_string();
        let what = format!("POST /mcp/tools/{public}/execute");
        let answer = wire.send(&what, "Content-Type: application/json\r\n", &body).await.unwrap();
        let told: Value = serde_json::from_str(&answer.text()).unwrap();
        let error = &told["error"];
        outcomes.push(match (error["code"].as_str(), error["details"]["errorCode"].as_str()) {
            (None, _) => Outcome::Runs,
            (Some("TOOL_NOT_FOUND"), _) => Outcome::Hidden,
            (_, code) => Outcome::of_code(code.unwrap_or_else(|| panic!("{told:#}"))),
        });
    }
    outcomes
}

struct Pipe {
    _child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Pipe {
    async fn ask(&mut self, frame: &Value) -> Value {
        self.input.write_all(format!("{frame}\n").as_bytes()).await.unwrap();
        loop {
            let line = timeout(HANG, self.output.next_line()).await.unwrap().unwrap().unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == frame["id"] && message["method"].is_null() {
                return message;
            }
        }
    }
}

async fn over_stdio(site: &Site, cases: &[Case]) -> Vec<Outcome> {
    let mut command = site.binary();
    command.args(["serve", "--stdio", "--config"]).arg(site.path("trunkline.json"));
    let mut command = Command::from(command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let input = child.stdin.take().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut pipe = Pipe { _child: child, input, output };
    pipe.ask(&initialize()).await;
    let heard = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    pipe.input.write_all(format!("{heard}\n").as_bytes()).await.unwrap();
    let mut outcomes = Vec::new();
    for frame in frames(cases) {
        outcomes.push(Outcome::of(&pipe.ask(&frame).await));
    }
    outcomes
}

fn by_command(site: &Site, cases: &[Case]) -> Vec<Outcome> {
    let run = |(own, _, arguments): &Case| {
        let mut command = site.binary();
        command.args(["call", "--no-check", "--json", "echo", own, &arguments.to_string()]);
        command.env("TRUNKLINE_CONFIG", site.path("trunkline.json"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        let (text, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.success() {
            return Outcome::Runs;
        }
        let code = ["E204", "E225", "E226", "E227"]
            .into_iter()
            .find(|code| text.contains(code) || errors.contains(code));
        Outcome::of_code(code.unwrap_or_else(|| panic!("{own} {arguments}: {text}{errors}")))
    };
    cases.iter().map(run).collect()
}
