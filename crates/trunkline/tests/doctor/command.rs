//! The process: arguments, variables, and causes of its exit.

use crate::{
    scripts::SERVER,
    visit::{Folder, about_script},
};

/// A folder whose `bin` has one program with this body.
fn with_program(name: &str, body: &str) -> (Folder, String) {
    let folder = Folder::new();
    folder.script(&format!("bin/{name}"), body);
    let path = format!("{}/bin:/usr/bin:/bin", folder.path().display());
    (folder, path)
}

#[test]
fn a_reference_to_a_variable_that_is_not_set() {
    let folder = Folder::new();
    let script = folder.script("server", SERVER);
    let visit = folder.visit(&["--env", "TOKEN={env:NOPE_TOKEN}", "--", &script], &[]);
    visit.names("variable-unset", 3, "export NOPE_TOKEN=…");
    let visit = folder.visit(&["--", &script, "--token=${NOPE_TOKEN}"], &[]);
    visit.names("variable-unset", 3, "export NOPE_TOKEN=…");
}

#[test]
fn a_variable_with_quotation_marks_is_blamed_only_when_the_server_fails() {
    let folder = Folder::new();
    let picky = folder.script("picky", &format!("case $API_TOKEN in \\\"*) exit 1;; esac\n{SERVER}"));
    let args = ["--env", "API_TOKEN=\"abcdefgh\"", "--", picky.as_str()];
    let visit = folder.visit(&args, &[]);
    visit.names("variable-quoted", 3, "without quotation marks");
    assert!(!visit.said.to_string().contains("abcdefgh"), "the secret is not shown: {:#}", visit.said);
    let easy = folder.script("easy", SERVER);
    let visit = folder.visit(&["--env", "API_TOKEN=\"abcdefgh\"", "--", &easy], &[]);
    assert_eq!((visit.code, visit.warnings()), (0, vec!["variable-quoted"]));
}

#[test]
fn a_variable_that_still_has_its_placeholder() {
    let folder = Folder::new();
    let script = folder.script("server", "echo 'Error: 401 Unauthorized' >&2; exit 1");
    let visit = folder.visit(&["--env", "API_KEY=your-api-key-here", "--", &script], &[]);
    visit.names("variable-placeholder", 3, "\"API_KEY\": \"the real value\"");
}

#[test]
fn a_variable_that_the_server_misses() {
    let visit = about_script("echo 'Error: API_TOKEN environment variable is required' >&2; exit 1");
    visit.names("variable-missing", 3, "\"env\": { \"API_TOKEN\": \"…\" }");
    assert_eq!(visit.broken_step(), "stays-alive");
    assert!(visit.evidence().contains("is required"));
}

#[test]
fn the_syntax_of_a_shell_without_a_shell() {
    let folder = Folder::new();
    let script = folder.script("server", "[ $# = 0 ] || exit 2");
    let visit = folder.visit(&["--", &script, "--x", "&&", "true"], &[]);
    visit.names("shell-syntax", 3, "\"command\": \"sh\", \"args\": [\"-c\",");
}

#[test]
fn a_script_that_is_not_there() {
    let visit = Folder::new().visit(&["--", "sh", "gone.sh"], &[]);
    visit.names("script-missing", 3, "/absolute/path/to/gone.sh");
}

#[test]
fn a_module_that_is_not_installed() {
    let folder = Folder::new();
    let script = folder.file("server.py", "import nosuchmodule_x\n", 0o644);
    let visit = folder.visit(&["--timeout", "10s", "--", "python3", &script], &[]);
    visit.names("module-missing", 3, "python3 -m pip install nosuchmodule-x");
}

#[test]
fn a_package_that_does_not_exist() {
    let (folder, path) = with_program(
        "npx",
        "echo \"npm error code E404\nnpm error 404  'mcp-nope@*' is not in this registry.\" >&2; exit 1",
    );
    let visit = folder.visit(&["--", "npx", "-y", "mcp-nope"], &[("PATH", &path)]);
    visit.names("package-missing", 3, "npm view 'mcp-nope@*'");
}

#[test]
fn a_registry_that_cannot_be_reached() {
    let (folder, path) = with_program("npx", "echo 'npm error code EAI_AGAIN' >&2; exit 1");
    let visit = folder.visit(&["--", "npx", "-y", "mcp-x"], &[("PATH", &path)]);
    visit.names("registry-unreachable", 3, "npm install -g mcp-x");
}

/// The advice is the variable with which the alternative works.
#[test]
fn a_registry_whose_certificate_the_runner_does_not_trust() {
    let refusal = "error: Failed to fetch: `https://pypi.org/simple/mcp-x/`
  Caused by: error sending request for url (https://pypi.org/simple/mcp-x/)
  Caused by: invalid peer certificate: UnknownIssuer
";
    for (hint, variable) in [("--system-certs", "UV_SYSTEM_CERTS"), ("--native-tls", "UV_NATIVE_TLS")] {
        let body = format!(
            "[ \"${variable}\" = true ] || {{ printf '%s' '{refusal}hint: {hint}' >&2; exit 2; }}\n{SERVER}"
        );
        let (folder, path) = with_program("uvx", &body);
        let visit = folder.visit(&["--", "uvx", "mcp-x"], &[("PATH", &path)]);
        visit.names("registry-certificate", 3, &format!("\"env\": {{ \"{variable}\": \"true\" }}"));
        assert_eq!(visit.works(), [format!("with the certificates of this system ({variable}=true)")]);
    }
}

/// The advice is the command with which the alternative works.
#[test]
fn a_server_that_was_written_for_an_older_library() {
    let trace = "  File \"/c/site-packages/mcp_x/server.py\", line 173, in main
AttributeError: 'Server' object has no attribute 'list_resources'";
    let body =
        format!("[ \"$1 $2\" = '--with mcp<2' ] || {{ cat >&2 <<'END'\n{trace}\nEND\nexit 1; }}\n{SERVER}");
    let (folder, path) = with_program("uvx", &body);
    let visit = folder.visit(&["--", "uvx", "mcp-x", "--quick"], &[("PATH", &path)]);
    let fix = r#""command": "uvx", "args": ["--with", "mcp<2", "mcp-x", "--quick"]"#;
    visit.names("library-mismatch", 3, fix);
    assert_eq!(visit.works(), ["with `mcp<2`"]);
}

#[test]
fn a_broken_cache_is_shown_by_an_empty_one() {
    let body = format!(
        "[ -n \"$npm_config_cache\" ] || {{ echo 'npm error ENOTEMPTY: directory not empty, rename ~/.npm/_npx/1' >&2; exit 1; }}\n{SERVER}"
    );
    let (folder, path) = with_program("npx", &body);
    let visit = folder.visit(&["--", "npx", "-y", "mcp-x"], &[("PATH", &path)]);
    visit.names("package-cache-broken", 3, "rm -rf ~/.npm/_npx");
    assert!(visit.works()[0].starts_with("with an empty cache"), "{:#}", visit.said);
}

#[test]
fn a_package_runner_that_waits_for_a_yes() {
    let body = format!(
        "[ \"$1\" = -y ] || {{ echo 'Ok to proceed? (y) ' >&2; while :; do sleep 1; done; }}\n{SERVER}"
    );
    let (folder, path) = with_program("npx", &body);
    let args = ["--timeout", "3s", "--connect-timeout", "3s", "--", "npx", "mcp-x"];
    let visit = folder.visit(&args, &[("PATH", &path)]);
    visit.names("waits-for-confirmation", 3, "\"args\": [\"-y\", \"mcp-x\"]");
    assert_eq!(visit.works(), ["with `-y`"]);
}

#[test]
fn a_package_that_is_still_being_installed() {
    let (folder, path) =
        with_program("uvx", "echo 'Downloading numpy (16.0MiB)' >&2; while :; do sleep 1; done");
    let args = ["--timeout", "2s", "--connect-timeout", "2s", "--", "uvx", "mcp-x"];
    let visit = folder.visit(&args, &[("PATH", &path)]);
    visit.names("still-installing", 3, "uvx mcp-x --help");
}

#[test]
fn an_interpreter_that_is_too_old_and_a_newer_one() {
    let (folder, path) = with_program("node", "echo \"SyntaxError: Unexpected token '??='\" >&2; exit 1");
    let newer = folder.script(".nvm/versions/node/v22.0.0/bin/node", SERVER);
    folder.file("server.js", "", 0o644);
    let visit = folder.visit(&["--", "node", "server.js"], &[("PATH", &path)]);
    visit.names("runtime-too-old", 3, &format!("\"command\": \"{newer}\""));
    assert_eq!(visit.works(), [format!("the program at {newer}")]);
}

#[test]
fn a_syntax_error_is_named_by_file_and_line_and_not_blamed_on_the_interpreter() {
    let folder = Folder::new();
    let script = folder.file("server.py", "import sys\ndef answer(\n    return 1\n", 0o644);
    let visit = folder.visit(&["--", "python3", &script], &[]);
    visit.names("syntax-error", 3, &format!("{script}: `"));
    assert!(visit.said["problem"]["summary"].as_str().unwrap().contains(&format!("{script}, line ")));
    // The second line of the fix is a command; it names the same line.
    let check = visit.fix().lines().nth(1).unwrap().to_owned();
    let output = std::process::Command::new("sh").args(["-c", &check]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("SyntaxError"), "{output:?}");
}

#[test]
fn a_syntax_error_of_node_is_named_by_file_and_line() {
    let last = "/srv/x.js:3\nlet a = = 1\n        ^\n\nSyntaxError: Unexpected token '='\n    at wrapSafe\n\nNode.js v22.3.0";
    let (folder, path) = with_program("node", &format!("cat >&2 <<'end'\n{last}\nend\nexit 1"));
    folder.file("x.js", "", 0o644);
    let visit = folder.visit(&["--", "node", "x.js"], &[("PATH", &path)]);
    visit.names("syntax-error", 3, "correct line 3 of /srv/x.js: `let a = = 1`");
}

#[test]
fn syntax_that_is_newer_than_the_interpreter_is_told_with_the_version_it_needs() {
    let last = "  File \"/srv/x.py\", line 3\n    match value:\n          ^\nSyntaxError: invalid syntax";
    let (folder, path) = with_program("python3", &format!("cat >&2 <<'end'\n{last}\nend\nexit 1"));
    folder.file("x.py", "", 0o644);
    let visit = folder.visit(&["--", "python3", "x.py"], &[("PATH", &path)]);
    visit.names("runtime-too-old", 3, "python3 --version    # 3.10 or later is needed");
}

#[test]
fn an_argument_that_the_server_refuses() {
    let visit = about_script(
        "echo 'usage: server [--port N]\nserver: error: unrecognized arguments: --nope' >&2; exit 2",
    );
    visit.names("bad-argument", 3, "correct \"args\"");
    assert!(visit.said["problem"]["summary"].as_str().unwrap().contains("unrecognized arguments: --nope"));
}

#[test]
fn a_directory_that_the_server_cannot_use() {
    let visit =
        about_script("echo \"Error: ENOENT: no such file or directory, stat '/srv/nowhere'\" >&2; exit 1");
    visit.names("file-unusable", 3, "ls -ld /srv/nowhere");
}

#[test]
fn a_credential_that_the_service_refuses() {
    about_script("echo 'Error: Bad credentials' >&2; exit 1").names("credential-refused", 3, "\"env\"");
}

#[test]
fn a_port_that_another_process_has() {
    let visit = about_script("echo 'Error: listen EADDRINUSE: address already in use :::3000' >&2; exit 1");
    visit.names("port-taken", 3, "sport = :3000");
}

#[test]
fn a_process_that_a_signal_ends() {
    let visit = about_script("kill -SEGV $$");
    visit.names("killed-by-signal", 3, "by hand");
    assert!(visit.said["problem"]["summary"].as_str().unwrap().contains("SIGSEGV"));
}

#[test]
fn a_process_that_ends_without_a_word() {
    let visit = about_script("exit 3");
    visit.names("exited-at-start", 3, "by hand");
    assert!(visit.said["problem"]["summary"].as_str().unwrap().contains("status 3"));
}

#[test]
fn a_server_that_needs_a_variable_which_clients_do_not_pass_on() {
    let folder = Folder::new();
    let script = folder.script("server", &format!("[ -n \"$MY_SPECIAL\" ] || exit 1\n{SERVER}"));
    let visit = folder.visit(&["--", &script], &[("MY_SPECIAL", "x")]);
    visit.names("needs-whole-environment", 3, "it needs MY_SPECIAL");
    assert_eq!(visit.works(), ["with the other variables of your shell, secrets left out"]);
}

#[test]
fn k01_a_server_that_fails_is_not_given_the_secrets_of_this_shell() {
    let folder = Folder::new();
    let script = folder.script("server", "env >> seen; exit 1");
    let given = [("MY_API_TOKEN", "canary-1"), ("OTHER", "ghp_canarycanarycanary1"), ("PLAIN", "x")];
    folder.visit(&["--", &script], &given).names("exited-at-start", 3, "by hand");
    let seen = std::fs::read_to_string(folder.path().join("seen")).unwrap();
    assert!(seen.contains("PLAIN=x") && !seen.contains("canary"), "{seen}");
    let script = folder.script("asks", "echo 'MY_API_TOKEN is required' >&2; exit 1");
    let visit = folder.visit(&["--", &script], &given);
    visit.names("variable-missing", 3, "\"env\": { \"MY_API_TOKEN\": \"{env:MY_API_TOKEN}\" }");
}

#[test]
fn a_server_that_needs_the_path_of_this_shell() {
    let folder = Folder::new();
    folder.script("tools/my-helper", "exit 0");
    let script = folder.script("server", &format!("my-helper || exit 1\n{SERVER}"));
    let path = format!("{}/tools:/usr/bin:/bin", folder.path().display());
    let visit = folder.visit(&["--", &script], &[("PATH", &path)]);
    assert_eq!((visit.code, visit.warnings()), (0, vec!["needs-path"]), "{:#}", visit.said);
}

#[test]
fn a_server_that_needs_this_directory() {
    let folder = Folder::new();
    folder.file("data", "", 0o644);
    let script = folder.script("server", &format!("[ -f data ] || exit 1\n{SERVER}"));
    let visit = folder.visit(&["--", &script], &[]);
    assert_eq!((visit.code, visit.warnings()), (0, vec!["needs-working-directory"]), "{:#}", visit.said);
    let fix = visit.said["warnings"][0]["fix"][0].as_str().unwrap();
    assert!(fix.contains(&format!("\"cwd\": \"{}\"", folder.path().display())), "{fix}");
}

#[test]
fn containers_without_a_daemon_and_without_input() {
    let down =
        "echo 'docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.' >&2; exit 125";
    let (folder, path) = with_program("docker", down);
    let visit = folder.visit(&["--", "docker", "run", "-i", "mcp/x"], &[("PATH", &path)]);
    visit.names("docker-not-running", 3, "systemctl start docker");
    let (folder, path) = with_program("docker", &format!("[ \"$2\" = -i ] || exit 0\n{SERVER}"));
    let visit = folder.visit(&["--", "docker", "run", "mcp/x"], &[("PATH", &path)]);
    visit.names("docker-without-input", 3, "\"args\": [\"run\", \"-i\", \"mcp/x\"]");
    assert_eq!(visit.works(), ["with `-i`"]);
}
