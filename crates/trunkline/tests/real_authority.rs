//! Logins at a real authorization server, node-oidc-provider: login without a browser, refresh with
//! rotation, step-up and revocation.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(dead_code, reason = "only a part of the shared support is used here")]

#[path = "support/installed.rs"]
mod installed;
mod support;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use support::{Run, trunkline};
use trunkline_transport::http::{HttpClient, HttpOptions, Redirects, Target};
use url::Url;

/// Lifetime of access tokens in seconds: the tests need one that has expired.
const LIFETIME: u64 = 3;

/// The authorization server with the MCP server that it protects.
struct Authority {
    child: Child,
    server: String,
}

impl Authority {
    fn start() -> Self {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../testkit/peers/oidc_server.mjs");
        let mut child = Command::new("node")
            .arg(script)
            .arg(installed::installed("authority"))
            .arg(LIFETIME.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let line = lines.find_map(|line| line.ok().filter(|line| line.starts_with('{'))).unwrap();
        let told: serde_json::Value = serde_json::from_str(&line).unwrap();
        Self { server: told["server"].as_str().unwrap().to_owned(), child }
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

struct User {
    home: tempfile::TempDir,
}

impl User {
    fn command(&self, args: &[&str]) -> Command {
        let home = self.home.path().to_string_lossy();
        let mut command = trunkline(&[("HOME", &home)]);
        command.args(args).current_dir(self.home.path());
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        Run::of(&mut self.command(args), "")
    }

    fn login(&self, server: &str, more: &[&str]) -> Run {
        let mut child = self
            .command(&[&["auth", "login", server, "--headless"], more].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(child.stderr.as_mut().unwrap()).lines();
        let page = told.find_map(|line| line.ok().filter(|line| line.trim_start().starts_with("http://")));
        let answer = visit(page.unwrap().trim());
        writeln!(child.stdin.as_mut().unwrap(), "{answer}").unwrap();
        Run::of_child(child)
    }

    /// The file of the only login.
    fn file(&self) -> PathBuf {
        let folder = fs::read_dir(self.home.path().join(".local/share/trunkline/logins")).unwrap();
        let mut files = folder.map(|entry| entry.unwrap().path());
        files.find(|path| path.extension().is_some_and(|end| end == "json")).unwrap()
    }
}

fn read(file: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

fn write(file: &Path, login: &serde_json::Value) {
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(file).unwrap();
    file.write_all(login.to_string().as_bytes()).unwrap();
}

/// Follows redirects with cookies, as a browser does, up to the one to another origin.
fn visit(page: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options = HttpOptions { redirects: Redirects::Returned, ..HttpOptions::default() };
        let client = HttpClient::new(options).unwrap();
        let mut jar = BTreeMap::new();
        let mut at = Url::parse(page).unwrap();
        let origin = at.origin();
        for _ in 0..20 {
            if at.origin() != origin {
                return at.into();
            }
            let cookies: Vec<String> = jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::try_from(cookies.join("; ")).unwrap());
            let target = Target::new(at.clone()).unwrap();
            let response = client.send(Method::GET, &target, headers, Bytes::new()).await.unwrap();
            for cookie in response.headers().get_all(header::SET_COOKIE) {
                let pair = cookie.to_str().unwrap().split(';').next().unwrap();
                let (name, value) = pair.split_once('=').unwrap();
                jar.insert(name.to_owned(), value.to_owned());
            }
            let next = response.headers().get(header::LOCATION).map(|next| next.to_str().unwrap().to_owned());
            at = at.join(&next.unwrap_or_else(|| panic!("{} at {at}", response.status()))).unwrap();
        }
        panic!("too many redirects")
    })
}

#[test]
fn a_login_at_node_oidc_provider_is_renewed_widened_and_revoked() {
    let authority = Authority::start();
    let user = User { home: tempfile::tempdir().unwrap() };
    let server = authority.server.as_str();
    let login = user.login(server, &[]);
    assert_eq!(login.code, 0, "{login}");
    assert_eq!(user.run(&["call", server, "whoami"]).stdout, "tester read\n");

    // The issued time is moved back, so the token counts as expired without any wait.
    let file = user.file();
    let before = read(&file);
    let mut aged = before.clone();
    aged["tokens"]["issued_at"] = (before["tokens"]["issued_at"].as_u64().unwrap() - LIFETIME - 1).into();
    write(&file, &aged);
    let run = user.run(&["call", server, "whoami"]);
    assert_eq!(run.stdout, "tester read\n", "{run}");
    let after = read(&file);
    assert_ne!(after["tokens"]["access"], before["tokens"]["access"]);
    assert_ne!(after["tokens"]["refresh"], before["tokens"]["refresh"], "the server rotates");

    let refused = user.run(&["call", server, "admin"]);
    assert!(refused.stderr.contains("--scope admin`"), "{refused}");
    let login = user.login(server, &["--scope", "admin"]);
    assert_eq!(login.code, 0, "{login}");
    assert_eq!(user.run(&["call", server, "admin"]).stdout, "tester read admin\n");

    let kept = read(&file);
    assert_eq!(user.run(&["auth", "logout", server]).stdout, "signed out; the tokens were revoked\n");
    // Even a copy of the login is worthless now.
    write(&file, &kept);
    let run = user.run(&["call", server, "whoami"]);
    assert_ne!(run.code, 0, "{run}");
}

/// The folders with shared libraries below a folder, as `LD_LIBRARY_PATH` wants them.
fn libraries(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found = vec![folder.display().to_string()];
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() && !path.ends_with("chromium") {
            found.extend(libraries(&path));
        }
    }
    found
}

/// A program that opens a page in Chromium, and keeps the text of the last page.
fn chromium(home: &Path) -> PathBuf {
    let root = installed::installed("browser");
    let unpacked = root.join("usr/lib/chromium/chromium-headless-shell");
    let program = if unpacked.exists() { unpacked } else { root.join("usr/bin/chromium-headless-shell") };
    let home = home.display();
    // The kernel may forbid user namespaces, which the sandbox needs; only our own pages are
    // opened.
    let script = format!(
        "#!/bin/sh\nLD_LIBRARY_PATH={} {} --no-sandbox --disable-gpu --user-data-dir={home}/chromium \
         --dump-dom \"$1\" > {home}/page.part 2>/dev/null\nmv {home}/page.part {home}/page\n",
        libraries(&root.join("usr/lib")).join(":"),
        program.display(),
    );
    let browser = PathBuf::from(format!("{home}/browser"));
    fs::write(&browser, script).unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o700)).unwrap();
    browser
}

#[test]
fn a_login_in_a_real_browser_ends_at_our_page() {
    let authority = Authority::start();
    let user = User { home: tempfile::tempdir().unwrap() };
    let server = authority.server.as_str();
    let browser = chromium(user.home.path());
    let mut command = user.command(&["auth", "login", server, "--timeout", "1m"]);
    let login = Run::of(command.env("BROWSER", &browser), "");
    assert_eq!(login.code, 0, "{login}");
    assert_eq!(user.run(&["call", server, "whoami"]).stdout, "tester read\n");
    let page = user.home.path().join("page");
    while !page.exists() {
        std::thread::yield_now();
    }
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("You are signed in."), "{page}");
}
