//! Attacks on `run_command`, by their ids.

use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::bench::{Bench, directory};

/// A bench with rules for `git log` and `printf`; each program that runs creates the file `ran`.
fn bench() -> Bench {
    Bench::with(&[("data.txt", "x"), ("evil", "#!/bin/sh\ntouch ran\n")], |options| {
        let rules = [
            "git log",
            "git log --oneline -- <path...>",
            "find . -name <word>",
            "printf %s <word>",
            "printf literal",
        ];
        options.commands = rules.iter().map(|rule| rule.parse().expect("a rule")).collect();
    })
}

async fn refused(bench: &Bench, command: &str) -> String {
    let said = bench.call("run_command", json!({"command": command})).await;
    assert!(said.is_error, "{command} was run: {}", said.text);
    said.text
}

#[tokio::test]
async fn c01_no_shell_reads_the_line() {
    let bench = bench();
    for command in [
        "printf literal; touch ran",
        "printf literal | touch ran",
        "printf literal && touch ran",
        "printf literal & touch ran",
        "printf %s $(touch ran)",
        "printf %s `touch ran`",
        "printf literal\ntouch ran",
        "printf literal\r\ntouch ran",
        "printf %s *",
        "printf %s ?",
        "printf %s > ran",
        "printf %s $HOME",
        "printf.cmd literal",
        "PRINTF.BAT literal",
        "printf.exe literal",
        "FOO=bar printf literal",
        "",
        "'",
    ] {
        refused(&bench, command).await;
    }
    assert!(!bench.root.path().join("ran").exists());
    // In quotes these characters are literal, so the rule decides.
    refused(&bench, "printf %s '$(touch ran)'").await;
    let said = bench.call("run_command", json!({"command": "'printf' \"literal\""})).await;
    assert_eq!(
        (&said.data["success"], &said.data["logTail"]),
        (&json!(true), &json!("literal")),
        "{}",
        said.text
    );
}

#[tokio::test]
async fn c02_the_allow_list_is_not_got_around() {
    let bench = bench();
    let root = bench.root.path();
    std::fs::set_permissions(root.join("evil"), std::fs::Permissions::from_mode(0o755)).expect("permissions");
    symlink(root.join("evil"), root.join("git")).expect("a link");
    for command in [
        "/usr/bin/git log",
        "./git log",
        "./evil",
        "evil",
        "env git log",
        "sh -c 'git log'",
        "bash -c id",
        "xargs git log",
        "git -c core.pager=./evil log",
        "git -C / log",
        "git --exec-path=. log",
        "git log --output=ran",
        "git log --oneline -- --output=ran",
        "git log --oneline -- ../outside",
        "git log --oneline -- /etc/passwd",
        "git log extra",
        "git",
        "find . -name x -exec ./evil {} +",
        "find . -exec touch ran ';'",
        "find . -name -delete",
        "printf %s -v",
        "printf %s ../x",
        "printf %s ..",
    ] {
        refused(&bench, command).await;
    }
    assert!(!root.join("ran").exists());
    let text = refused(&bench, "git push").await;
    assert!(text.contains("git is not allowed with these arguments") && text.contains("`git log`"), "{text}");
    let said = bench.call("run_command", json!({"command": "find . -name data.txt"})).await;
    assert_eq!(said.data["logTail"], "./data.txt", "{}", said.text);
}

#[tokio::test]
async fn c02_a_program_that_the_project_could_have_put_on_the_path_is_refused() {
    let bench = Bench::with(&[("bin/tool", "#!/bin/sh\ntouch ran\n")], |options| {
        let own = options.roots[0].join("bin");
        std::fs::set_permissions(own.join("tool"), std::fs::Permissions::from_mode(0o755))
            .expect("permissions");
        options.environment = vec![("PATH".into(), own.into_os_string())];
        options.commands = vec!["tool".parse().expect("a rule")];
    });
    let text = refused(&bench, "tool").await;
    assert!(text.contains("a file of the project itself"), "{text}");
    // Nor through a link from another directory.
    let elsewhere = directory(&[]);
    let bench = Bench::with(&[("tool", "#!/bin/sh\n")], |options| {
        let target = options.roots[0].join("tool");
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o755)).expect("permissions");
        symlink(target, elsewhere.path().join("tool")).expect("a link");
        options.environment = vec![("PATH".into(), elsewhere.path().into())];
        options.commands = vec!["tool".parse().expect("a rule")];
    });
    refused(&bench, "tool").await;
}

#[tokio::test]
async fn c06_a_directory_outside_is_refused() {
    let outside = directory(&[("Makefile", "all:\n\ttouch ran\n")]);
    let bench = bench();
    symlink(outside.path(), bench.root.path().join("way-out")).expect("a link");
    let absolute = outside.path().display().to_string();
    for place in ["..", "/", "/etc", "way-out", "./way-out", "a/../..", absolute.as_str(), "x\0y", "missing"]
    {
        for (tool, arguments) in [
            ("run_command", json!({"command": "printf literal", "workingDirectory": place})),
            ("build", json!({"projectPath": place})),
            ("start_job", json!({"action": "build", "projectPath": place})),
            ("detect_project", json!({"projectPath": place})),
        ] {
            let said = bench.call(tool, arguments).await;
            assert!(said.is_error, "{tool} in {place}: {}", said.text);
        }
    }
    assert!(!outside.path().join("ran").exists());
}
