//! `explain` agrees with what happens to the call.

use crate::{
    caller::{Caller, MODERN},
    door::Door,
    site::Site,
    ways::Dice,
    wire::Wire,
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, hash_map::Entry},
    fs,
    process::{Output, Stdio},
};

const COMBINATIONS: usize = 200;
/// Wrong keys that are tried.
const GUESSES: usize = 3;
/// Calls that one caller may make.
const QUOTA: usize = 150;
const CALLERS: [&str; 7] = ["admin", "admin", "reader", "dev", "nobody", "busy", "ghost"];
const VIEWS: [Option<&str>; 5] = [None, None, None, Some("work"), Some("server/files")];
const TOOLS: [&str; 20] = [
    "files_echo",
    "files_echo",
    "files_pid",
    "files_large",
    "files_rest",
    "files_nap",
    "files_gate",
    "files_absent",
    "sick_echo",
    "sick_echo",
    "halted_echo",
    "rated_echo",
    "gone_echo",
    "other_echo",
    "disk_list_directory",
    "disk_list_directory",
    "disk_write_file",
    "mine_echo_echo",
    "mine_echo_echo",
    "mine_echo_pid",
];
/// The header with the key by which a caller is known to the server `mine`.
const MINE: &str = "X-Mine";

struct Scene {
    site: Site,
    door: Door,
    tokens: BTreeMap<String, String>,
    mine: Mine,
}

/// A gateway that shows each caller of ours other tools, by a key of its own.
struct Mine {
    site: Site,
    door: Door,
    keys: BTreeMap<String, String>,
}

impl Mine {
    fn open() -> Self {
        let site = Site::new("mine");
        site.configure(&json!({
            "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
            "auth": {"keys": site.path("keys.json")},
            "roles": {"all": {"allow": ["*"]}, "few": {"allow": ["echo_echo"]}},
        }));
        let keys = site.keys(&[("admin", &["all"]), ("reader", &["few"]), ("dev", &["few"])]);
        let keys = keys.into_iter().map(|key| (key.id, key.token)).collect();
        let door = site.open();
        Self { site, door, keys }
    }
}

fn configuration(site: &Site, mine: &Door) -> Value {
    let mut files = site.echo("files", "modern");
    files["deny"] = json!(["large"]);
    files["tools"] = json!({"nap": {"rename": "rest"}, "pid": {"annotations": {"readOnlyHint": true}}});
    let mut sick = site.echo("sick", "modern");
    sick["command"].as_array_mut().unwrap().push("fail".into());
    sick["breaker"] = json!({"failures": 2, "openFor": "1h"});
    let mut rated = site.echo("rated", "modern");
    rated["rate"] = json!({"calls": 10, "per": "1d"});
    json!({
        "mcp": {"servers": {
            "files": files,
            "sick": sick,
            "halted": site.echo("halted", "modern"),
            "rated": rated,
            "gone": {"command": ["/nowhere/program"]},
            "disk": {"type": "builtin", "pack": "filesystem", "root": site.path("disk")},
            "mine": {"url": mine.endpoint, "callerHeaders": {MINE: "Authorization"}, "oauth": false},
        }},
        "auth": {"keys": site.path("keys.json")},
        "roles": {
            "admin": {"allow": ["*"], "operate": true},
            "reader": {"allow": ["files_*", "rated_*", "disk_*", "mine_*"], "deny": ["files_gate"]},
            "staff": {"callers": ["dev", "busy"], "allow": ["*"]},
        },
        "policy": {"rules": [
            {"name": "etc", "effect": "deny", "tools": ["files_echo"], "reason": "system files",
             "arguments": [{"at": "/text", "within": "/etc"}]},
            {"name": "calm", "effect": "deny", "callers": ["dev"], "annotations": {"readOnlyHint": true}},
            {"name": "no lists", "effect": "deny", "callers": ["dev"], "tools": ["disk_list_*"]},
            {"name": "careful", "effect": "ask", "callers": ["reader"], "tools": ["files_rest"]},
        ]},
        "views": {"work": {"servers": ["files", "sick", "disk", "mine"], "hide": ["files_pid"]}},
        "limits": {"perCaller": {"calls": QUOTA, "per": "1d"}, "approvalTimeout": "1s"},
    })
}

impl Scene {
    async fn open() -> Self {
        let (site, mine) = (Site::new("explained"), Mine::open());
        fs::create_dir(site.path("disk")).unwrap();
        site.configure(&configuration(&site, &mine.door));
        let keys = site.keys(&[
            ("admin", &["admin"]),
            ("reader", &["reader"]),
            ("dev", &[]),
            ("nobody", &[]),
            ("busy", &[]),
        ]);
        let tokens = keys.iter().map(|key| (key.id.clone(), key.token.clone())).collect();
        let door = site.open();
        let scene = Self { site, door, tokens, mine };
        // An explanation stands for the identity that the caller used last.
        for id in scene.mine.keys.keys() {
            scene.caller(id, None).await.insist("mine_echo_echo", json!({"text": "there"})).await;
        }
        let mut admin = scene.caller("admin", None).await;
        admin.insist("disk_list_directory", json!({"path": "."})).await;
        for tool in ["files_echo", "sick_echo", "halted_echo"] {
            admin.insist(tool, json!({"text": "/srv"})).await;
        }
        let mut rated = None;
        while rated.as_deref() != Some("E213") {
            let answer = admin.call("rated_echo", json!({"text": "there"})).await;
            rated = answer["error"]["data"]["appCode"].as_str().map(str::to_owned);
        }
        for _ in 0..2 {
            admin.call("sick_fail", json!({"text": "no"})).await;
        }
        let stopped = scene.run(&["stop", "halted", &format!("http://{}", scene.door.address)]);
        assert!(stopped.status.success(), "{stopped:?}");
        let mut busy = scene.caller("busy", None).await;
        for _ in 0..QUOTA {
            busy.request("tools/list", json!({})).await;
        }
        scene
    }

    async fn caller(&self, id: &str, view: Option<&str>) -> Caller {
        let path = view.map_or_else(|| "/mcp".to_owned(), |view| format!("/mcp/{view}"));
        let token = self.tokens.get(id).map_or("a-key-that-nobody-has-been-given-0123456789", String::as_str);
        let mut caller = Caller::silent(&self.door, &path, Some(token), MODERN).await;
        let key = self.mine.keys.get(id).map(|key| (MINE.to_owned(), format!("Bearer {key}")));
        caller.more.extend(key);
        caller
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = self.site.binary();
        command.args(words).env("TRUNKLINE_KEY", &self.tokens["admin"]).stdin(Stdio::null());
        command.output().unwrap()
    }

    /// Asks the running gateway.
    async fn explain(&self, wanted: &Value) -> Value {
        let mut wire = Wire::open(&self.door.address).await.unwrap();
        let call: String = form_urlencoded::byte_serialize(wanted.to_string().as_bytes()).collect();
        let headers = format!("Authorization: Bearer {}\r\n", self.tokens["admin"]);
        let what = format!("POST /control/explain?call={call}");
        let answer = wire.send(&what, &headers, "").await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_str(&answer.text()).unwrap()
    }
}

/// One combination: the caller, the view, the tool and its arguments.
fn combination(dice: &mut Dice) -> (&'static str, Option<&'static str>, String, Value) {
    let (caller, view, tool) = (dice.pick(&CALLERS), dice.pick(&VIEWS), dice.pick(&TOOLS));
    let tool = match view {
        Some("server/files") => tool.strip_prefix("files_").unwrap_or(tool),
        _ => tool,
    };
    if tool.starts_with("disk_") {
        return (caller, view, tool.to_owned(), json!({"path": "."}));
    }
    let text = dice.pick(&["/srv/a", "/etc/passwd", "/srv/../etc/x"]);
    (caller, view, tool.to_owned(), json!({"text": text, "ms": 1, "path": "/"}))
}

/// The outcome of a call, in the words of an explanation.
async fn outcome(caller: &mut Caller, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    let answer = caller.ask(&json!(7), "tools/call", params).await.unwrap();
    let is_http = answer.status == 401 || answer.status == 404 && !answer.text().contains("jsonrpc");
    if is_http {
        return format!("stops HTTP {}", answer.status);
    }
    let message = answer.messages().pop().unwrap_or_else(|| panic!("{} {}", answer.status, answer.text()));
    if message["result"].is_object() && message["result"]["isError"] != true {
        return "passes".to_owned();
    }
    let code = message["error"]["data"]["appCode"].as_str().unwrap_or_else(|| panic!("{message:#}"));
    if matches!(code, "E226" | "E227") { "asks".to_owned() } else { format!("stops {code}") }
}

fn verdict(explanation: &Value) -> String {
    let verdict = &explanation["verdict"];
    let decision = verdict["decision"].as_str().unwrap();
    match verdict["code"].as_str() {
        Some(code) if decision == "stops" => format!("stops {code}"),
        _ => decision.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_verdict_of_the_chain_is_the_outcome_of_the_call() {
    let mut scene = Scene::open().await;
    let (mut dice, mut callers) = (Dice(20), HashMap::new());
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let (mut asked, mut guesses) = (BTreeSet::new(), 0);
    while seen.values().sum::<usize>() < COMBINATIONS {
        let (id, view, tool, arguments) = combination(&mut dice);
        let wanted = json!({"tool": tool, "caller": id, "view": view, "arguments": arguments});
        let explanation = scene.explain(&wanted).await;
        let expected = verdict(&explanation);
        // A question waits for a second, so each is asked once; wrong keys are limited.
        let is_new = match expected.as_str() {
            "asks" => asked.insert(wanted.to_string()),
            "stops HTTP 401" => {
                guesses += 1;
                guesses <= GUESSES
            }
            _ => true,
        };
        if !is_new {
            continue;
        }
        let caller = match callers.entry((id, view)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(scene.caller(id, view).await),
        };
        let found = outcome(caller, &tool, &arguments).await;
        assert_eq!(expected, found, "{wanted}: {explanation:#}");
        *seen.entry(expected).or_default() += 1;
    }
    for wanted in ["passes", "asks", "stops E204", "stops E225", "stops E213", "stops E201", "stops HTTP 401"]
    {
        assert!(seen.contains_key(wanted), "{seen:?}");
    }
    commands(&scene).await;
    scene.door.stop().await;
    scene.site.emptied().await;
    scene.mine.door.stop().await;
    scene.mine.site.emptied().await;
}

/// The command tells the same as the gateway, with files and lines.
async fn commands(scene: &Scene) {
    let url = format!("http://{}", scene.door.address);
    let words = ["explain", "files_echo", "text=/etc/x", "--as", "reader", "--url", &url];
    let output = scene.run(&[&words[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let wanted = json!({"tool": "files_echo", "caller": "reader", "arguments": {"text": "/etc/x"}});
    assert_eq!(told, scene.explain(&wanted).await);
    let text = String::from_utf8(scene.run(&words).stdout).unwrap();
    assert!(text.contains("rule `etc` (") && text.contains("trunkline.json:"), "{text}");
    assert!(text.contains("`roles.reader` (") && text.contains("E225"), "{text}");
    // Without a gateway, the configuration decides.
    let config = scene.site.path("trunkline.json").display().to_string();
    let offline = ["explain", "files_pid", "--as", "dev", "--offline", "--config", &config];
    let output = scene.run(&offline);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("STOPS") && text.contains("rule `calm`") && text.contains("E204"), "{text}");
    let offline = ["explain", "files_echo", "text=/srv", "--as", "dev", "--config", &config];
    let output = scene.run(&offline);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // A caller that is no operator learns nothing.
    let mut command = scene.site.binary();
    command.args(words).env("TRUNKLINE_KEY", &scene.tokens["dev"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
