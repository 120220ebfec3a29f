//! Runs the binary and captures its result.

use std::{
    fmt, fs,
    io::Write,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The frames that the scripted server received.
    pub(crate) log: String,
}

/// The binary with only PATH and the given variables in its environment, and without the keychain
/// of this user.
pub(crate) fn trunkline(variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    let path = option_env!("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
    command.env_clear().env("PATH", path).env("TRUNKLINE_KEYCHAIN", "off").envs(variables.iter().copied());
    command
}

/// The command that starts the scripted server.
pub(crate) fn server() -> [String; 2] {
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "scripted_server.py"].iter().collect();
    ["python3".to_owned(), script.to_string_lossy().into_owned()]
}

/// Runs a command against the scripted server.
pub(crate) fn scripted(args: &[&str], variables: &[(&str, &str)]) -> Run {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = folder.path().join("log");
    let mut command = trunkline(variables);
    command.args(args).arg("--env").arg(format!("SERVER_LOG={}", log.display())).arg("--").args(server());
    let mut run = Run::of(&mut command, "");
    run.log = fs::read_to_string(log).unwrap_or_default();
    run
}

impl Run {
    pub(crate) fn of(command: &mut Command, input: &str) -> Self {
        let piped = || Stdio::piped();
        let mut child =
            command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("the input is piped");
        // A program that needs no input may have exited already.
        stdin.write_all(input.as_bytes()).unwrap_or_default();
        drop(stdin);
        Self::of_child(child)
    }

    /// The result of a program that runs already.
    pub(crate) fn of_child(child: Child) -> Self {
        let output = child.wait_with_output().expect("the binary ends");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("all output is text");
        let code = output.status.code().unwrap_or(-1);
        Self { code, stdout: text(output.stdout), stderr: text(output.stderr), log: String::new() }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit {}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}
