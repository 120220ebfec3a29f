//! Ten servers that were not written here, and one door: used by clients that were not written here either, and killed.

use crate::{
    caller::{Caller, MODERN},
    cell::{Carrier, Cell, Client},
    door::Door,
    processes,
    site::{HANG, Site},
    visit::{Errand, NAME, Report, SAMPLE, visit},
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{
    env, fs,
    io::{Read, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};
use trunkline_protocol::Era;

/// Where the peers are, when they are not where `cargo xtask peers` puts them.
const PEERS: &str = "TRUNKLINE_PEERS";
/// Descriptors more or less that say nothing: connections that are being closed, clocks.
const SLACK: usize = 2;
const PAGE: &str = "a page for whoever fetches it";

/// A server: its name, how it is configured, and a call by public name that it answers.
struct Real {
    name: &'static str,
    entry: Value,
    call: (&'static str, Value),
    /// What the answer holds.
    says: &'static str,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u01_ten_real_servers_are_used_by_three_sdks_and_killed_in_turn() {
    let site = Site::new("ten");
    let servers = servers(&site);
    configure(&site, &servers);
    let mut door = site.open();
    let began = Instant::now();
    let mut caller = Caller::open(&door, None, MODERN).await;
    for real in &servers {
        let said = caller.insist(real.call.0, real.call.1.clone()).await;
        assert!(said.contains(real.says), "{}: {said}", real.name);
    }
    println!("ten servers answered {:?} after the door opened", began.elapsed());
    let began = Instant::now();
    for cell in
        [(Client::TypeScript2, Era::Modern), (Client::Python, Era::Legacy), (Client::Rmcp, Era::Modern)]
    {
        let cell = Cell { client: cell.0, carrier: Carrier::Http, era: cell.1 };
        let reports = visit(cell, &errands(&door, &servers)).await;
        assert!(reports.iter().all(|report| report.revision == cell.revision().as_str()), "{reports:#?}");
        everything_was_there(&reports[0], &servers);
        part_was_there(&reports[1], &reports[2]);
    }
    println!("three clients took {:?}", began.elapsed());
    // Sessions of the clients that left end with the first round; the second must leave all as it was.
    let first = kill_each(&site, &servers, &mut caller).await;
    let before = processes::descriptors(door.pid());
    let slowest = kill_each(&site, &servers, &mut caller).await.max(first);
    let after = processes::descriptors(door.pid());
    println!(
        "descriptors: {before} after one round of kills, {after} after two; the slowest server was back after {slowest:?}"
    );
    assert!(after <= before + SLACK, "{before} descriptors became {after}");
    door.stop().await;
    let left = site.emptied().await;
    println!("nothing was left {left:?} after the gateway");
}

/// Kills all processes of each server in turn while the others are called; tells the longest absence.
async fn kill_each(site: &Site, servers: &[Real], caller: &mut Caller) -> Duration {
    let mut slowest = Duration::ZERO;
    for victim in servers.iter().filter(|real| real.entry["command"].is_array()) {
        let pids = site.processes(victim.name);
        assert!(!pids.is_empty(), "{} has no process", victim.name);
        pids.iter().for_each(|pid| processes::signal(*pid, Signal::KILL));
        let killed = Instant::now();
        for other in servers.iter().filter(|other| other.name != victim.name) {
            let said = caller.said(other.call.0, other.call.1.clone()).await;
            assert!(said.contains(other.says), "{}: {said}", other.name);
        }
        caller.insist(victim.call.0, victim.call.1.clone()).await;
        let back = killed.elapsed();
        println!("{} was back after {back:?}", victim.name);
        slowest = slowest.max(back);
    }
    slowest
}

fn errands(door: &Door, servers: &[Real]) -> Vec<Errand> {
    let mut calls: Vec<_> = servers.iter().map(|real| real.call.clone()).collect();
    calls.push(("everything_trigger-elicitation-request", json!({})));
    calls.push(("everything_trigger-sampling-request", json!({"prompt": "speak", "maxTokens": 10})));
    let time = || ("get_current_time", json!({"timezone": "UTC"}));
    vec![
        Errand {
            target: vec![door.endpoint.clone()],
            calls,
            reads: vec!["demo://resource/dynamic/text/1"],
            prompts: vec![("everything_simple-prompt", json!({}))],
        },
        Errand {
            target: vec![format!("{}/server/time", door.endpoint)],
            calls: vec![time()],
            ..Errand::default()
        },
        Errand {
            target: vec![format!("{}/reading", door.endpoint)],
            calls: vec![time(), ("read_graph", json!({}))],
            ..Errand::default()
        },
    ]
}

fn everything_was_there(report: &Report, servers: &[Real]) {
    for (real, result) in servers.iter().zip(&report.results) {
        let start = format!("{}_", real.name);
        assert!(
            report.tools.iter().any(|tool| tool.starts_with(&start)),
            "{}: {:?}",
            real.name,
            report.tools
        );
        assert_ne!(result["isError"], true, "{}: {result:#}", real.name);
        assert!(result.to_string().contains(real.says), "{}: {result:#}", real.name);
    }
    let asked = &report.results[servers.len()..];
    assert!(asked[0].to_string().contains(NAME), "{:#}", asked[0]);
    assert!(asked[1].to_string().contains(SAMPLE), "{:#}", asked[1]);
    assert_eq!(report.asked.len(), 1, "{:?}", report.asked);
    assert!(report.read[0]["contents"][0]["text"].is_string(), "{:#}", report.read[0]);
    assert!(report.prompted[0]["messages"][0]["content"]["text"].is_string(), "{:#}", report.prompted[0]);
}

fn part_was_there(alone: &Report, view: &Report) {
    assert!(alone.results[0].to_string().contains("UTC"), "{alone:#?}");
    assert!(alone.tools.iter().all(|tool| tool.ends_with("_time")), "{alone:#?}");
    assert!(view.results.iter().all(|result| result["isError"] != true), "{view:#?}");
    assert!(
        view.tools.len() > alone.tools.len() && !view.tools.iter().any(|tool| tool == "echo"),
        "{view:#?}"
    );
}

fn configure(site: &Site, servers: &[Real]) {
    let entries: serde_json::Map<_, _> =
        servers.iter().map(|real| (real.name.to_owned(), real.entry.clone())).collect();
    site.configure(&json!({
        "mcp": {"servers": entries},
        "views": {"reading": {"servers": ["time", "memory"], "naming": "bare"}},
        // A machine that does other work, too, takes its time to start programs.
        "defaults": {"timeout": {"startup": "60s"}},
    }));
}

fn servers(site: &Site) -> Vec<Real> {
    let place = site.path("repository");
    fs::create_dir(&place).unwrap();
    fs::write(place.join("hello.txt"), "hello\n").unwrap();
    let git = Command::new("git").args(["init", "-q"]).current_dir(&place).status().unwrap();
    assert!(git.success());
    let place = place.display().to_string();
    let npm = |name: &str| installed(&format!("npm/node_modules/.bin/{name}"));
    let python = |name: &str| installed(&format!("python/bin/{name}"));
    let fastmcp = format!("{}/../testkit/peers/fastmcp_server.py", env!("CARGO_MANIFEST_DIR"));
    let local = |name: &'static str, words: Vec<String>, call: (&'static str, Value), says| Real {
        name,
        entry: site.local(name, &words),
        call,
        says,
    };
    // Nothing is kept between calls by these, so one process serves everybody.
    let shared = |mut real: Real| {
        real.entry["sessions"] = "shared".into();
        real
    };
    let thought =
        json!({"thought": "it is", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
    let mut memory =
        local("memory", vec![npm("mcp-server-memory")], ("memory_read_graph", json!({})), "entities");
    memory.entry["environment"]["MEMORY_FILE_PATH"] = site.path("memory.jsonl").display().to_string().into();
    let page = json!({"url": page_address()});
    let pack = json!({"pack": "filesystem", "root": place});
    let read = json!({"path": "hello.txt"});
    vec![
        local(
            "everything",
            vec![npm("mcp-server-everything"), "stdio".into()],
            ("everything_echo", json!({"message": "heard"})),
            "heard",
        ),
        shared(local(
            "filesystem",
            vec![npm("mcp-server-filesystem"), place.clone()],
            ("filesystem_list_directory", json!({"path": place})),
            "hello.txt",
        )),
        memory,
        shared(local(
            "thinking",
            vec![npm("mcp-server-sequential-thinking")],
            ("thinking_sequentialthinking", thought),
            "thoughtNumber",
        )),
        shared(local(
            "git",
            vec![python("mcp-server-git"), "-r".into(), place.clone()],
            ("git_git_status", json!({"repo_path": place})),
            "hello.txt",
        )),
        shared(local(
            "time",
            vec![python("mcp-server-time"), "--local-timezone".into(), "UTC".into()],
            ("time_get_current_time", json!({"timezone": "UTC"})),
            "UTC",
        )),
        shared(local(
            "fetch",
            vec![python("mcp-server-fetch"), "--ignore-robots-txt".into(), "--allow-private-ips".into()],
            ("fetch_fetch", page),
            PAGE,
        )),
        local(
            "fastmcp",
            vec![python("python"), fastmcp],
            ("fastmcp_echo", json!({"text": "by fastmcp"})),
            "by fastmcp",
        ),
        local("rmcp", vec![rmcp_server()], ("rmcp_echo", json!({"text": "by rmcp"})), "by rmcp"),
        Real { name: "own", entry: pack, call: ("own_read_file", read), says: "hello" },
    ]
}

/// Serves one page for as long as the test runs.
fn page_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/page.txt", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut asked = [0; 4096];
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{PAGE}",
                PAGE.len()
            );
            // Whoever asked may be gone.
            if stream.set_read_timeout(Some(HANG)).and_then(|()| stream.read(&mut asked)).is_ok() {
                stream.write_all(answer.as_bytes()).ok();
            }
        }
    });
    address
}

/// Beside the tests' own programs; another package makes it.
pub(crate) fn rmcp_server() -> String {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_trunkline")).with_file_name("rmcp-server");
    assert!(program.exists(), "rmcp-server is not built; run cargo build -p trunkline-testkit --bins");
    program.display().to_string()
}

fn installed(path: &str) -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test is started by the build, which says so in the environment"
    )]
    let given = env::var_os(PEERS).map(PathBuf::from);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = || here.ancestors().map(|dir| dir.join("target/peers")).find(|dir| dir.is_dir());
    let place = given.or_else(found).map(|peers| peers.join(path)).filter(|place| place.exists());
    place.unwrap_or_else(|| panic!("`{path}` is not installed; run cargo xtask peers")).display().to_string()
}
