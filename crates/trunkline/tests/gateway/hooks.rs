//! H8: hooks from the configuration, through the real binary.

use crate::{
    caller::{Caller, MODERN},
    rest::{Rest, code},
    site::Site,
};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
};

/// A site with the echo server and hooks. `scripts` are Python programs by name; each reads the
/// event into `event`.
fn site(name: &str, scripts: &[(&str, &str)], hooks: impl FnOnce(&Site) -> Value) -> Site {
    let site = Site::new(name);
    for (script, body) in scripts {
        let path = site.path(script);
        let text =
            format!("#!/usr/bin/env python3\nimport json, sys, time\nevent = json.load(sys.stdin)\n{body}\n");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let trail = site.path("trail");
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "hooks": hooks(&site),
        "audit": {"enabled": true, "directory": trail},
    }));
    site
}

fn text(body: &Value) -> Vec<&str> {
    body["result"]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["text"].as_str().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h8_a_program_denies_annotates_and_sees_masked_arguments() {
    let guard = r#"
with open(sys.argv[1], "a") as log:
    log.write(json.dumps(event) + "\n")
if event["event"] == "before" and event["arguments"].get("text") == "forbidden":
    print(json.dumps({"decision": "deny", "reason": "that word is not allowed"}))
elif event["event"] == "after":
    print(json.dumps({"annotation": "checked", "meta": {"score": 7}}))
"#;
    let site = site("guard", &[("guard", guard)], |site| {
        let command = [site.path("guard"), site.path("seen")];
        json!({"guard": {"on": ["before", "after", "error"], "tools": ["echo_e*"], "command": command, "timeout": "60s"}})
    });
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let (answer, body) = rest.execute("echo_echo", &json!({"params": {"text": "forbidden"}})).await;
    assert_eq!((answer.status, code(&body)), (403, "PERMISSION_ERROR"), "{body}");
    assert_eq!(body["error"]["message"], "the call was denied: that word is not allowed");
    let secret = format!("token ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let (_, body) = rest.execute("echo_echo", &json!({"params": {"text": secret}})).await;
    assert_eq!(text(&body), [secret.as_str(), "checked"], "{body}");
    assert_eq!(body["result"]["_meta"]["trunkline/hooks"], json!({"guard": {"score": 7}}));
    // The name within the view of one server does not lead around the hook; MCP is the same.
    let inner = rest.wire.send(
        "POST /mcp/server/echo/tools/echo/execute",
        "Content-Type: application/json\r\n",
        r#"{"params":{"text":"forbidden"}}"#,
    );
    assert_eq!(inner.await.unwrap().status, 403);
    let over_mcp =
        Caller::at(&door, "/mcp", None, MODERN).await.call("echo_echo", json!({"text": "forbidden"})).await;
    assert!(over_mcp.to_string().contains("that word is not allowed"), "{over_mcp}");
    // Another tool is not seen.
    assert_eq!(rest.execute("echo_pid", &json!({})).await.0.status, 200);
    let seen = fs::read_to_string(site.path("seen")).unwrap();
    assert!(!seen.contains("a1B2c3D4e5F6") && !seen.contains("echo_pid"), "{seen}");
    let first: Value = serde_json::from_str(seen.lines().next().unwrap()).unwrap();
    assert_eq!(first["caller"]["id"], "local");
    assert_eq!((&first["tool"], &first["hook"]), (&json!("echo_echo"), &json!("guard")));
    door.stop().await;
    // A denial is in the audit trail.
    let files = fs::read_dir(site.path("trail")).unwrap().map(|entry| entry.unwrap().path());
    let trail: String = files.filter_map(|file| fs::read_to_string(file).ok()).collect();
    assert!(trail.contains("echo_echo") && trail.contains("E212"), "{trail}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h8_a_failing_hook_refuses_or_allows_as_configured() {
    let scripts = [
        ("exits", "sys.exit(3)"),
        ("hangs", "time.sleep(600)"),
        ("floods", "print('x' * 1000000)"),
        ("babbles", "print('fine by me')"),
    ];
    for (name, script) in scripts {
        for (effect, status) in [("refuse", 503), ("allow", 200)] {
            let site = site(
                "failing",
                &[(name, script)],
                |site| json!({"h": {"command": [site.path(name)], "timeout": "2s", "whenItFails": effect}}),
            );
            let mut door = site.open();
            let mut rest = Rest::at(&door, None).await;
            let (answer, body) = rest.execute("echo_echo", &json!({"params": {"text": "x"}})).await;
            assert_eq!(answer.status, status, "{name} {effect}: {body}");
            door.stop().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h8_an_endpoint_withholds_a_result() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let endpoint = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer = r#"{"decision":"deny","reason":"too frank"}"#;
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{answer}", answer.len());
        reader.get_mut().write_all(answer.as_bytes()).unwrap();
        (head, serde_json::from_slice::<Value>(&body).unwrap())
    });
    let site = site("endpoint", &[], |_| {
        let headers = json!({"X-Hook-Key": "{env:HOOK_KEY}"});
        json!({"h": {"on": ["after"], "url": url, "headers": headers, "shows": "whole", "timeout": "60s"}})
    });
    let mut command = site.binary();
    command.env("HOOK_KEY", "sesame-opens").args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"]);
    let mut door = crate::door::Door::start(command.arg(site.path("trunkline.json")));
    let mut rest = Rest::at(&door, None).await;
    let (answer, body) = rest.execute("echo_echo", &json!({"params": {"text": "the result"}})).await;
    assert_eq!(
        (answer.status, &body["error"]["message"]),
        (403, &json!("the result was withheld: too frank"))
    );
    assert_eq!(body["error"]["details"]["retryable"], false, "{body}");
    let (head, event) = endpoint.join().unwrap();
    assert!(head.contains("sesame-opens"), "{head}");
    assert_eq!(event["result"]["content"][0]["text"], "the result");
    door.stop().await;
}

#[test]
fn h8_a_hook_must_be_complete() {
    let site = site("wrong", &[], |_| json!({"a": {"command": ["relative"]}, "b": {}}));
    let run = site.binary().args(["config", "check"]).arg(site.path("trunkline.json")).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success(), "{said}");
    assert!(said.contains("absolute path, not `relative`"), "{said}");
    assert!(said.contains("either a `command` or a `url`"), "{said}");
}

/// Programs that break every rule; each notes the processes that it leaves behind.
const HOSTILE: [(&str, &str); 6] = [
    ("floods", "while True: print('x' * 65536)"),
    ("stays", "time.sleep(1000)"),
    ("garbage", "sys.stdout.buffer.write(bytes(range(256)))"),
    ("deep", "print('[' * 60000)"),
    ("lies", "print('{}{}')"),
    ("screams", "sys.stderr.write('\\x1b]0;owned\\x07\\n WARN all is well\\n' * 9); sys.exit(1)"),
];

/// Leaves a process of its own session with an empty environment, which holds the output open.
const LEAVES: &str = r#"
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(sys.argv[1], "w").write(str(os.getpid()))
        os.execve("/bin/sleep", ["sleep", "1000"], {})
    os._exit(0)
while not (os.path.exists(sys.argv[1]) and os.path.getsize(sys.argv[1])): time.sleep(0.01)
print("{}", flush=True)
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c09_k03_hostile_programs_of_hooks_decide_nothing_and_leave_nothing() {
    for (name, body) in HOSTILE {
        for on in ["before", "after"] {
            let site = site(
                &format!("hook-{name}"),
                &[(name, body)],
                |site| json!({"hook": {"on": [on], "command": [site.path(name)], "timeout": "1s"}}),
            );
            let errors = fs::File::create(site.path("errors")).unwrap();
            let mut command = site.binary();
            command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"]);
            command.arg(site.path("trunkline.json"));
            let mut door = crate::door::Door::start_with_errors(&mut command, errors.into());
            let mut rest = Rest::at(&door, None).await;
            let (answer, body) = rest.execute("echo_echo", &json!({"params": {"text": "x"}})).await;
            assert_eq!((answer.status, &body["success"]), (503, &json!(false)), "{name} {on}: {body}");
            assert!(!body.to_string().contains("owned"), "{name} {on}: {body}");
            door.stop().await;
            let log = fs::read_to_string(site.path("errors")).unwrap();
            assert!(!log.contains('\x1b') && log.len() < 8192, "{name} {on}: {log}");
            assert!(!log.lines().any(|line| line.starts_with(" WARN all is well")), "{name} {on}: {log}");
        }
    }
    let site = site("hook-leaves", &[("leaves", LEAVES)], |site| {
        let command = [site.path("leaves"), site.path("pid")];
        json!({"hook": {"on": ["before"], "command": command, "timeout": "10s"}})
    });
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    rest.execute("echo_echo", &json!({"params": {"text": "x"}})).await;
    let pid = fs::read_to_string(site.path("pid")).unwrap();
    let left = std::path::Path::new("/proc").join(pid);
    crate::site::until(|| !left.exists(), || "the process is left".to_owned()).await;
    door.stop().await;
}
