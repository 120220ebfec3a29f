//! Secrets in files, addresses and behind references are not shown, whatever the command and
//! format.
#![expect(dead_code, reason = "only a part of the shared support is used here")]

mod support;

use std::{fs, path::Path};
use support::{Run, trunkline};

/// A value that looks like an ordinary word, so that only the reference tells that it is secret.
const PLAIN: &str = "ordinary-looking-value";
const FORMATS: [&str; 6] = ["text", "json", "markdown", "github", "junit", "sarif"];

fn shows(run: &Run, secret: &str) -> bool {
    run.stdout.contains(secret) || run.stderr.contains(secret)
}

fn home() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let servers = serde_json::json!({"mcpServers": {
        "linear": {
            "url": "https://mcp.linear.app/mcp",
            "headers": {"Authorization": "Bearer lin_api_abcdefghij0123456789ABCDEFGHIJ"},
        },
        "pg": {"command": "npx", "args": ["-y", "server-postgres", "postgresql://bob:s3cr3tPW@localhost/db"]},
    }});
    fs::create_dir(folder.path().join(".cursor")).expect("a folder can be made");
    fs::write(folder.path().join(".cursor/mcp.json"), servers.to_string()).expect("it can be written");
    folder
}

fn in_home(folder: &Path, args: &[&str]) -> Run {
    let home = folder.to_string_lossy();
    Run::of(trunkline(&[("HOME", &home), ("KEY", PLAIN)]).args(args).current_dir(folder), "")
}

#[test]
fn o13_lint_and_doctor_show_no_secret_of_a_file() {
    let home = home();
    let mut runs: Vec<Run> = FORMATS
        .iter()
        .map(|format| in_home(home.path(), &["lint", ".cursor/mcp.json", "--format", format]))
        .collect();
    runs.push(in_home(home.path(), &["doctor"]));
    runs.push(in_home(home.path(), &["doctor", "--json"]));
    for run in runs {
        assert!(run.stdout.contains("linear") || run.stdout.contains("config"), "{run}");
        assert!(!shows(&run, "lin_api_abc") && !shows(&run, "s3cr3tPW"), "{run}");
    }
}

#[test]
fn o13_a_token_in_an_address_is_not_shown() {
    let address = "http://127.0.0.1:9/mcp?token=abcdefgh12345";
    let home = home();
    for format in FORMATS {
        let run = in_home(home.path(), &["lint", address, "--format", format]);
        assert!(format == "sarif" || run.stdout.contains("http://127.0.0.1:9/mcp"), "{run}");
        assert!(!shows(&run, "abcdefgh12345"), "{run}");
    }
    for args in [
        &["list", address][..],
        &["list", "--json", address],
        &["doctor", address],
        &["doctor", "--json", address],
    ] {
        let run = in_home(home.path(), args);
        assert_ne!(run.code, 0, "{run}");
        assert!(!shows(&run, "abcdefgh12345"), "{run}");
    }
}

#[test]
fn o13_the_value_behind_a_reference_is_not_shown() {
    let home = home();
    let target = ["--", "sh", "-c", "echo \"cannot use $0\" >&2; exit 3", "{env:KEY}"];
    for words in
        ["list", "list --json", "call x", "doctor", "doctor --json", "lint", "lint --json", "list -vv"]
    {
        let args: Vec<&str> = words.split(' ').chain(target).collect();
        let run = in_home(home.path(), &args);
        assert_ne!(run.code, 0, "{words}: {run}");
        assert!(run.to_string().contains("cannot use"), "{words}: {run}");
        assert!(!shows(&run, PLAIN), "{words}: {run}");
    }
}

#[test]
fn o13_a_configured_reference_is_not_shown_either() {
    let home = home();
    let settings = serde_json::json!({"mcp": {"servers": {"dies": {
        "command": ["sh", "-c", "echo \"cannot use $0\" >&2; exit 3", "{env:KEY}"],
    }}}});
    fs::create_dir_all(home.path().join(".config/trunkline")).expect("a folder can be made");
    fs::write(home.path().join(".config/trunkline/trunkline.json"), settings.to_string()).expect("written");
    for words in ["list dies", "list dies --json", "doctor dies", "doctor", "lint dies", "lint --all --json"]
    {
        let run = in_home(home.path(), &words.split(' ').collect::<Vec<_>>());
        assert_ne!(run.code, 0, "{words}: {run}");
        assert!(!shows(&run, PLAIN), "{words}: {run}");
    }
}

#[test]
fn c07_lines_from_the_middle_of_a_key_are_not_shown() {
    // Made for this test. Its first and last lines are missing.
    const LINES: [&str; 2] = [
        "y/Mlw95oy2lqZDGklOYeCNHb+AVmfgyWPY2TC04tKzo4UmR0jBxBqhvkXjbWao5v",
        "tQQKUwflvmPiYst7I0YcX2QSxSb8plFP6h/GKq++TYWV2V543zxzAttPowIDAQAB",
    ];
    let home = home();
    let script = format!("printf 'cannot use\n{}\n' >&2; exit 3", LINES.join("\n"));
    for words in ["list", "list --json", "call x", "doctor", "doctor --json", "lint", "lint --json"] {
        let args: Vec<&str> = words.split(' ').chain(["--", "sh", "-c", &script]).collect();
        let run = in_home(home.path(), &args);
        assert!(run.to_string().contains("cannot use"), "{words}: {run}");
        assert!(!shows(&run, LINES[0]) && !shows(&run, LINES[1]), "{words}: {run}");
    }
}
