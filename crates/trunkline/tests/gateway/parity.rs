//! The same tool, arguments and caller give the same result, denial and audit record by every way
//! in: REST, MCP of both eras over HTTP, HTTP+SSE and stdio.

use crate::{
    door::Door,
    installed::installed,
    rest::{Rest, body_of},
    site::Site,
};
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// Members of audit records that differ from call to call, or that the form of the message decides.
const OWN: [&str; 8] = ["time", "call", "micros", "bytes", "previous", "hash", "seq", "number"];

/// One way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Rest,
    Legacy,
    Modern,
    Sse,
    Stdio,
}

const WAYS: [Way; 5] = [Way::Rest, Way::Legacy, Way::Modern, Way::Sse, Way::Stdio];

/// The answer to a caller: the result, or the text of the denial.
#[derive(Debug, Clone, PartialEq)]
enum Got {
    Result(Value),
    Failed(Value),
    Denied(String),
}

/// Calls that succeed, fail, have bad arguments, and name tools that do not exist.
fn calls(listed: &[String], folder: &Path) -> Vec<(String, Value)> {
    let repository = json!(folder);
    let file = json!("hello.txt");
    let known: BTreeMap<&str, Value> = BTreeMap::from([
        ("read_file", json!({"path": file})),
        ("read_text_file", json!({"path": file})),
        ("read_multiple_files", json!({"paths": [file, "none.txt"]})),
        ("list_directory", json!({"path": "."})),
        ("search_files", json!({"path": ".", "pattern": "*.txt"})),
        ("git_status", json!({"repo_path": repository})),
        ("git_log", json!({"repo_path": repository})),
        ("git_branch", json!({"repo_path": repository})),
        ("git_show", json!({"repo_path": repository, "revision": "HEAD"})),
        ("everything_echo", json!({"message": "heard"})),
        ("everything_get-sum", json!({"a": 1, "b": 2})),
    ]);
    let mut calls = Vec::new();
    for tool in listed {
        // Tools that are not in the table are called without arguments: for most that is an error,
        // which has to be the same one, too.
        calls.push((tool.clone(), known.get(tool.as_str()).cloned().unwrap_or_else(|| json!({}))));
        calls.push((tool.clone(), json!({"no_such_argument": 1})));
    }
    calls.push(("no_such_tool".to_owned(), json!({})));
    calls.push(("write_file".to_owned(), json!({"path": "x", "content": "not allowed here"})));
    calls
}

struct Setting {
    site: Site,
    /// Arguments of `serve`.
    serve: Vec<String>,
    /// The trails, outside of the directory that is served: each process protects its own.
    trails: tempfile::TempDir,
}

impl Setting {
    fn new(site: Site, serve: Vec<String>) -> Self {
        Self { site, serve, trails: tempfile::tempdir().unwrap() }
    }

    fn audit(&self, way: Way) -> PathBuf {
        self.trails.path().join(format!("{way:?}"))
    }

    fn command(&self, way: Way, more: &[&str]) -> Command {
        let mut command = self.site.binary();
        let audit = self.audit(way);
        command.arg("serve").args(&self.serve).args(more).arg("--audit").arg(audit);
        command
    }

    async fn get(&self, way: Way, door: &Door, tool: &str, arguments: &Value) -> Got {
        if way == Way::Rest {
            let mut rest = Rest::at(door, None).await;
            return of_rest(&rest.execute(tool, &json!({ "params": arguments })).await.1);
        }
        let mut call = self.site.binary();
        call.args(["call", "--json", "--no-check"]);
        let endpoint = match way {
            Way::Sse => door.endpoint.replace("/mcp", "/sse"),
            _ => door.endpoint.clone(),
        };
        match way {
            Way::Legacy | Way::Sse => drop(call.args(["--era", "legacy"])),
            _ => drop(call.args(["--era", "modern"])),
        }
        if way == Way::Stdio {
            let serve = self.command(way, &["--stdio"]);
            call.args([tool, &arguments.to_string(), "--"]).arg(serve.get_program()).args(serve.get_args());
        } else {
            call.args([&endpoint, tool, &arguments.to_string()]);
        }
        let Output { stdout, stderr, .. } = call.stdin(Stdio::null()).output().unwrap();
        of_mcp(&String::from_utf8(stdout).unwrap(), &String::from_utf8(stderr).unwrap())
    }

    /// The records of tool calls of one way, without members that differ from call to call.
    fn records(&self, way: Way) -> Vec<Value> {
        let mut records = Vec::new();
        let mut folders = vec![self.audit(way)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let text = fs::read_to_string(&path).unwrap_or_default();
                    records.extend(text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()));
                }
            }
        }
        records.retain(|record| record["method"] == "tools/call");
        let mut records: Vec<Value> = records.iter().map(comparable).collect();
        records.sort_by_key(Value::to_string);
        records
    }
}

fn comparable(record: &Value) -> Value {
    let members: Map<String, Value> = record.as_object().unwrap().clone();
    members.into_iter().filter(|(name, _)| !OWN.contains(&name.as_str())).collect()
}

fn of_rest(body: &Value) -> Got {
    if body["success"] == true {
        return Got::Result(plain(&body["result"]));
    }
    match body["error"]["details"].get("result") {
        Some(result) => Got::Failed(plain(result)),
        None => Got::Denied(body["error"]["details"]["errorCode"].as_str().unwrap_or_default().to_owned()),
    }
}

fn of_mcp(stdout: &str, stderr: &str) -> Got {
    match serde_json::from_str::<Value>(stdout) {
        Ok(result) if result.get("content").is_some() => {
            if result["isError"] == true {
                Got::Failed(plain(&result))
            } else {
                Got::Result(plain(&result))
            }
        }
        _ => {
            let text = format!("{stdout}{stderr}");
            let code = text.find("E2").map(|at| text[at..at + 4].to_owned());
            Got::Denied(code.unwrap_or(text))
        }
    }
}

/// The content of a result, which every revision has in the same form.
fn plain(result: &Value) -> Value {
    json!({"content": result["content"], "structuredContent": result["structuredContent"]})
}

async fn same_by_every_way(setting: &Setting) {
    let mut doors = Vec::new();
    for way in WAYS.into_iter().filter(|way| *way != Way::Stdio) {
        let mut command = setting.command(way, &["--json", "--listen", "127.0.0.1:0"]);
        doors.push((way, Door::start(&mut command)));
    }
    let listed = body_of(&Rest::at(&doors[0].1, None).await.get("/mcp/tools").await);
    let listed: Vec<String> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(!listed.is_empty());
    for (tool, arguments) in calls(&listed, setting.site.folder.path()) {
        let door =
            |way: Way| doors.iter().find(|(known, _)| *known == way).map_or(&doors[0].1, |(_, door)| door);
        let over_rest = setting.get(Way::Rest, door(Way::Rest), &tool, &arguments).await;
        for way in &WAYS[1..] {
            let got = setting.get(*way, door(*way), &tool, &arguments).await;
            assert_eq!(got, over_rest, "{tool} {arguments} over {way:?}");
        }
    }
    for (_, door) in &mut doors {
        door.stop().await;
    }
    let over_rest = setting.records(Way::Rest);
    assert!(over_rest.len() > 2 * listed.len(), "{over_rest:#?}");
    for way in &WAYS[1..] {
        assert_eq!(setting.records(*way), over_rest, "audit records over {way:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_all_built_in_tools_answer_the_same_by_every_way_in() {
    let site = Site::new("parity");
    let folder = site.folder.path();
    fs::write(folder.join("hello.txt"), "hello\n").unwrap();
    for words in [
        &["init", "-q", "-b", "main"][..],
        &["add", "hello.txt"],
        &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "one"],
    ] {
        assert!(Command::new("git").args(words).current_dir(folder).status().unwrap().success());
    }
    site.write(".gitignore", "*\n");
    let serve = vec!["--root".to_owned(), folder.display().to_string()];
    same_by_every_way(&Setting::new(site, serve)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_a_real_upstream_answers_the_same_by_every_way_in() {
    let site = Site::new("parity-real");
    let program = installed("npm/node_modules/.bin/mcp-server-everything").display().to_string();
    let mut everything = site.local("everything", &[program, "stdio".to_owned()]);
    everything["allow"] = json!(["echo", "get-sum", "get-tiny-image", "get-annotated-message"]);
    site.configure(&json!({"mcp": {"servers": {"everything": everything}}, "audit": {"enabled": true}}));
    let serve = vec!["--config".to_owned(), site.path("trunkline.json").display().to_string()];
    same_by_every_way(&Setting::new(site, serve)).await;
}
