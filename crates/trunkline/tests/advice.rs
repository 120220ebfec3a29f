//! Hints of errors point at the thing that is wrong, and work when they are followed.
#![expect(dead_code, reason = "only a part of the shared support is used here")]

mod support;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    thread,
};
use support::{Run, trunkline};

/// A web server that answers every request with this status and JSON body; its address.
fn answering(status: u16, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it has an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut reader = BufReader::new(&stream);
                loop {
                    let (mut line, mut length) = (String::new(), 0);
                    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                        let lower = line.to_ascii_lowercase();
                        if let Some(value) = lower.strip_prefix("content-length:") {
                            length = value.trim().parse().unwrap_or(0);
                        }
                        line.clear();
                    }
                    if line.is_empty() || reader.read_exact(&mut vec![0; length]).is_err() {
                        return;
                    }
                    let head = format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n");
                    let answer = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
                    if (&stream).write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    format!("http://{address}/nothing")
}

fn list(address: &str) -> Run {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let home = folder.path().to_string_lossy();
    Run::of(trunkline(&[("HOME", &home)]).args(["list", address]), "")
}

#[test]
fn a_wrong_path_is_told_as_a_wrong_path() {
    let run = list(&answering(404, ""));
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("There is no MCP endpoint at this address"), "{run}");
    assert!(run.stderr.contains("hint: Check the path of the address"), "{run}");
    assert!(!run.stderr.contains("List what the server offers"), "{run}");
}

#[test]
fn a_refusal_without_a_token_is_told_in_a_sentence() {
    let body = r#"{"error":"invalid_token","error_description":"The token is missing","x":{"y":1}}"#;
    let run = list(&answering(401, body));
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("  the server says: The token is missing\n"), "{run}");
    assert!(
        run.stderr.contains("hint: Give a key or token with --header 'Authorization: Bearer …'"),
        "{run}"
    );
    assert!(!run.stderr.contains("auth login"), "nothing is there to sign in at: {run}");
    assert!(!run.stderr.contains(['{', '}']), "{run}");
}

#[test]
fn a_long_refusal_is_not_cut_inside_a_word() {
    let run = list(&answering(
        500,
        concat!("all connections to the database are taken ", include_str!("../../../LICENSE-MIT")),
    ));
    let shown = run.stderr.lines().find(|line| line.ends_with('…')).unwrap_or_else(|| panic!("{run}"));
    let last = shown.trim_end_matches(['…', ' ']).rsplit(' ').next().unwrap();
    let words = include_str!("../../../LICENSE-MIT");
    assert!(words.split_whitespace().any(|word| word == last), "`{last}`: {run}");
}

#[test]
fn a_bad_working_directory_is_named_by_list_and_by_doctor() {
    let run = Run::of(trunkline(&[]).args(["list", "--cwd", "/nowhere", "--", "./server.py"]), "");
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("cannot use /nowhere as working directory: No such file"), "{run}");
    assert!(run.stderr.contains("--cwd"), "{run}");
    let run = Run::of(trunkline(&[]).args(["doctor", "--cwd", "/nowhere", "--", "./server.py"]), "");
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stdout.contains("problem[working-directory-missing]"), "{run}");
}

#[test]
fn an_unknown_resource_leads_to_the_list_of_resources() {
    // Servers answer -32602, which for a tool means bad arguments, or -32603.
    for code in [-32602, -32603, -32002] {
        unknown_resource(code);
    }
}

fn unknown_resource(code: i32) {
    let script = format!(
        r#"answer() {{ id=${{line#*\"id\":}}; id=${{id%%,*}}; printf '{{"jsonrpc":"2.0","id":%s,%s}}\n' "$id" "$1"; }}
while read -r line; do
  case $line in
    *'"initialize"'*) answer '"result":{{"protocolVersion":"2025-11-25","capabilities":{{"resources":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}' ;;
    *'"resources/read"'*) answer '"error":{{"code":{code},"message":"Unknown resource"}}' ;;
    *'"id":'*) answer '"error":{{"code":-32601,"message":"Method not found"}}' ;;
  esac
done"#
    );
    let run = Run::of(trunkline(&[]).args(["read", "test://nope", "--", "sh", "-c", &script]), "");
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("`trunkline list … resources`"), "{run}");
    assert!(!run.stderr.contains("tool's schema") && !run.stderr.contains("again later"), "{run}");
}

#[test]
fn a_process_that_ends_is_given_to_the_doctor() {
    let run = Run::of(trunkline(&[]).args(["list", "--", "sh", "-c", "echo 'no key' >&2; exit 3"]), "");
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("no key") && run.stderr.contains("`trunkline doctor`"), "{run}");
}

/// A reference in another client's syntax, and a command line written as one word.
#[test]
fn an_import_asks_only_for_things_that_exist() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let home = folder.path().to_string_lossy();
    std::fs::create_dir(folder.path().join(".cursor")).expect("a folder can be made");
    let servers = r#"{"mcpServers": {"words": {"command": "npx -y foo"},
        "b": {"url": "https://h.example/mcp", "headers": {"Authorization": "Bearer ${MY_TOKEN}"}}}}"#;
    std::fs::write(folder.path().join(".cursor/mcp.json"), servers).expect("it can be written");
    let run = |args: &[&str], variables: &[(&str, &str)]| {
        Run::of(trunkline(variables).args(args).env("HOME", &*home).current_dir(folder.path()), "")
    };
    let import = run(&["config", "import", "--write"], &[]);
    assert!(import.stdout.contains("until these variables are set: MY_TOKEN (b)"), "{import}");
    assert!(import.stdout.contains(r#""command": ["npx", "-y", "foo"]"#), "{import}");
    let check = run(&["config", "check"], &[("MY_TOKEN", "abcdefgh12345678")]);
    assert_eq!(check.code, 0, "{check}");
    assert!(check.stdout.contains("no problems, 2 servers"), "{check}");
}

#[test]
fn advice_is_given_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let missing = folder.path().join("nosuch");
    let missing = missing.to_string_lossy();
    for args in [
        &["list", "--", &*missing][..],
        &["list", "http://127.0.0.1:9/mcp"],
        &["list", "http://no.invalid/mcp"],
    ] {
        let run = Run::of(trunkline(&[]).args(args), "");
        let told = run.stderr.to_lowercase();
        let advice = ["check the", "is the server running", "that the server runs"];
        let told = told.lines().filter(|line| advice.iter().any(|words| line.contains(words))).count();
        assert_eq!(told, 1, "{run}");
    }
}
