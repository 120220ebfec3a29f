//! `auth login`, `status`, `logout`, and the use of logins by other commands.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(dead_code, reason = "only a part of the shared support is used here")]

mod support;

use bytes::Bytes;
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, Command, Stdio},
};
use support::{Run, trunkline};
use trunkline_oauth::bench::{Bench, BenchOptions, Failure};
use trunkline_transport::http::{HttpClient, HttpError, HttpOptions, RedirectError, Target};

struct Desk {
    home: tempfile::TempDir,
    bench: Bench,
    runtime: tokio::runtime::Runtime,
}

impl Desk {
    fn new(failures: &[Failure]) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let failures = failures.iter().copied().collect();
        let bench =
            runtime.block_on(Bench::start(BenchOptions { failures, ..BenchOptions::default() })).unwrap();
        Self { home: tempfile::tempdir().unwrap(), bench, runtime }
    }

    fn command(&self, args: &[&str]) -> Command {
        let home = self.home.path().to_string_lossy();
        let mut command = trunkline(&[("HOME", &home)]);
        command.args(args).current_dir(self.home.path());
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        Run::of(&mut self.command(args), "")
    }

    /// Follows the redirect of a page as a browser does, without fetching its target.
    fn redirect(&self, page: &str) -> String {
        self.runtime.block_on(async {
            let client = HttpClient::new(HttpOptions::default()).unwrap();
            let target = Target::parse(page).unwrap();
            match client.send(Method::GET, &target, HeaderMap::new(), Bytes::new()).await {
                Err(HttpError::Redirect(RedirectError::OtherOrigin { target })) => target,
                other => panic!("{other:?}"),
            }
        })
    }

    fn fetch(&self, address: &str) {
        self.runtime.block_on(async {
            let client = HttpClient::new(HttpOptions::default()).unwrap();
            let target = Target::parse(address).unwrap();
            client.send(Method::GET, &target, HeaderMap::new(), Bytes::new()).await.unwrap();
        });
    }

    /// Signs in by pasting the address that the browser ended at.
    fn login(&self, more: &[&str]) -> Run {
        let server = self.bench.server();
        let mut child = self
            .command(&[&["auth", "login", &server, "--headless"], more].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (page, mut told) = page_of(&mut child);
        if let Some(page) = page {
            let answer = self.redirect(&page);
            writeln!(child.stdin.as_mut().unwrap(), "{answer}").unwrap();
        }
        let mut run = Run::of_child(child);
        told.push_str(&run.stderr);
        run.stderr = told;
        run
    }

    /// Every token of the stored logins.
    fn secrets(&self) -> Vec<String> {
        let folder = self.home.path().join(".local/share/trunkline/logins");
        let mut secrets = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "json") {
                let login: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
                for pointer in ["/tokens/access", "/tokens/refresh"] {
                    secrets.push(login.pointer(pointer).unwrap().as_str().unwrap().to_owned());
                }
            }
        }
        secrets
    }
}

/// Reads standard error up to the page's address; `None` if the program says something else.
fn page_of(child: &mut Child) -> (Option<String>, String) {
    let mut told = String::new();
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap());
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).unwrap() == 0 {
            return (None, told);
        }
        told.push_str(&line);
        if line.trim_start().starts_with("http://") {
            return (Some(line.trim().to_owned()), told);
        }
    }
}

#[test]
fn a_login_without_a_browser_is_used_by_other_commands_until_the_logout() {
    let desk = Desk::new(&[]);
    let server = desk.bench.server();
    let refused = desk.run(&["call", &server, "whoami"]);
    assert!(refused.stderr.contains("trunkline auth login"), "{refused}");
    let login = desk.login(&[]);
    assert_eq!(login.code, 0, "{login}");
    assert!(login.stdout.contains("scopes    read\n"), "{login}");
    assert_eq!(desk.run(&["call", &server, "whoami"]).stdout, "tester\n");
    let status = desk.run(&["auth", "status", "--json"]);
    let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status[0]["issuer"], desk.bench.issuer());
    assert_eq!((&status[0]["signedIn"], &status[0]["renewable"]), (&true.into(), &true.into()));
    assert_eq!(desk.run(&["auth", "logout", &server]).stdout, "signed out; the tokens were revoked\n");
    assert_eq!(desk.run(&["call", &server, "whoami"]).code, 3);
    assert!(desk.run(&["auth", "status"]).stdout.contains("no logins"));
}

#[test]
fn more_scopes_are_asked_for_by_name() {
    let desk = Desk::new(&[]);
    let server = desk.bench.server();
    desk.login(&[]);
    let refused = desk.run(&["call", &server, "admin"]);
    assert!(refused.stderr.contains("--scope admin`"), "{refused}");
    let login = desk.login(&["--scope", "admin"]);
    assert!(login.stdout.contains("scopes    read admin\n"), "{login}");
    assert_eq!(desk.run(&["call", &server, "admin"]).stdout, "tester\n");
    // The first client was registered for `read` only; the second is used again.
    let registered = || desk.bench.log().iter().filter(|line| line.path == "/register").count();
    assert_eq!(registered(), 2);
    assert_eq!(desk.login(&[]).code, 0);
    assert_eq!(registered(), 2);
}

#[test]
fn o01_the_browser_gets_one_argument_and_no_shell() {
    let desk = Desk::new(&[]);
    let (browser, seen) = (desk.home.path().join("browser"), desk.home.path().join("seen"));
    let script =
        format!("#!/bin/sh\nprintf '%s\\n' \"$#\" \"$1\" > {0}.part; mv {0}.part {0}\n", seen.display());
    fs::write(&browser, script).unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o700)).unwrap();
    let mut child = desk
        .command(&["auth", "login", &desk.bench.server()])
        .env("BROWSER", &browser)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (page, _) = page_of(&mut child);
    let page = page.unwrap();
    let answer = desk.redirect(&page);
    desk.fetch(&answer);
    let run = Run::of_child(child);
    assert_eq!(run.code, 0, "{run}");
    while !seen.exists() {
        std::thread::yield_now();
    }
    assert_eq!(fs::read_to_string(&seen).unwrap(), format!("1\n{page}\n"));
}

#[test]
fn o08_processes_that_meet_an_expired_token_refresh_it_once() {
    let desk = Desk::new(&[]);
    let server = desk.bench.server();
    desk.login(&[]);
    desk.bench.expire_tokens();
    let calls: Vec<Child> = (0..6)
        .map(|_| {
            let mut command = desk.command(&["call", &server, "whoami"]);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for call in calls {
        let run = Run::of_child(call);
        assert_eq!((run.code, run.stdout.as_str()), (0, "tester\n"), "{run}");
    }
    assert_eq!(desk.bench.grants("refresh_token"), 1);
}

#[test]
fn a_refused_login_says_why_and_keeps_nothing() {
    let desk = Desk::new(&[Failure::Denied]);
    let login = desk.login(&[]);
    assert_eq!(login.code, 1, "{login}");
    assert!(login.stderr.contains("the login was refused"), "{login}");
    assert!(desk.run(&["auth", "status"]).stdout.contains("no logins"));
    let desk = Desk::new(&[Failure::NoRegistration]);
    let login = desk.login(&[]);
    assert!(login.stderr.contains("oauth.clientId"), "{login}");
}

#[test]
fn a_client_with_its_own_credentials_needs_no_login() {
    let desk = Desk::new(&[]);
    let oauth =
        serde_json::json!({"grant": "clientCredentials", "clientId": "robot", "clientSecret": "{env:ROBOT}"});
    let file = serde_json::json!({"mcp": {"servers": {"b": {"url": desk.bench.server(), "oauth": oauth}}}});
    write_config(desk.home.path(), &file);
    let mut command = desk.command(&["call", "b", "whoami"]);
    let run = Run::of(command.env("ROBOT", "canary-of-the-robot-1234"), "");
    assert_eq!(run.stdout, "service\n", "{run}");
    assert_eq!(desk.bench.grants("client_credentials"), 1);
}

#[test]
fn o13_no_output_shows_a_token() {
    let desk = Desk::new(&[]);
    let server = desk.bench.server();
    let mut outputs = vec![desk.login(&["-vv"])];
    let file = serde_json::json!({"mcp": {"servers": {"b": {"url": server}}}});
    write_config(desk.home.path(), &file);
    for args in [
        &["list", &server, "--trace", "-vv"][..],
        &["call", &server, "whoami", "--trace", "--json"],
        &["call", "b", "admin", "--trace"],
        &["auth", "status"],
        &["auth", "status", "--json"],
        &["config", "show"],
        &["config", "show", "--json"],
        &["doctor", &server],
        &["lint", &server],
        &["auth", "login", "b", "--headless", "--timeout", "1s"],
    ] {
        let mut command = desk.command(args);
        outputs.push(Run::of(command.env("TRUNKLINE_LOG", "trace"), ""));
    }
    let secrets = desk.secrets();
    assert_eq!(secrets.len(), 2);
    for run in &outputs {
        for secret in &secrets {
            assert!(!run.stdout.contains(secret) && !run.stderr.contains(secret), "{run}");
        }
    }
    assert!(outputs.iter().any(|run| run.stderr.contains("tools/list")), "no trace was written");
}

fn write_config(home: &Path, file: &serde_json::Value) {
    let folder = home.join(".config/trunkline");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("trunkline.json"), file.to_string()).unwrap();
    fs::set_permissions(folder.join("trunkline.json"), fs::Permissions::from_mode(0o600)).unwrap();
}

/// A document of a server with its authorization server, or the refusal of the server itself.
fn document(base: &str, path: &str) -> Option<Value> {
    Some(match path {
        "/.well-known/oauth-protected-resource/mcp" => {
            json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]})
        }
        "/.well-known/oauth-authorization-server" => json!({
            "issuer": base, "token_endpoint": format!("{base}/token"),
            "registration_endpoint": format!("{base}/register"),
            "device_authorization_endpoint": format!("{base}/device"),
        }),
        "/register" => json!({"client_id": "c"}),
        "/device" => json!({"device_code": "d", "user_code": "ABCD", "interval": 1,
            "verification_uri": format!("{base}/page")}),
        "/token" => json!({"access_token": "t", "token_type": "Bearer"}),
        _ => return None,
    })
}

fn answer(mut stream: TcpStream, document: impl Fn(&str) -> Option<Value>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    while line.trim_end() != "" {
        line.clear();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    reader.take(length).read_to_end(&mut Vec::new())?;
    let body = document(&path).map(|body| body.to_string());
    let status = if body.is_some() { "200 OK" } else { "401 Unauthorized" };
    let (body, close) = (body.unwrap_or_default(), "connection: close");
    let head = format!("HTTP/1.1 {status}\r\n{close}\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes())
}

/// Starts such a server, with one member of one document replaced; returns its address.
fn hostile(path: &'static str, member: &'static str, value: Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let server = format!("{base}/mcp");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let changed = |asked: &str| {
                let mut document = document(&base, asked)?;
                if asked == path {
                    document[member] = value.clone();
                }
                Some(document)
            };
            answer(stream.unwrap(), changed).unwrap_or_default();
        }
    });
    server
}

#[test]
fn o12_long_words_of_an_authorization_server_cost_little_and_are_not_repeated() {
    let (metadata, long) = ("/.well-known/oauth-authorization-server", "x".repeat(200_000));
    let url = format!("http://127.0.0.1:1/{}", &long[..100_000]);
    for (path, member, value, is_signed_in) in [
        ("/token", "access_token", json!(long), false),
        ("/token", "refresh_token", json!(long), false),
        ("/token", "scope", json!("many ".repeat(9000)), true),
        ("/register", "client_id", json!(long), false),
        ("/device", "user_code", json!("\u{1b}]0;owned\u{7}\u{202e}"), true),
        ("/device", "verification_uri", json!("javascript:alert(1)"), false),
        (metadata, "token_endpoint", json!(url), false),
        (metadata, "device_authorization_endpoint", json!(url), false),
        (metadata, "registration_endpoint", json!("\u{1b}]0;owned\u{7}"), false),
    ] {
        let home = tempfile::tempdir().unwrap();
        let mut command = trunkline(&[("HOME", &home.path().to_string_lossy())]);
        let run = Run::of(command.args(["auth", "login", "--device", &hostile(path, member, value)]), "");
        let told = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.code == 0, is_signed_in, "{path} {member}: {told}");
        assert!(told.len() < 8192 && !told.contains(['\u{1b}', '\u{202e}']), "{path} {member}: {told}");
    }
}
