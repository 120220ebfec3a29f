//! Logins and secrets sealed with a key of a real keychain: gnome-keyring on a session bus of its
//! own.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(dead_code, reason = "only a part of the shared support is used here")]

#[path = "support/installed.rs"]
mod installed;
mod support;

use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use support::{Run, trunkline};
use trunkline_oauth::bench::{Bench, BenchOptions};
use trunkline_transport::http::{HttpClient, HttpError, HttpOptions, RedirectError, Target};

const SECRET: &str = "canary-of-the-sealed-vault";
const CONFIG: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir=FOLDER</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>"#;

/// A desktop session: a bus, and a keychain if it was started.
struct Desktop {
    home: tempfile::TempDir,
    bus: Child,
    address: String,
    keychain: Option<Child>,
}

/// A program of the peers, with its libraries.
fn program(name: &str) -> Command {
    let root = installed::installed("keychain");
    let mut command = Command::new(root.join("usr/bin").join(name));
    let libraries = root.join("usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
    let path = option_env!("PATH").unwrap_or("/usr/bin:/bin");
    command.env_clear().env("PATH", path).env("LD_LIBRARY_PATH", libraries);
    command
}

impl Desktop {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let config = home.path().join("bus.conf");
        fs::write(&config, CONFIG.replace("FOLDER", &home.path().display().to_string())).unwrap();
        let mut command = program("dbus-daemon");
        command.arg(format!("--config-file={}", config.display())).args(["--nofork", "--print-address=1"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut bus = command.spawn().unwrap();
        let mut address = String::new();
        BufReader::new(bus.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        Self { home, bus, address: address.trim().to_owned(), keychain: None }
    }

    /// Starts the keychain, unlocked with this password, and waits until the bus knows it.
    fn start_keychain(&mut self, password: &str) {
        let mut command = program("gnome-keyring-daemon");
        command.args(["--unlock", "--foreground", "--components=secrets", "--control-directory"]);
        command.arg(self.home.path().join("control"));
        command.env("HOME", self.home.path()).env("XDG_RUNTIME_DIR", self.home.path());
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(password.as_bytes()).unwrap();
        self.keychain = Some(child);
        while !self.has_keychain() {
            std::thread::yield_now();
        }
    }

    fn has_keychain(&self) -> bool {
        let mut command = program("dbus-send");
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        command.args(["--session", "--print-reply", "--dest=org.freedesktop.DBus", "/"]);
        command.args(["org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.secrets"]);
        String::from_utf8(command.output().unwrap().stdout).unwrap().contains("boolean true")
    }

    fn stop_keychain(&mut self) {
        if let Some(mut child) = self.keychain.take() {
            child.kill().unwrap();
            child.wait().unwrap();
            while self.has_keychain() {
                std::thread::yield_now();
            }
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let home = self.home.path().to_string_lossy();
        let mut command = trunkline(&[("HOME", &home), ("DBUS_SESSION_BUS_ADDRESS", &self.address)]);
        command.env_remove("TRUNKLINE_KEYCHAIN").args(args).current_dir(self.home.path());
        command
    }

    fn run(&self, args: &[&str], input: &str) -> Run {
        Run::of(&mut self.command(args), input)
    }

    fn data(&self, name: &str) -> PathBuf {
        self.home.path().join(".local/share/trunkline").join(name)
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        for child in self.keychain.iter_mut().chain([&mut self.bus]) {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

fn is_sealed(file: &Path) -> bool {
    let text: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    text["sealed"] == 1
}

#[test]
fn o10_secrets_are_sealed_with_a_key_of_the_keychain() {
    let mut desktop = Desktop::new();
    let file = desktop.data("secrets.json");
    // Without a keychain on the bus the file is not sealed; it is when there is one.
    assert_eq!(desktop.run(&["secret", "set", "first"], SECRET).code, 0);
    assert!(!is_sealed(&file));
    desktop.start_keychain("password");
    let set = desktop.run(&["secret", "set", "second"], SECRET);
    assert_eq!(set.code, 0, "{set}");
    assert!(is_sealed(&file), "{set}");
    assert!(!fs::read_to_string(&file).unwrap().contains(SECRET));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(desktop.run(&["secret", "list"], "").stdout, "first\nsecond\n");
    // The server succeeds only if it got the very secret.
    let script = format!("test \"$KEY\" = {SECRET} && echo \"got $KEY\" >&2; exit 3");
    let server = json!({"command": ["sh", "-c", script], "environment": {"KEY": "{keychain:second}"}});
    let folder = desktop.home.path().join(".config/trunkline");
    fs::create_dir_all(&folder).unwrap();
    let config = folder.join("trunkline.json");
    fs::write(&config, json!({"mcp": {"servers": {"s": server}}}).to_string()).unwrap();
    fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();
    let run = desktop.run(&["list", "s"], "");
    assert!(run.stderr.contains("got ***"), "{run}");
    // The keychain is gone: the reason is told, and nothing is overwritten.
    desktop.stop_keychain();
    let before = fs::read(&file).unwrap();
    for args in [&["secret", "list"][..], &["secret", "set", "third"]] {
        let run = desktop.run(args, SECRET);
        assert!(run.code == 2 && run.stderr.contains("the session bus has no keychain"), "{run}");
    }
    assert_eq!(fs::read(&file).unwrap(), before);
    // It comes back, with the key that it kept.
    desktop.start_keychain("password");
    assert_eq!(desktop.run(&["secret", "list"], "").stdout, "first\nsecond\n");
    let mut off = desktop.command(&["secret", "list"]);
    let off = Run::of(off.env("TRUNKLINE_KEYCHAIN", "off"), "");
    assert!(off.stderr.contains("TRUNKLINE_KEYCHAIN is off"), "{off}");
}

#[test]
fn o10_processes_that_need_a_key_at_once_make_one() {
    let mut desktop = Desktop::new();
    desktop.start_keychain("password");
    let names: Vec<String> = (0..6).map(|number| format!("n{number}")).collect();
    let start = |name: &String| {
        let mut command = desktop.command(&["secret", "set", name]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(SECRET.as_bytes()).unwrap();
        child
    };
    let children: Vec<Child> = names.iter().map(start).collect();
    for child in children {
        let run = Run::of_child(child);
        assert_eq!(run.code, 0, "{run}");
    }
    assert_eq!(desktop.run(&["secret", "list"], "").stdout, names.join("\n") + "\n");
}

/// Signs in without a browser.
fn login(desktop: &Desktop, bench: &Bench, runtime: &tokio::runtime::Runtime) -> Run {
    let mut command = desktop.command(&["auth", "login", &bench.server(), "--headless"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut told = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    let page = told.find_map(|line| line.ok().filter(|line| line.trim_start().starts_with("http://")));
    let answer = runtime.block_on(async {
        let client = HttpClient::new(HttpOptions::default()).unwrap();
        let target = Target::parse(page.unwrap().trim()).unwrap();
        match client.send(http::Method::GET, &target, http::HeaderMap::new(), bytes::Bytes::new()).await {
            Err(HttpError::Redirect(RedirectError::OtherOrigin { target })) => target,
            other => panic!("{other:?}"),
        }
    });
    writeln!(child.stdin.as_mut().unwrap(), "{answer}").unwrap();
    Run::of_child(child)
}

#[test]
fn o10_a_login_is_sealed_renewed_and_forgotten() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let bench = runtime.block_on(Bench::start(BenchOptions::default())).unwrap();
    let server = bench.server();
    let mut desktop = Desktop::new();
    desktop.start_keychain("password");
    let run = login(&desktop, &bench, &runtime);
    assert!(run.code == 0 && run.stdout.contains("sealed with a key in the keychain"), "{run}");
    let folder = desktop.data("logins");
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let file = files.into_iter().find(|path| path.extension().is_some_and(|end| end == "json")).unwrap();
    assert!(is_sealed(&file));
    bench.expire_tokens();
    assert_eq!(desktop.run(&["call", &server, "whoami"], "").stdout, "tester\n");
    assert_eq!(bench.grants("refresh_token"), 1);
    assert!(is_sealed(&file));
    // Without the keychain the login cannot be used, and `status` says why.
    desktop.stop_keychain();
    let refused = desktop.run(&["call", &server, "whoami"], "");
    assert!(refused.code != 0 && refused.stderr.contains("the session bus has no keychain"), "{refused}");
    let status = desktop.run(&["auth", "status"], "");
    assert!(status.stderr.contains("cannot be opened"), "{status}");
    desktop.start_keychain("password");
    let logout = desktop.run(&["auth", "logout", &server], "");
    assert_eq!(logout.stdout, "signed out; the tokens were revoked\n", "{logout}");
    assert!(!file.exists());
}
