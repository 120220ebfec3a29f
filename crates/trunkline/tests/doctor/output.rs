//! Output of the process: banners, other framings, buffering, no output.

use crate::{
    scripts::{SERVER, server_with},
    visit::{Folder, about_script},
};

#[test]
fn a_banner_on_standard_output() {
    let visit = about_script(&format!("echo 'Welcome to my server v1.0'\n{SERVER}"));
    visit.names("stdout-noise", 1, "standard error");
    assert!(visit.evidence().contains("Welcome to my server"));
    assert_eq!(visit.said["reached"], "server");
}

#[test]
fn log_lines_in_json_on_standard_output() {
    let visit = about_script(&format!("echo '{{\"level\":\"info\",\"msg\":\"started\"}}'\n{SERVER}"));
    visit.names("stdout-foreign-json", 1, "standard error");
}

#[test]
fn the_framing_of_language_servers() {
    let visit = about_script(&server_with(
        "server/discover",
        r#"printf 'Content-Length: 40\r\n\r\n{"jsonrpc":"2.0","id":1,"result":{"a":1}}'"#,
    ));
    visit.names("lsp-framing", 3, "without headers");
}

#[test]
fn a_message_over_several_lines() {
    let pretty = r#"printf '{\n  "jsonrpc": "2.0",\n  "id": 2,\n  "result": {}\n}\n'"#;
    about_script(&server_with("initialize", pretty)).names("multi-line-json", 3, "without indentation");
}

#[test]
fn answers_that_stay_in_a_buffer() {
    let folder = Folder::new();
    let server = r#"
import sys, json
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "b", "version": "1"}}}))
    elif "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}))
"#;
    let script = folder.file("server.py", server, 0o644);
    let visit = folder.visit(&["--timeout", "6s", "--", "python3", &script], &[]);
    visit.names("stdout-buffered", 3, "PYTHONUNBUFFERED");
    assert_eq!(visit.works(), ["without buffering (PYTHONUNBUFFERED=1)"]);
}

#[test]
fn answers_only_at_the_end_of_the_input() {
    let late = r#"cat > /dev/null; printf '{"jsonrpc":"2.0","id":2,"result":{}}\n'"#;
    about_script(late).names("answers-only-at-end", 3, "read line by line");
}

#[test]
fn answers_on_standard_error() {
    let visit = about_script(&format!("exec 1>&2\n{SERVER}"));
    visit.names("answers-on-stderr", 3, "messages to standard output");
}

#[test]
fn a_server_for_http_started_as_one_for_stdio() {
    let visit =
        about_script("echo 'Listening on http://0.0.0.0:3000/mcp' >&2; while read -r line; do :; done");
    visit.names("is-an-http-server", 3, "trunkline doctor http://127.0.0.1:3000/mcp");
    let visit = about_script("echo 'MCP server running on port 8080'; while read -r line; do :; done");
    visit.names("is-an-http-server", 3, "trunkline doctor http://127.0.0.1:8080/mcp");
}

#[test]
fn a_line_that_never_ends() {
    about_script("yes x | tr -d '\\n'").names("line-too-long", 3, "end every message with a line break");
}

#[test]
fn a_server_that_hangs() {
    let visit = about_script("while read -r line; do :; done");
    visit.names("no-answer", 3, "by hand");
    assert!(visit.evidence().contains("server/discover") && visit.evidence().contains("initialize"));
}
