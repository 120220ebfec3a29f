//! A configuration with mistakes: a broken entry hurts no other, and each mistake is told with its
//! place and advice that works.

#[path = "support/home.rs"]
mod home;
#[expect(dead_code, reason = "only a part of the shared support is used here")]
mod support;

use home::Home;
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Child, Stdio},
};
use support::{server, trunkline};

/// The user's file: a healthy server and two whose references cannot be resolved.
fn broken(home: &Home) {
    let servers = json!({
        "healthy": {"command": server()},
        "tokenless": {"command": ["x"], "environment": {"T": "{env:NOT_SET_A}", "U": "${NOT_SET_B}"}},
        "fileless": {"url": "https://h.example/mcp", "headers": {"X": "{file:~/none}"}},
    });
    home.write(".config/trunkline/trunkline.json", &json!({"mcp": {"servers": servers}}).to_string());
}

/// A gateway on a free port, killed at the end of the test.
struct Gateway {
    process: Child,
    address: String,
}

impl Gateway {
    /// Starts it and returns the first line of its output.
    fn start(home: &Home, args: &[&str]) -> (Self, Value) {
        let mut command = trunkline(&[]);
        command.args(["serve", "--json", "--no-audit"]).args(args).env("HOME", home.0.path());
        command.current_dir(home.path("project")).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("it starts");
        let mut line = String::new();
        let output = process.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("it prints its address");
        let facts: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let address = facts["endpoint"].as_str().expect("a text").trim_end_matches("/mcp").to_owned();
        (Self { process, address }, facts)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.process.kill().unwrap_or_default();
        self.process.wait().ok();
    }
}

#[test]
fn one_unset_variable_disables_only_its_server() {
    let home = Home::new();
    broken(&home);
    let list = home.run(&["list", "healthy", "tools"], &[]);
    assert!(list.code == 0 && list.stdout.contains("echo"), "{list}");
    let call = home.run(&["call", "tokenless", "echo"], &[]);
    assert_eq!(call.code, 2, "{call}");
    for name in ["`tokenless`", "`NOT_SET_A`", "`NOT_SET_B`"] {
        assert!(call.stderr.contains(name), "{name}: {call}");
    }
    let call = home.run(&["call", "fileless", "echo"], &[]);
    assert!(call.code == 2 && call.stderr.contains("~/none cannot be read"), "{call}");
    let check = home.run(&["config", "check"], &[]);
    assert!(check.code == 0 && check.stdout.contains("so the server `tokenless` is not used"), "{check}");
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let mut command = trunkline(&[]);
    command.args(["serve", "--stdio", "--no-audit"]).env("HOME", home.0.path());
    let stdio = support::Run::of(command.current_dir(home.path("project")), &format!("{hello}\n"));
    assert!(stdio.code == 0 && stdio.stdout.contains("\"serverInfo\""), "{stdio}");
}

#[test]
fn a_gateway_with_a_broken_entry_serves_the_others_and_tells() {
    let home = Home::new();
    broken(&home);
    let (gateway, facts) = Gateway::start(&home, &["--listen", "127.0.0.1:0"]);
    assert_eq!(facts["servers"], json!(["healthy"]), "{facts}");
    assert_eq!(
        facts["unusable"]["tokenless"],
        "the environment variable `NOT_SET_A` is not set; the environment variable `NOT_SET_B` is not set"
    );
    let list = home.run(&["list", &format!("{}/mcp", gateway.address), "tools"], &[]);
    assert!(list.code == 0 && list.stdout.contains("healthy_echo"), "{list}");
    let status = home.run(&["status", &gateway.address], &[]);
    assert_eq!(status.code, 1, "not all servers are available: {status}");
    assert!(
        status.stdout.contains("tokenless") && status.stdout.contains("`NOT_SET_A` is not set"),
        "{status}"
    );
    let json = home.run(&["status", &gateway.address, "--json"], &[]);
    let page: Value = serde_json::from_str(&json.stdout).expect("it is JSON");
    let upstreams = page["upstreams"].as_array().expect("a list");
    let fileless = upstreams.iter().find(|one| one["name"] == "fileless").expect("it is listed");
    assert_eq!(fileless["state"], "failed", "{fileless}");
    assert!(
        fileless["lastError"]["text"].as_str().is_some_and(|text| text.contains("none cannot be read")),
        "{fileless}"
    );
    assert!(status.stdout.contains("`trunkline doctor tokenless` says more"), "{status}");
    reports(&home, &gateway.address);
    let alone = home.run(&["list", &format!("{}/mcp/server/tokenless", gateway.address)], &[]);
    assert_ne!(alone.code, 0, "{alone}");
}

/// Commands name the cause, and where more is said.
fn reports(home: &Home, address: &str) {
    let endpoint = format!("{address}/mcp");
    let call = home.run(&["call", &endpoint, "tokenless_echo"], &[]);
    assert!(call.stderr.contains("`tokenless` is not available"), "{call}");
    assert!(call.stderr.contains(&format!("hint: `trunkline status {address}` says why")), "{call}");
    assert!(!call.stderr.contains("check the name"), "{call}");
    let list = home.run(&["list", &endpoint, "tools"], &[]);
    assert!(list.stderr.contains(&format!("`trunkline status {address}` says why")), "{list}");
    let call = home.run(&["call", "--no-check", &endpoint, "tokenless_echo"], &[]);
    assert!(call.stderr.contains("error[E219]: A reference in its configuration cannot be"), "{call}");
    assert!(call.stderr.contains("hint: `trunkline config check` names it"), "{call}");
    let explained = home.run(&["explain", "--url", address, "tokenless_echo"], &[]);
    for part in ["a reference in its configuration", "`NOT_SET_A`", "`trunkline doctor tokenless` says more"]
    {
        assert!(explained.stdout.contains(part), "{part}: {explained}");
    }
    let explained = home.run(&["explain", "--url", address, "healthy_echo", "text=a"], &[]);
    assert!(explained.stdout.contains("consent       not needed"), "{explained}");
    let explained = home.run(&["explain", "--url", address, "nonsense", "--as", "ghost"], &[]);
    for part in
        ["?       configuration", "`<server>_<tool>`", "STOPS   identity", "-       filter        not"]
    {
        assert!(explained.stdout.contains(part), "{part}: {explained}");
    }
    let none = home.run(&["executions", "list", "--url", address], &[]);
    assert!(none.code == 0 && none.stdout.is_empty() && none.stderr.contains("no executions"), "{none}");
    let unknown = home.run(&["executions", "show", "abc", "--url", address], &[]);
    assert!(unknown.stderr.contains("`trunkline executions list` shows yours"), "{unknown}");
}

#[test]
fn a_gateway_that_does_not_run_is_named() {
    let home = Home::new();
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address");
    let address = format!("http://{free}");
    for words in [vec!["status", &address], vec!["executions", "list", "--url", &address]] {
        let run = home.run(&words, &[]);
        let text = format!("no gateway runs at {address}; start `trunkline serve`, or give its address");
        assert!(run.code == 3 && run.stderr.contains(&text), "{run}");
    }
}

#[test]
fn the_banner_names_unusable_servers() {
    let home = Home::new();
    broken(&home);
    let mut command = trunkline(&[]);
    command.args(["serve", "--no-audit", "--listen", "127.0.0.1:0"]).env("HOME", home.0.path());
    command.current_dir(home.path("project")).stdin(Stdio::null()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("it starts");
    let mut banner = String::new();
    for line in BufReader::new(process.stderr.take().expect("it is piped")).lines().map_while(Result::ok) {
        banner.push_str(&line);
        banner.push('\n');
        if line.starts_with("Ctrl-C") {
            break;
        }
    }
    process.kill().expect("it runs");
    process.wait().expect("it ends");
    assert!(banner.contains("Trunkline serves healthy ("), "{banner}");
    assert!(
        banner.contains("not served   tokenless: the environment variable `NOT_SET_A` is not set"),
        "{banner}"
    );
}

#[test]
fn the_log_does_not_repeat_what_the_banner_says() {
    let home = Home::new();
    broken(&home);
    let log = home.path("log");
    let mut command = trunkline(&[]);
    command.args(["serve", "--json", "--no-audit", "--listen", "127.0.0.1:0"]).env("HOME", home.0.path());
    command.current_dir(home.path("project")).stderr(fs::File::create(&log).expect("it can be written"));
    let mut process = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    let output = process.stdout.take().expect("it is piped");
    BufReader::new(output).read_line(&mut line).expect("it prints its address");
    let facts: Value = serde_json::from_str(&line).expect("it is JSON");
    let address = facts["endpoint"].as_str().expect("a text").trim_end_matches("/mcp");
    // By then the gateway has found both of them unusable.
    let status = home.run(&["status", address], &[]);
    process.kill().expect("it runs");
    process.wait().expect("it ends");
    assert!(status.stdout.contains("tokenless"), "{status}");
    let log = fs::read_to_string(log).expect("it was written");
    assert!(log.contains("so the server `tokenless` is not used"), "{log}");
    assert!(!log.lines().any(|line| line.contains("WARN") && line.contains("NOT_SET_A")), "{log}");
}

#[test]
fn a_call_waits_for_the_server_that_is_starting() {
    let home = Home::new();
    let ready = home.path("ready");
    let server = server().iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let script = format!("until [ -e '{}' ]; do sleep 0.05; done; exec {server}", ready.display());
    let servers = json!({"slow": {"command": ["sh", "-c", script]}});
    home.write(".config/trunkline/trunkline.json", &json!({"mcp": {"servers": servers}}).to_string());
    let (gateway, _) = Gateway::start(&home, &["--listen", "127.0.0.1:0"]);
    let mut call = trunkline(&[]);
    call.args(["call", "--trace", &format!("{}/mcp", gateway.address), "slow_echo", "message=hi"]);
    call.env("HOME", home.0.path()).current_dir(home.path("project"));
    let mut call = call.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let trace = BufReader::new(call.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    let mut seen = String::new();
    for line in trace {
        // The first list has come without the server.
        if line.contains("trunkline/missing") && !ready.exists() {
            home.write("ready", "");
        }
        seen.push_str(&line);
        seen.push('\n');
    }
    let output = call.wait_with_output().expect("it ends");
    assert!(ready.exists(), "{seen}");
    assert!(output.status.success(), "{seen}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "hi", "{seen}");
}

#[test]
fn doctor_says_what_to_do_about_an_unset_variable() {
    let home = Home::new();
    broken(&home);
    let run = home.run(&["doctor", "tokenless"], &[]);
    assert!(run.code == 3 && run.stdout.contains("set it where the gateway and the client"), "{run}");
}

#[test]
fn a_reference_in_security_settings_stays_fatal() {
    let home = Home::new();
    home.write(".config/trunkline/trunkline.json", r#"{"auth": {"keys": "{env:NOT_SET_A}"}}"#);
    let run = home.run(&["serve", "--listen", "127.0.0.1:0"], &[]);
    assert!(run.code == 2 && run.stderr.contains("error[unset-variable]"), "{run}");
}

#[test]
fn what_a_reference_stands_for_is_never_shown() {
    let home = Home::new();
    home.write(
        ".config/trunkline/trunkline.json",
        r#"{"listen": "127.0.0.1:${PORT}", "mcp": {"servers": {
          "a": {"command": ["{env:BIN}", "{env:DSN}"], "environment": {"D": "${DSN}"}, "cwd": "{env:DIR}"},
          "b": {"url": "{env:ADDRESS}/mcp"}}}}"#,
    );
    let values = [
        ("PORT", "4999"),
        ("BIN", "v1-program"),
        ("DSN", "v2-dsn"),
        ("DIR", "/v3-directory"),
        ("ADDRESS", "https://v4-address.example"),
    ];
    for args in [&["config", "show"][..], &["config", "show", "--json"], &["config", "show", "--all"]] {
        let run = home.run(args, &values);
        assert_eq!(run.code, 0, "{run}");
        for (name, value) in values {
            assert!(!run.stdout.contains(value), "{value}: {run}");
            assert!(run.stdout.contains(&format!("{{env:{name}}}")), "{name}: {run}");
        }
    }
    for target in ["a", "b"] {
        let run = home.run(&["list", target, "--connect-timeout", "1ms"], &values);
        assert_ne!(run.code, 0, "{run}");
        for value in ["v1-program", "v2-dsn"] {
            assert!(!run.stdout.contains(value) && !run.stderr.contains(value), "{value}: {run}");
        }
    }
    let words = ["list", "--connect-timeout", "50ms", "--", "sleep", "{env:DSN}0"];
    let run = home.run(&words, &[("DSN", "4321")]);
    assert!(run.code != 0 && run.stderr.contains("sleep {env:DSN}0"), "{run}");
    assert!(!run.stderr.contains("4321"), "{run}");
}

#[test]
fn mistakes_are_told_where_they_are_and_how_to_mend_them() {
    let home = Home::new();
    let check = |text: &str| {
        home.write("project/some.json", text);
        home.run(&["config", "check", "some.json"], &[])
    };
    let run = check(r#"{"mcp": {"servers": {"a": {"command": "npx -y x"}}}}"#);
    assert!(run.code == 2 && run.stdout.contains(r#"= help: write ["npx", "-y", "x"]"#), "{run}");
    let run = check("{\"mcp\": {\"servers\": {\n  \"a\": {\"command\": [\"x\", \"{evn:FOO}\"]}}}}");
    assert!(run.stdout.contains("`{evn:FOO}` is not a reference"), "{run}");
    assert!(
        run.stdout.contains("some.json:2:26") && run.stdout.contains("did you mean `{env:FOO}`?"),
        "{run}"
    );
    let run =
        check(r#"{"mcp": {"servers": {"a": {"url": "https://h/", "headers": {"X": "Bearer ${env:FOO}"}}}}}"#);
    assert!(run.stdout.contains("`${env:FOO}` is not a reference"), "{run}");
    let run = check("{\"mcp\": {\"servers\": {\n  \"a\": {}}}}");
    assert!(run.code == 2 && run.stdout.contains("some.json:2:8"), "{run}");
    let run = check(r#"{"mcp": {"servers": {"a": {"url": "https://h/", "oauth": {"clientId": "x"}}}}}"#);
    assert!(run.code == 0 && run.stdout.contains("no problems, 1 server"), "{run}");
    let run = check(
        r#"{"mcp": {"servers": {"a": {"url": "https://h/", "oauth": {"grant": "clientCredentials"}}}}}"#,
    );
    assert!(run.code == 2 && run.stdout.contains("needs `clientId`"), "{run}");
    let run = check(r#"{"mcp": {"servers": {"a": {"url": "https://h/", "oauth": false}}}}"#);
    assert!(run.code == 0 && run.stdout.contains("no problems, 1 server"), "{run}");
}

#[test]
fn check_of_a_named_file_is_about_that_file() {
    let home = Home::new();
    home.write(
        ".config/trunkline/trunkline.json",
        r#"{"nonsense": 1, "mcp": {"servers": {"mine": {"command": ["m"]}}}}"#,
    );
    home.write(
        "project/some.json",
        r#"{"mcp": {"servers": {"mine": {"enabled": false}, "a": {"command": ["x"]}}}}"#,
    );
    let run = home.run(&["config", "check", "some.json"], &[]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "~/project/some.json: no problems, 1 server\n"));
    assert_eq!(home.run(&["config", "check"], &[]).code, 2);
}

#[test]
fn import_names_every_missing_variable_and_its_advice_works() {
    let home = Home::new();
    home.write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {
          "api": {"url": "https://h.example/mcp", "headers": {"Authorization": "Bearer abcdefgh12345678"}},
          "db": {"command": "x", "args": ["--token=abcdefgh99", "${env:DB_HOST}", "${env:HOME}"]}}}"#,
    );
    let run = home.run(&["config", "import", "--write"], &[]);
    assert!(
        run.stdout.contains("set `API_TOKEN` to what stands in `headers.Authorization` after `Bearer `"),
        "{run}"
    );
    // The keys are those of the client's file, not ours.
    assert!(run.stdout.contains("set `DB_TOKEN` to what stands in `args[0]` after `--token=`"), "{run}");
    let last = run.stdout.lines().last().expect("it prints something");
    assert_eq!(
        last,
        "servers stay disabled until these variables are set: API_TOKEN (api), DB_HOST (db), DB_TOKEN (db)"
    );
    let set = [("API_TOKEN", "abcdefgh12345678"), ("DB_HOST", "h"), ("DB_TOKEN", "abcdefgh99")];
    let check = home.run(&["config", "check"], &set);
    assert_eq!(check.stdout, "~/.config/trunkline/trunkline.json: no problems, 2 servers\n");
    fs::remove_file(home.path(".config/trunkline/trunkline.json")).expect("it was written");
    let run = home.run(&["config", "import"], &[]);
    assert!(
        run.stdout
            .ends_with("with --move-secrets, the secrets of the clients' files are kept in files instead\n"),
        "{run}"
    );
    let run = home.run(&["config", "import", "--write", "--move-secrets"], &[("DB_HOST", "h")]);
    assert!(!run.stdout.contains("stay disabled"), "{run}");
    let check = home.run(&["config", "check"], &[("DB_HOST", "h")]);
    assert_eq!(check.stdout, "~/.config/trunkline/trunkline.json: no problems, 2 servers\n");
}

#[test]
fn addresses_to_listen_on_can_be_short() {
    let home = Home::new();
    for given in ["0", ":0", "localhost:0", "127.0.0.1:0"] {
        let (gateway, _) = Gateway::start(&home, &["--listen", given]);
        assert!(gateway.address.starts_with("http://127.0.0.1:"), "{given}: {}", gateway.address);
    }
    for given in [json!(0), json!("0"), json!(":0"), json!("localhost:0")] {
        home.write(".config/trunkline/trunkline.json", &json!({"listen": given}).to_string());
        let (gateway, _) = Gateway::start(&home, &[]);
        assert!(gateway.address.starts_with("http://127.0.0.1:"), "{given}: {}", gateway.address);
    }
    let run = home.run(&["serve", "--listen", "somewhere"], &[]);
    assert!(run.code == 2 && run.stderr.contains("`9001`"), "{run}");
}

#[test]
fn a_taken_port_is_an_error_that_says_what_to_do() {
    let home = Home::new();
    // If it is taken already, that serves as well.
    let _held = TcpListener::bind("127.0.0.1:8425");
    let run = home.run(&["serve", "--no-audit"], &[]);
    assert_eq!(run.code, 2, "{run}");
    for part in ["port 8425", "in use", "trunkline status", "--listen"] {
        assert!(run.stderr.contains(part), "{part}: {run}");
    }
}

#[test]
fn the_banner_for_all_addresses_suggests_one_that_is_accepted() {
    let home = Home::new();
    home.write("keys.json", r#"{"keys": [{"id": "a", "sha256": "5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02"}]}"#);
    let (gateway, _) =
        Gateway::start(&home, &["--listen", "0.0.0.0:0", "--insecure-http", "--keys", "../keys.json"]);
    assert!(gateway.address.starts_with("http://127.0.0.1:"), "{}", gateway.address);
    let run = home.run(&["status", &gateway.address, "--key", "wrong"], &[]);
    assert_eq!(run.code, 2, "the host is accepted and the key is not: {run}");
    let mut command = trunkline(&[]);
    command.args([
        "serve",
        "--no-audit",
        "--listen",
        "0.0.0.0:0",
        "--insecure-http",
        "--keys",
        "../keys.json",
    ]);
    command.env("HOME", home.0.path()).current_dir(home.path("project")).stderr(Stdio::piped());
    let mut process = command.spawn().expect("it starts");
    let lines = BufReader::new(process.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    let banner: String = lines.take_while(|line| !line.starts_with("Ctrl-C")).collect();
    process.kill().expect("it runs");
    process.wait().expect("it ends");
    assert!(!banner.contains("0.0.0.0") && banner.contains("--host NAME"), "{banner}");
}

#[test]
fn servers_that_wait_for_approval_are_listed_and_an_approval_is_heard() {
    let home = Home::new();
    home.write(
        "project/trunkline.json",
        &json!({"mcp": {"servers": {"theirs": {"command": server()}}}}).to_string(),
    );
    let (gateway, _) = Gateway::start(&home, &["--listen", "0"]);
    let status = home.run(&["status", &gateway.address], &[]);
    assert!(
        status.stdout.contains("waits for `trunkline config approve`: ~/project/trunkline.json (theirs)"),
        "{status}"
    );
    assert_eq!(home.run(&["config", "approve", "--yes"], &[]).code, 0);
    let began = std::time::Instant::now();
    loop {
        let status = home.run(&["status", &gateway.address], &[]);
        if status.stdout.contains("restart `trunkline serve`") && !status.stdout.contains("waits for") {
            break;
        }
        assert!(began.elapsed().as_secs() < 60, "{status}");
    }
}
