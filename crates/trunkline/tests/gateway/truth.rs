//! Servers and clients as they see each other through the gateway.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    door::Door,
    site::{HANG, PAUSE, Site},
    upstream::upstream,
    wire::Wire,
};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
};

/// A legacy server over stdio. The file `plan` beside it says what it does.
const SERVER: &str = r#"
import json, os, sys
plan = sys.argv[1:]
declared = {}
SCHEMA = '{"type":"object"}'
TWICE = '{"type":"object","type":"string"}'

def send(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()

def tool(name, schema):
    return '{"name":"%s","inputSchema":%s}' % (name, schema)

for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), json.dumps(message.get("id"))
    if method == "server/discover" and "dies" in plan:
        sys.stdin.readline()
        sys.exit(1)
    if "id" not in message or method is None:
        continue
    if method == "initialize" and "refuses" in plan:
        send('{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"not today"}}' % id)
    elif method == "initialize":
        declared = message["params"]["capabilities"]
        offered = message["params"]["protocolVersion"]
        old = '{"protocolVersion":"2024-11-05","capabilities":{"tools":{}}' if "old" in plan else None
        if "toolless" in plan:
            old = '{"protocolVersion":"2025-11-25","capabilities":{"prompts":{}}'
        tasks = '{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{"x":1.0}}},"list":{}}}' if "tasks" in plan else '{"tools":{}}'
        if "promises" in plan:
            tasks = '{"tools":{},"prompts":{},"resources":{}}'
        told = old or '{"protocolVersion":"2025-11-25","capabilities":%s' % tasks
        send('{"jsonrpc":"2.0","id":%s,"result":%s,"serverInfo":{"name":"s","version":"1"}}}' % (id, told))
    elif method == "tools/list" and "listless" in plan:
        continue
    elif method == "tools/list":
        tools = [tool("good", SCHEMA), tool("ask", SCHEMA), tool("gone", SCHEMA)]
        if "twice" in plan:
            tools.insert(1, tool("bad", TWICE))
        if "hides" in plan and "elicitation" not in declared:
            del tools[1]
        send('{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}' % (id, ",".join(tools)))
    elif method == "resources/list":
        send('{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no database","data":7}}' % id)
    elif method == "tools/call" and message["params"]["name"] == "ask" and "elicitation" not in declared:
        send('{"jsonrpc":"2.0","id":%s,"error":{"code":-31000,"message":"this tool needs elicitation"}}' % id)
    elif method == "tools/call" and message["params"]["name"] == "gone":
        os._exit(1)
    elif method == "tools/call":
        text = json.dumps(offered if "tells" in plan else json.dumps(declared))
        send('{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}' % (id, text))
    else:
        send('{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}' % id)
"#;

/// A site with this server, which follows a plan.
fn site(name: &str, plan: &[&str]) -> Site {
    Site::of(name, |site| {
        site.write("server.py", SERVER);
        let script = site.path("server.py").display().to_string();
        let words = ["python3", &script].iter().chain(plan).map(ToString::to_string).collect::<Vec<_>>();
        json!({"s": site.local("s", &words)})
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_sees_exactly_the_capabilities_that_the_client_declared() {
    let site = site("declared", &[]);
    let mut door = site.open();
    for revision in [LEGACY, MODERN] {
        let mut plain = Caller::open(&door, None, revision).await;
        assert_eq!(plain.insist("s_good", json!({})).await, "{}");
        let refused = plain.call("s_ask", json!({})).await;
        assert_eq!(refused["error"]["message"], "this tool needs elicitation", "{refused:#}");
        let mut able = Caller::silent(&door, "/mcp", None, revision).await;
        able.capabilities = json!({"elicitation": {}, "vendor": {"x": 1}});
        able.begin().await;
        let seen: Value = serde_json::from_str(&able.insist("s_good", json!({})).await).unwrap();
        assert_eq!(seen, able.capabilities);
    }
    door.stop().await;
    site.emptied().await;
}

/// A legacy server may list a tool only to clients with the capability that it needs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_needs_a_capability_is_known_to_a_client_that_has_it() {
    let site = site("needed", &["hides"]);
    let mut door = site.open();
    let mut plain = Caller::open(&door, None, MODERN).await;
    plain.insist("s_good", json!({})).await;
    assert_eq!(plain.tools().await, ["s_good", "s_gone"]);
    let unknown = plain.call("s_ask", json!({})).await;
    assert_eq!(unknown["error"]["data"]["appCode"], "E204", "{unknown:#}");
    let mut able = Caller::open(&door, None, MODERN).await;
    able.capabilities = json!({"elicitation": {}});
    let called = able.call("s_ask", json!({})).await;
    assert_eq!(called["result"]["content"][0]["text"], r#"{"elicitation": {}}"#, "{called:#}");
    assert_eq!(able.tools().await, ["s_good", "s_ask", "s_gone"]);
    let mut other = Caller::open(&door, None, MODERN).await;
    other.capabilities = json!({"elicitation": {}, "roots": {}});
    assert_eq!(other.tools().await, ["s_good", "s_ask", "s_gone"]);
    let refused = plain.call("s_ask", json!({})).await;
    assert_eq!(refused["error"]["message"], "this tool needs elicitation", "{refused:#}");
    door.stop().await;
    site.emptied().await;
}

/// The list itself starts the session that shows the tool.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_with_capabilities_lists_the_tools_that_need_them() {
    let site = site("listed", &["hides"]);
    let mut door = site.open();
    let mut plain = Caller::open(&door, None, MODERN).await;
    plain.insist("s_good", json!({})).await;
    let mut able = Caller::open(&door, None, MODERN).await;
    able.capabilities = json!({"elicitation": {}});
    let began = std::time::Instant::now();
    while able.tools().await != ["s_good", "s_ask", "s_gone"] {
        assert!(began.elapsed() < HANG, "{:?}", able.tools().await);
        tokio::time::sleep(PAUSE).await;
    }
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_whose_schema_names_a_member_twice_is_set_aside_and_the_rest_stays() {
    let site = site("twice", &["twice"]);
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    caller.insist("s_good", json!({})).await;
    assert_eq!(caller.tools().await, ["s_good", "s_ask", "s_gone"]);
    let status = door.status().await;
    let aside = &upstream(&status, "s")["quarantined"][0];
    assert_eq!((&aside["name"], &aside["index"]), (&json!("bad"), &json!(1)), "{status:#}");
    assert_eq!(aside["reason"], "a member name occurs twice in one object");
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_that_the_server_refuses_is_no_empty_list() {
    let site = site("promises", &["promises"]);
    let mut door = site.open();
    let list = |path: &str, kind: &str| {
        let url = format!("{}{path}", door.endpoint);
        let told = site.binary().args(["list", "--json", "--era", "legacy", &url, kind]).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr))
    };
    let failed = list("/server/s", "resources");
    assert!(failed.contains(r#""message":"no database""#), "{failed}");
    assert!(failed.contains(r#""original_mcp_code":-32603"#), "{failed}");
    // `list` leaves out a list that the server answers with −32601.
    let refused = list("/server/s", "prompts");
    assert!(!refused.contains(r#""prompts":["#), "{refused}");
    for kind in ["resources", "prompts"] {
        let joined = list("", kind);
        assert!(joined.contains(&format!(r#""{kind}":[]"#)), "{kind}: {joined}");
    }
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_dies_late_of_the_probe_is_started_with_initialize() {
    let site = site("late", &["dies"]);
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    caller.insist("s_good", json!({})).await;
    door.stop().await;
    site.emptied().await;
    let script = site.path("server.py");
    let told = site.binary().args(["doctor", "--", "python3"]).arg(&script).arg("dies").output().unwrap();
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(text.contains("started again for `initialize`") && !text.contains("exited-at-start"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_handshake_is_called_one() {
    let site = site("handshake", &["refuses"]);
    let mut command = site.binary();
    command.args(["list", "--json", "--", "python3"]).arg(site.path("server.py")).arg("refuses");
    let told = command.output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
    assert!(text.contains("the server refused the handshake (`initialize`): not today"), "{text}");
    assert!(text.contains("-32000"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_errors_say_what_to_do_and_our_client_reads_them_back() {
    let site = site("codes", &[]);
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, LEGACY).await;
    caller.insist("s_good", json!({})).await;
    let unknown = caller.call("s_none", json!({})).await;
    assert_eq!(
        (&unknown["error"]["code"], &unknown["error"]["data"]["appCode"]),
        (&json!(-32602), &json!("E204"))
    );
    let lost = caller.call("s_gone", json!({})).await;
    let data = &lost["error"]["data"];
    assert_eq!((&data["appCode"], &data["retryable"]), (&json!("E215"), &json!(false)), "{lost:#}");
    for member in ["userMessage", "suggestedAction"] {
        assert!(data[member].is_string(), "{lost:#}");
    }
    caller.insist("s_good", json!({})).await;
    let called = site.binary().args(["call", &door.endpoint, "s_gone", "--json"]).output().unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&called.stdout), String::from_utf8_lossy(&called.stderr));
    assert!(text.contains("E215") && text.contains("before you repeat it"), "{text}");
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bridge_adds_no_capability_that_the_server_does_not_have() {
    let site = site("bridged", &[]);
    for (plan, capabilities) in [
        ("old", r#""capabilities":{"tools":{}}"#),
        (
            "tasks",
            r#""capabilities":{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{"x":1.0}}},"list":{}}}"#,
        ),
    ] {
        let mut command = site.binary();
        command.args(["bridge", "--", "python3"]).arg(site.path("server.py")).arg(plan);
        let mut bridge = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
        let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        writeln!(bridge.stdin.as_mut().unwrap(), "{ask}").unwrap();
        let mut line = String::new();
        BufReader::new(bridge.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains(capabilities), "{plan}: {line}");
        drop(bridge.stdin.take());
        bridge.wait().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_revision_is_settable_for_all_servers_and_for_one() {
    let site = site("revision", &[]);
    let script = site.path("server.py").display().to_string();
    let words = ["python3", &script, "old", "tells"].map(str::to_owned);
    let mut other = site.local("other", &words);
    other["era"] = json!("2025-03-26");
    site.configure(&json!({"mcp": {"servers": {"s": site.local("s", &words), "other": other}}}));
    let mut command = site.binary();
    command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"]);
    command.arg(site.path("trunkline.json")).env("MCP_PROTOCOL_VERSION", "2025-06-18");
    let log = std::fs::File::create(site.path("log")).unwrap();
    let mut door = Door::start_with_errors(&mut command, log.into());
    for client in ["one", "two"] {
        let mut caller = Caller::open(&door, None, MODERN).await;
        caller.capabilities = json!({"vendor": client});
        assert_eq!(caller.insist("s_good", json!({})).await, "2025-06-18");
        assert_eq!(caller.insist("other_good", json!({})).await, "2025-03-26");
    }
    door.stop().await;
    site.emptied().await;
    let log = std::fs::read_to_string(site.path("log")).unwrap();
    for (name, offered) in [("s", "2025-06-18"), ("other", "2025-03-26")] {
        let wanted = format!("upstream={name} offered={offered} revision=2024-11-05");
        let warned = log.lines().filter(|line| line.contains("WARN") && line.contains(&wanted)).count();
        assert_eq!(warned, 1, "{log}");
    }
    let mut listing = site.binary();
    listing.args(["call", "other", "good"]).env("TRUNKLINE_CONFIG", site.path("trunkline.json"));
    let told = listing.env("MCP_PROTOCOL_VERSION", "2025-06-18").output().unwrap();
    assert!(String::from_utf8_lossy(&told.stdout).contains("2025-03-26"), "{told:?}");
    let mut unknown = site.binary();
    unknown.args(["serve", "--config"]).arg(site.path("trunkline.json"));
    let told = unknown.env("MCP_PROTOCOL_VERSION", "2020-01-01").output().unwrap();
    assert_eq!(told.status.code(), Some(2), "{told:?}");
    assert!(String::from_utf8_lossy(&told.stderr).contains("MCP_PROTOCOL_VERSION: `2020-01-01`"), "{told:?}");
}

#[test]
fn tools_of_a_server_without_them_are_e205() {
    let site = site("toolless", &["toolless"]);
    let list = |words: &[&str]| {
        let mut command = site.binary();
        command.arg("list").args(words).args(["--json", "--", "python3"]).arg(site.path("server.py"));
        command.arg("toolless").output().unwrap()
    };
    let asked = list(&["tools"]);
    assert_eq!(asked.status.code(), Some(1), "{asked:?}");
    let text = String::from_utf8_lossy(&asked.stdout);
    assert!(text.contains("E205") && text.contains("the server does not offer `tools`"), "{asked:?}");
    let all = list(&[]);
    assert_eq!(all.status.code(), Some(0), "{all:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bridge_says_which_revision_the_server_speaks() {
    let site = site("spoken", &[]);
    for (plan, revision) in [("old", "2024-11-05"), ("new", "2025-11-25")] {
        let mut command = site.binary();
        command.args(["bridge", "--listen", "127.0.0.1:0", "--", "python3"]);
        command.arg(site.path("server.py")).args(["listless", plan]);
        let mut bridge = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut banner = String::new();
        BufReader::new(bridge.stderr.as_mut().unwrap()).read_line(&mut banner).unwrap();
        bridge.kill().unwrap();
        bridge.wait().unwrap();
        assert!(banner.starts_with(&format!("s (revision {revision}) is offered at ")), "{banner}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_before_the_handshake_is_answered_only_on_request() {
    let site = site("early", &[]);
    let ask = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"}).to_string();
    for (flags, answered) in [(&[][..], false), (&["--no-handshake"][..], true)] {
        let mut command = site.binary();
        command.arg("serve").args(flags).args(["--stdio", "--config"]).arg(site.path("trunkline.json"));
        let mut serve = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
        let greet = json!({"jsonrpc": "2.0", "id": 8, "method": "initialize", "params": params});
        let input = serve.stdin.as_mut().unwrap();
        writeln!(input, "{ask}\n{greet}\n{greet}").unwrap();
        let mut lines = BufReader::new(serve.stdout.as_mut().unwrap()).lines();
        let mut heard: Vec<Value> = Vec::new();
        while heard.iter().filter(|message| message.get("id").is_some()).count() < 3 {
            heard.push(serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap());
        }
        let by_id = |id: u64| heard.iter().filter(move |message| message["id"] == id).collect::<Vec<_>>();
        if answered {
            assert_eq!(by_id(7)[0]["result"]["tools"].as_array().map(Vec::len), Some(3), "{heard:#?}");
        } else {
            let text = by_id(7)[0]["error"]["message"].as_str().unwrap();
            assert!(text.contains("the first request must be `initialize`"), "{text}");
        }
        assert_eq!(by_id(8)[0]["result"]["protocolVersion"], LEGACY, "{heard:#?}");
        assert_eq!(by_id(8)[1]["error"]["message"], "the session is initialised already");
        drop(serve.stdin.take());
        serve.wait().unwrap();
        let mut command = site.binary();
        command.args(["serve", "--json", "--listen", "127.0.0.1:0"]).args(flags);
        let mut door = Door::start(command.arg("--config").arg(site.path("trunkline.json")));
        let mut early = Caller::silent(&door, "/mcp", None, LEGACY).await;
        let said = early.ask(&json!(7), "tools/list", json!({})).await.unwrap();
        let headers = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
        let mut wire = Wire::open(&door.address).await.unwrap();
        let plain = wire.send("POST /mcp", headers, &ask).await.unwrap();
        for answer in [said, plain] {
            assert_eq!(answer.status, if answered { 200 } else { 400 }, "{}", answer.text());
            let tools = answer.messages().pop().unwrap()["result"]["tools"].as_array().map(Vec::len);
            assert_eq!(tools, answered.then_some(3), "{}", answer.text());
        }
        door.stop().await;
    }
    site.emptied().await;
}
