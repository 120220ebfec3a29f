//! `secret` and `{keychain:NAME}`, through the real binary.
#![expect(dead_code, reason = "only a part of the shared support is used here")]

#[path = "support/home.rs"]
mod home;
mod support;

use home::Home;
use serde_json::json;
use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};
use support::{Run, trunkline};

const SECRET: &str = "canary-of-the-keychain";

fn set(home: &Home, name: &str, secret: &str) -> Run {
    let folder = home.0.path().display().to_string();
    Run::of(trunkline(&[("HOME", &folder)]).args(["secret", "set", name]), secret)
}

#[test]
fn a_secret_is_used_by_its_name_and_never_shown() {
    let home = Home::new();
    let stored = set(&home, "service/token", &format!("{SECRET}\n"));
    assert_eq!(stored.code, 0, "{stored}");
    let file = home.path(".local/share/trunkline/secrets.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // The server succeeds only if it got the very secret.
    let script = format!("test \"$KEY\" = {SECRET} && echo \"got $KEY\" >&2; exit 3");
    let server = json!({"command": ["sh", "-c", script], "environment": {"KEY": "{keychain:service/token}"}});
    home.write(".config/trunkline/trunkline.json", &json!({"mcp": {"servers": {"s": server}}}).to_string());
    let listed = home.run(&["secret", "list"], &[]);
    assert_eq!(listed.stdout, "service/token\n");
    for words in [&["list", "s"][..], &["config", "show"], &["config", "show", "--json"], &["doctor", "s"]] {
        let run = home.run(words, &[]);
        let shown = run.stdout.replace(&script, "") + &run.stderr.replace(&script, "");
        assert!(!shown.contains(&format!("got {SECRET}")), "{run}");
        assert!(words[0] != "list" || run.stderr.contains("got ***"), "{run}");
    }
    assert_eq!(home.run(&["secret", "remove", "service/token"], &[]).code, 0);
    let gone = home.run(&["config", "check"], &[]);
    assert!(gone.to_string().contains("trunkline secret set service/token"), "{gone}");
    assert_eq!(home.run(&["secret", "remove", "service/token"], &[]).code, 2);
}

#[test]
fn o10_bad_secrets_and_files_that_others_can_read_are_refused() {
    let home = Home::new();
    for (name, secret, reason) in [
        ("a b", SECRET, "cannot name a secret"),
        ("", SECRET, "cannot name a secret"),
        ("a", "", "1 to 65536 bytes"),
        ("a", "\n", "1 to 65536 bytes"),
        ("a", &"x".repeat(70_000), "1 to 65536 bytes"),
    ] {
        let run = set(&home, name, secret);
        assert!(run.code == 2 && run.stderr.contains(reason), "{name:?}: {run}");
    }
    assert_eq!(set(&home, "a", SECRET).code, 0);
    let file = home.path(".local/share/trunkline/secrets.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(set(&home, "b", SECRET).stderr.contains("only you can read"));
    fs::rename(&file, home.path("elsewhere")).unwrap();
    fs::set_permissions(home.path("elsewhere"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink(home.path("elsewhere"), &file).unwrap();
    assert!(set(&home, "b", SECRET).stderr.contains("not a regular file of yours"));
    assert!(!fs::read_to_string(home.path("elsewhere")).unwrap().contains("\"b\""));
}

#[test]
fn a_project_file_with_a_reference_is_shown_before_it_is_approved() {
    let home = Home::new();
    assert_eq!(set(&home, "mine", SECRET).code, 0);
    let server = json!({"url": "https://h.example/mcp", "headers": {"X-Key": "{keychain:mine}"}});
    home.write("project/trunkline.json", &json!({"mcp": {"servers": {"s": server}}}).to_string());
    let run = home.run(&["config", "approve"], &[]);
    assert!(run.to_string().contains("{keychain:mine}"), "{run}");
    assert!(!run.to_string().contains(SECRET), "{run}");
}
