//! A site: a folder with a configuration, and the marks that identify its processes.

use crate::{door::Door, processes};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use trunkline_auth::keys;

/// Timeout for anything that may hang.
pub(crate) const HANG: Duration = Duration::from_mins(2);
/// Polling interval.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

/// The environment variable that enables the long form of some tests.
const LONG: &str = "TRUNKLINE_LONG";

pub(crate) struct Site {
    pub(crate) folder: TempDir,
    mark: String,
}

/// An API key.
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) token: String,
    sha256: String,
    roles: Vec<String>,
}

impl Site {
    pub(crate) fn new(name: &str) -> Self {
        let mark = format!("{name}-{}", std::process::id());
        Self { folder: tempfile::tempdir().unwrap(), mark }
    }

    /// A site that configures only these servers.
    pub(crate) fn of(name: &str, servers: impl FnOnce(&Self) -> Value) -> Self {
        let site = Self::new(name);
        site.configure(&json!({"mcp": {"servers": servers(&site)}}));
        site
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A local server, whose processes can be found by its name.
    pub(crate) fn local(&self, name: &str, words: &[String]) -> Value {
        json!({"command": words, "environment": {processes::MARK: format!("{}/{name}", self.mark)}})
    }

    /// The echoing server.
    pub(crate) fn echo(&self, name: &str, era: &str) -> Value {
        let script: PathBuf =
            [env!("CARGO_MANIFEST_DIR"), "tests", "gateway", "echo_server.py"].iter().collect();
        let words = ["python3", &script.display().to_string(), era, name].map(str::to_owned);
        self.local(name, &words)
    }

    /// Writes the configuration atomically.
    pub(crate) fn configure(&self, config: &Value) {
        let mut config = config.clone();
        let object = config.as_object_mut().unwrap();
        object.entry("audit").or_insert_with(|| json!({"enabled": false}));
        self.write("trunkline.json", &format!("{config:#}"));
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let (new, path) = (self.path(&format!("{name}.new")), self.path(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&new, text).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(new, path).unwrap();
    }

    /// Writes an API key file with these ids and roles.
    pub(crate) fn keys(&self, callers: &[(&str, &[&str])]) -> Vec<Key> {
        let make = |(id, roles): &(&str, &[&str])| {
            let made = keys::generate();
            let roles = roles.iter().map(ToString::to_string).collect();
            Key { id: (*id).to_owned(), token: made.token, sha256: made.sha256, roles }
        };
        let keys: Vec<Key> = callers.iter().map(make).collect();
        let entry = |key: &Key| json!({"id": key.id, "sha256": key.sha256, "roles": key.roles});
        let entries: Vec<Value> = keys.iter().map(entry).collect();
        self.write("keys.json", &json!({ "keys": entries }).to_string());
        keys
    }

    /// The binary, with this folder as its home, without a keychain, in an otherwise empty
    /// environment.
    pub(crate) fn binary(&self) -> Command {
        self.prepare(Command::new(env!("CARGO_BIN_EXE_trunkline")))
    }

    /// Like `binary`, for another program that starts the binary.
    pub(crate) fn prepare(&self, mut command: Command) -> Command {
        let path = option_env!("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
        command
            .env_clear()
            .env("PATH", path)
            .env("TRUNKLINE_KEYCHAIN", "off")
            .env("HOME", self.folder.path());
        command.current_dir(self.folder.path());
        command
    }

    pub(crate) fn open(&self) -> Door {
        let mut command = self.binary();
        command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"]);
        Door::start(command.arg(self.path("trunkline.json")))
    }

    /// The processes of one server, without our own supervisor of it.
    pub(crate) fn processes(&self, name: &str) -> Vec<i32> {
        let whole = format!("{}/{name}", self.mark);
        let mut found = processes::marked(|mark| mark == whole);
        found.retain(|pid| !processes::is_supervisor(*pid));
        found
    }

    /// The processes of all servers.
    pub(crate) fn all_processes(&self) -> Vec<i32> {
        let start = format!("{}/", self.mark);
        processes::marked(|mark| mark.starts_with(&start))
    }

    /// Waits until no process of this site is left; returns the time it took.
    pub(crate) async fn emptied(&self) -> Duration {
        let began = Instant::now();
        until(|| self.all_processes().is_empty(), || format!("{:?}", self.all_processes())).await;
        began.elapsed()
    }
}

/// Number of rounds: `short`, or `long` if the long form of the tests is enabled.
pub(crate) fn rounds(short: usize, long: usize) -> usize {
    #[expect(clippy::disallowed_methods, reason = "whoever runs the test decides how long it takes")]
    let wanted = std::env::var_os(LONG).is_some();
    if wanted { long } else { short }
}

/// Waits until the condition is true.
pub(crate) async fn until(wanted: impl Fn() -> bool, complaint: impl Fn() -> String) {
    let began = Instant::now();
    while !wanted() {
        assert!(began.elapsed() < HANG, "{}", complaint());
        tokio::time::sleep(PAUSE).await;
    }
}
