//! API keys made by command, through the real binary.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(dead_code, reason = "only a part of the shared support is used here")]

mod support;

use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::Stdio,
};
use support::{Run, trunkline};

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("hello.txt"), "hello\n").unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, words: &[&str]) -> Run {
        let home = self.0.path().display().to_string();
        Run::of(trunkline(&[("HOME", &home)]).args(words).current_dir(self.0.path()), "")
    }
}

#[test]
fn a_new_key_is_shown_once_and_only_its_hash_is_kept() {
    let home = Home::new();
    let made = home.run(&["key", "new", "ada", "--role", "dev", "--expires", "2099-01-31"]);
    assert_eq!(made.code, 0, "{made}");
    let token = made.stdout.trim();
    assert!(token.starts_with("tl_") && made.stderr.contains("\"auth\""), "{made}");
    let file = home.path(".config/trunkline/keys.json");
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(token), "{text}");
    let kept: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(kept["keys"][0]["roles"], json!(["dev"]));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let listed = home.run(&["key", "list"]);
    assert!(listed.stdout.contains("ada") && listed.stdout.contains("expires: 2099-01-31"), "{listed}");
    assert!(!listed.stdout.contains(kept["keys"][0]["sha256"].as_str().unwrap()), "{listed}");
}

#[test]
fn a_bad_key_leaves_the_file_as_it_is() {
    let home = Home::new();
    assert_eq!(home.run(&["key", "new", "ada"]).code, 0);
    let file = home.path(".config/trunkline/keys.json");
    let before = fs::read_to_string(&file).unwrap();
    for (words, reason) in [
        (&["key", "new", "ada"][..], "two keys"),
        (&["key", "new", ""], "no id"),
        (&["key", "new", "bob", "--expires", "tomorrow"], "neither a date"),
        (&["key", "remove", "bob"], "no key `bob`"),
    ] {
        let run = home.run(words);
        assert!(run.code == 2 && run.stderr.contains(reason), "{words:?}: {run}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    fs::write(&file, "{}").unwrap();
    assert_eq!(home.run(&["key", "new", "bob"]).code, 2, "a damaged file is not replaced");
}

#[test]
fn a_running_gateway_takes_new_keys_and_refuses_removed_ones() {
    let home = Home::new();
    let key = |id: &str| home.run(&["key", "new", id]).stdout.trim().to_owned();
    let ada = key("ada");
    let mut command = trunkline(&[("HOME", &home.0.path().display().to_string())]);
    command.args(["serve", "--json", "--no-audit", "--listen", "127.0.0.1:0", "--keys"]);
    command.arg(home.path(".config/trunkline/keys.json")).current_dir(home.0.path());
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    let endpoint = told["endpoint"].as_str().unwrap().to_owned();
    let admitted = |token: &str| {
        let header = format!("Authorization: Bearer {token}");
        home.run(&["call", &endpoint, "read_file", "path=hello.txt", "--header", &header]).code == 0
    };
    assert!(admitted(&ada));
    let bob = key("bob");
    // Each call takes a while, so that this does not spin; a hang is cut off by the test runner.
    while !admitted(&bob) {}
    assert!(admitted(&ada));
    assert_eq!(home.run(&["key", "remove", "ada"]).code, 0);
    while admitted(&ada) {}
    assert!(admitted(&bob));
    assert_eq!(home.run(&["key", "remove", "bob"]).code, 0);
    while admitted(&bob) {}
    process.kill().unwrap();
    process.wait().unwrap();
}
