//! The program: missing, in another place, not executable, for another architecture.

use crate::{
    scripts::SERVER,
    visit::{Folder, may_run},
};

#[test]
fn a_server_that_works_passes_every_step() {
    let folder = Folder::new();
    let script = folder.script("server", SERVER);
    let visit = folder.visit(&["--", &script], &[]);
    assert_eq!((visit.code, visit.cause()), (0, "none"), "{:#}", visit.said);
    let steps = visit.said["steps"].as_array().unwrap();
    assert!(steps.iter().all(|step| step["outcome"] == "passed"), "{:#}", visit.said);
    assert!(steps.iter().all(|step| step["millis"].is_number()));
    assert_eq!(visit.said["reached"], "server");
}

#[test]
fn a_program_that_does_not_exist() {
    let visit = Folder::new().visit(&["--", "nosuch-server"], &[]);
    visit.names("program-not-found", 3, "install `nosuch-server`");
    assert!(visit.evidence().contains("/usr/local/bin:/usr/bin:/bin"));
}

#[test]
fn a_program_that_is_being_written() {
    let folder = Folder::new();
    let script = folder.script("server", SERVER);
    let writing = std::fs::OpenOptions::new().append(true).open(&script).unwrap();
    let visit = folder.visit(&["--", &script], &[]);
    drop(writing);
    visit.names("cannot-spawn", 3, "ulimit -a");
    assert!(visit.evidence().contains("Text file busy"), "{:#}", visit.said);
}

#[test]
fn a_program_whose_name_is_mistyped() {
    let folder = Folder::new();
    folder.script("bin/my-server", SERVER);
    let path = format!("{}/bin", folder.path().display());
    let visit = folder.visit(&["--", "my-sever"], &[("PATH", &path)]);
    visit.names("program-not-found", 3, "did you mean `my-server`?");
}

#[test]
fn a_program_outside_the_path_is_found_and_tried() {
    let folder = Folder::new();
    let script = folder.script(".local/bin/my-server", SERVER);
    let visit = folder.visit(&["--", "my-server"], &[]);
    visit.names("program-outside-path", 3, &format!("\"command\": \"{script}\""));
    assert_eq!(visit.works(), [format!("the program at {script}")]);
}

#[test]
fn a_module_is_tried_where_its_program_is_not_installed() {
    let folder = Folder::new();
    let module = r#"
import sys, json
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"error": {"code": -32601, "message": "no"}}
    if asked["method"] == "initialize":
        answer = {"result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "m", "version": "1"}}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"#;
    folder.file("mcp_demo_server.py", module, 0o644);
    let python = "exec python3 \"$@\"";
    let python = folder.script(".local/bin/python3", &python.replace("python3", &system_python()));
    let visit = folder.visit(&["--", "mcp-demo-server"], &[]);
    visit.names(
        "program-outside-path",
        3,
        &format!("\"command\": \"{python}\", \"args\": [\"-m\", \"mcp_demo_server\"]"),
    );
    assert_eq!(visit.works(), ["`python3 -m mcp_demo_server`"]);
}

/// The Python interpreter in the tests' own PATH.
fn system_python() -> String {
    let output =
        std::process::Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    String::from_utf8(output.expect("python3 is there").stdout).expect("a path is text").trim().to_owned()
}

#[test]
fn people_get_steps_cause_evidence_and_fix() {
    let folder = Folder::new();
    let script = folder.script("server", "echo 'Error: API_TOKEN is required' >&2; exit 1");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_trunkline"));
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir(folder.path())
        .args(["doctor", "--", &script]);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "✓ the process starts",
        "✗ the process stays alive",
        "· it speaks JSON-RPC                            not verified",
        "problem[variable-missing]: The server ends because it misses an environment variable",
        "  stderr │ Error: API_TOKEN is required",
        "Fix\n  \"env\": { \"API_TOKEN\": \"…\" }\n",
    ] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_command_in_one_word() {
    let folder = Folder::new();
    let script = folder.script("server.sh", SERVER);
    let visit = folder.visit(&["--", &format!("sh {script}")], &[]);
    visit.names("command-in-one-word", 3, &format!("\"command\": \"sh\", \"args\": [\"{script}\"]"));
    assert_eq!(visit.works(), ["the words by themselves"]);
}

#[test]
fn a_file_that_may_not_be_executed_is_mended_on_request() {
    let folder = Folder::new();
    let script = folder.file("server.sh", format!("#!/bin/sh\n{SERVER}"), 0o644);
    let visit = folder.visit(&["--", &script], &[]);
    visit.names("not-executable", 3, &format!("chmod +x {script}"));
    assert_eq!(visit.works(), ["through /usr/bin/sh"]);
    assert!(!may_run(&script));
    folder.visit(&["--fix", "--", &script], &[]);
    assert!(!may_run(&script), "nothing is changed unasked");
    folder.visit(&["--fix", "--yes", "--", &script], &[]);
    assert!(may_run(&script));
    assert_eq!(folder.visit(&["--", &script], &[]).code, 0);
}

#[test]
fn k02_a_fix_does_not_follow_links() {
    let folder = Folder::new();
    let real = folder.file("real.sh", format!("#!/bin/sh\n{SERVER}"), 0o644);
    let link = folder.path().join("link.sh");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let run = folder.command(&["--fix", "--yes", "--", &link.to_string_lossy()], &[]).output().unwrap();
    assert!(String::from_utf8_lossy(&run.stderr).contains("it is a symbolic link"), "{run:?}");
    assert!(!may_run(&real));
}

#[test]
fn a_directory_is_no_program() {
    let folder = Folder::new();
    folder.visit(&["--", &folder.path().to_string_lossy()], &[]).names(
        "not-executable",
        3,
        "inside that directory",
    );
}

#[test]
fn an_interpreter_that_is_not_there() {
    let folder = Folder::new();
    for line in ["#!/usr/bin/env nosuchlang", "#!/nowhere/python3"] {
        let script = folder.file("server", format!("{line}\n"), 0o755);
        let interpreter = line.rsplit([' ', '!']).next().unwrap();
        folder.visit(&["--", &script], &[]).names(
            "interpreter-missing",
            3,
            &format!("install `{interpreter}`"),
        );
    }
}

#[test]
fn a_script_with_windows_line_endings() {
    let folder = Folder::new();
    let script = folder.file("server.sh", "#!/bin/sh\r\nexit 0\r\n", 0o755);
    folder.visit(&["--", &script], &[]).names("crlf-script", 3, &format!("sed -i 's/\\r$//' {script}"));
    folder.visit(&["--fix", "--yes", "--", &script], &[]);
    assert_eq!(std::fs::read_to_string(&script).unwrap(), "#!/bin/sh\nexit 0\n");
    assert!(may_run(&script));
}

#[test]
fn a_script_without_an_interpreter() {
    let folder = Folder::new();
    let script = folder.file("server.py", "print('hello')\n", 0o755);
    let visit = folder.visit(&["--timeout", "3s", "--", &script], &[]);
    visit.names("no-interpreter-line", 3, &format!("\"command\": \"python3\", \"args\": [\"{script}\"]"));
}

/// An ELF header for a processor, with a loader.
fn elf(machine: u16, loader: &str) -> Vec<u8> {
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    file.extend(2_u16.to_le_bytes());
    file.extend(machine.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    file.extend(0_u64.to_le_bytes());
    file.extend(64_u64.to_le_bytes());
    file.extend(0_u64.to_le_bytes());
    file.extend(0_u32.to_le_bytes());
    for word in [64_u16, 56, 1, 64, 0, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend(3_u32.to_le_bytes());
    file.extend(4_u32.to_le_bytes());
    let length = loader.len() as u64 + 1;
    for long in [120, 0, 0, length, length, 1_u64] {
        file.extend(long.to_le_bytes());
    }
    file.extend(loader.as_bytes());
    file.push(0);
    file
}

const OURS: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
const OTHER: u16 = if cfg!(target_arch = "aarch64") { 62 } else { 183 };

#[test]
fn a_program_for_another_processor() {
    let folder = Folder::new();
    let program = folder.file("server", elf(OTHER, "/lib/ld.so"), 0o755);
    let fix = format!("install the build for {} on {}", std::env::consts::OS, std::env::consts::ARCH);
    folder.visit(&["--", &program], &[]).names("wrong-architecture", 3, &fix);
    let program = folder.file("server.exe", b"MZ\x90\0\x03\0\0\0", 0o755);
    folder.visit(&["--", &program], &[]).names("wrong-architecture", 3, &fix);
}

#[test]
fn a_program_whose_loader_is_missing() {
    let folder = Folder::new();
    let program = folder.file("server", elf(OURS, "/lib/ld-musl-nowhere.so.1"), 0o755);
    folder.visit(&["--", &program], &[]).names("loader-missing", 3, "not linked against musl");
}

#[test]
fn a_working_directory_that_is_missing() {
    let folder = Folder::new();
    let script = folder.script("server", SERVER);
    let visit = folder.visit(&["--cwd", "/nowhere/at/all", "--", &script], &[]);
    visit.names("working-directory-missing", 3, "mkdir -p /nowhere/at/all");
}
