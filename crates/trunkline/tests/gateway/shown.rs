//! Facts that `trunkline status`, its page and the log tell about servers.

use crate::{
    caller::{Caller, MODERN},
    door::Door,
    site::{Site, until},
    upstream::upstream,
};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    time::{Duration, Instant},
};

/// The exit status and the output of `trunkline status`.
fn shown(site: &Site, door: &Door) -> (Option<i32>, String) {
    let output = site.binary().args(["status", &door.endpoint]).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// The words of the line that begins with this server's name.
fn row(table: &str, server: &str) -> Vec<String> {
    let line = table.lines().find(|line| line.split_whitespace().next() == Some(server));
    let line = line.unwrap_or_else(|| panic!("no row `{server}`:\n{table}"));
    line.split_whitespace().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_server_shows_the_tools_that_are_known() {
    let site = Site::of("idle", |site| json!({"one": site.echo("one", "modern")}));
    let mut door = site.open();
    let (code, table) = shown(&site, &door);
    let words = row(&table, "one");
    assert_eq!((code, &*words[1], &*words[4]), (Some(0), "idle", "-"), "{table}");
    let tools = Caller::open(&door, None, MODERN).await.tools().await.len();
    let kept = || fs::read_dir(site.path(".cache/trunkline/lists")).map_or(0, Iterator::count);
    until(|| kept() == 1, || "no lists were kept".to_owned()).await;
    door.stop().await;
    let mut door = site.open();
    let (code, table) = shown(&site, &door);
    let words = row(&table, "one");
    assert_eq!((code, &*words[1]), (Some(0), "idle"), "{table}");
    assert_eq!(words[4..6], [tools.to_string(), "(old)".to_owned()], "{table}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_program_is_a_problem_before_the_first_call() {
    let site = Site::of("missing", |site| {
        let words = |word: &str| vec![word.to_owned()];
        json!({
            "absent": site.local("absent", &words("no-such-program-anywhere")),
            "lost": site.local("lost", &words("/nowhere/no-such-program")),
            "good": site.echo("good", "modern"),
        })
    });
    let mut door = site.open();
    let failed = |status: &Value, name: &str| upstream(status, name)["state"] == "failed";
    door.until(|status| failed(status, "absent") && failed(status, "lost")).await;
    let (code, table) = shown(&site, &door);
    assert_eq!(code, Some(1), "{table}");
    assert_eq!(row(&table, "absent")[1], "failed", "{table}");
    assert_eq!(row(&table, "good")[1], "idle", "{table}");
    assert!(table.contains("absent: [E219]"), "{table}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_exits_at_its_start_shows_that_it_was_started_again() {
    let site = Site::of("again", |site| {
        let mut server = site.local("crashing", &["false".to_owned()]);
        server["start"] = "eager".into();
        server["restart"] = json!({"first": "1ms", "most": "10ms"});
        json!({ "crashing": server })
    });
    let mut door = site.open();
    door.until(|status| upstream(status, "crashing")["restarts"].as_u64() >= Some(3)).await;
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c09_the_status_says_how_processes_and_files_are_restricted() {
    let site = Site::of("means", |site| json!({"one": site.echo("one", "modern")}));
    let mut door = site.open();
    let gateway = door.status().await["gateway"].clone();
    let (_, table) = shown(&site, &door);
    let processes = gateway["processes"].as_str().unwrap();
    assert!(table.contains(&format!("processes of servers and jobs: {processes}\n")), "{table}");
    // The claim must be true: a descendant in a session of its own ends with its server.
    let mut caller = Caller::open(&door, None, MODERN).await;
    let child: i32 = caller.insist("one_spawn", json!({})).await.parse().unwrap();
    assert_eq!(processes.starts_with("supervised"), is_below_supervisor(child), "{processes}");
    let landlock = gateway["landlock"].as_str().unwrap();
    assert!(table.contains(&format!("(Landlock): {landlock}\n")), "{table}");
    let active = fs::read_to_string("/sys/kernel/security/lsm");
    if let Ok(active) = active {
        assert_eq!(active.contains("landlock"), !landlock.starts_with("not available"), "{landlock}");
    } else {
        println!("the active security modules cannot be read here; told: {landlock}");
    }
    door.stop().await;
    site.emptied().await;
}

/// True if one of the ancestors of the process is our supervisor.
fn is_below_supervisor(pid: i32) -> bool {
    let parent = |pid: i32| -> Option<i32> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
    };
    std::iter::successors(Some(pid), |pid| parent(*pid)).any(crate::processes::is_supervisor)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_line_about_a_servers_output_names_the_server() {
    let site = Site::of("noisy", |site| {
        let mut noisy = site.echo("noisy", "modern");
        let command = noisy["command"].as_array_mut().unwrap();
        command.splice(0..0, ["sh", "-c", "echo hello, I am a banner; exec \"$@\"", "sh"].map(Value::from));
        json!({"noisy": noisy, "quiet": site.echo("quiet", "modern")})
    });
    let mut command = site.binary();
    command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"]);
    let log = File::create(site.path("log")).unwrap();
    let mut door = Door::start_with_errors(command.arg(site.path("trunkline.json")), log.into());
    Caller::open(&door, None, MODERN).await.insist("noisy_echo", json!({"text": "there"})).await;
    door.stop().await;
    let log = fs::read_to_string(site.path("log")).unwrap();
    let line = log.lines().find(|line| line.contains("such lines are skipped"));
    let line = line.unwrap_or_else(|| panic!("not logged: {log}"));
    assert!(line.contains("name=noisy") && line.starts_with(" WARN"), "{line}");
}

/// Far beyond the time that a healthy server takes to start.
const GRACE: Duration = Duration::from_mins(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_list_waits_for_no_server_that_has_failed_already() {
    let site = Site::new("failed");
    let servers = json!({
        "good": site.echo("good", "modern"),
        "dead": site.local("dead", &["false".to_owned()]),
        "absent": site.local("absent", &["/nowhere/no-such-program".to_owned()]),
    });
    let grace = json!({"listGrace": format!("{}s", GRACE.as_secs())});
    site.configure(&json!({"mcp": {"servers": servers}, "limits": grace}));
    let mut door = site.open();
    let began = Instant::now();
    let list = Caller::open(&door, None, MODERN).await.request("tools/list", json!({})).await;
    let took = began.elapsed();
    assert!(took < GRACE / 2, "the list took {took:?}");
    assert_eq!(list["result"]["_meta"]["trunkline/missing"], json!(["absent", "dead"]), "{list:#}");
    let tools = list["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "good_echo"), "{list:#}");
    door.stop().await;
}
