//! Runs programs: in the foreground with their output passed through, or with a timeout and their
//! output in a file.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};

/// The end of a program with a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Exited(ExitStatus),
    OutOfTime,
}

/// The processes that are killed at the end of a program with a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Only the program; it shares our process group, so Ctrl-C reaches it.
    Program,
    /// The program and all its descendants, by its own process group.
    Group,
}

/// Runs a program that inherits our output; returns an error unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    let status = command.status().map_err(|error| cannot_start(&shown, &error))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// Runs a program; each line of its output is forwarded and passed to `see`.
pub(crate) fn run_watching(command: &mut Command, mut see: impl FnMut(&str)) -> Result<ExitStatus> {
    let shown = shown(command);
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| cannot_start(&shown, &error))?;
    let output = child.stdout.take().expect("stdout was asked for as a pipe");
    for line in BufReader::new(output).split(b'\n') {
        let line = line.with_context(|| format!("the output of `{shown}` could not be read"))?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        see(&line);
    }
    child.wait().with_context(|| format!("`{shown}` could not be waited for"))
}

/// Runs a program for at most `limit`, without input; its output and errors go to the file `log`.
pub(crate) fn run_bounded(
    command: &mut Command,
    log: &Path,
    limit: Duration,
    scope: Scope,
) -> Result<Ending> {
    let output = create(log)?;
    command.stderr(output.try_clone()?).stdout(output);
    bounded(command, limit, scope)
}

/// Runs a program and its descendants for at most `limit`, without input; its output and errors go
/// to two files.
pub(crate) fn run_apart(command: &mut Command, out: &Path, err: &Path, limit: Duration) -> Result<Ending> {
    command.stdout(create(out)?).stderr(create(err)?);
    bounded(command, limit, Scope::Group)
}

fn create(file: &Path) -> Result<File> {
    File::create(file).with_context(|| format!("{} could not be created", file.display()))
}

fn bounded(command: &mut Command, limit: Duration, scope: Scope) -> Result<Ending> {
    let shown = shown(command);
    command.stdin(Stdio::null());
    if scope == Scope::Group {
        command.process_group(0);
    }
    let child = command.spawn().map_err(|error| cannot_start(&shown, &error))?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| anyhow!("`{shown}` got an impossible process id"))?;
    wait(child, pid, limit, scope).with_context(|| format!("`{shown}` could not be waited for"))
}

/// The program and its arguments, for messages.
pub(crate) fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(|word| word.to_string_lossy()));
    if let Some(name) = Path::new(words[0].as_ref()).file_name() {
        words[0] = name.to_string_lossy().into_owned().into();
    }
    words.join(" ")
}

fn wait(mut child: Child, pid: Pid, limit: Duration, scope: Scope) -> io::Result<Ending> {
    let (done, ended) = mpsc::channel();
    // The waiter thread owns the child, so the process id cannot be reused before it reports.
    let waiter = thread::spawn(move || {
        let status = child.wait();
        // The receiver is gone after a timeout.
        drop(done.send(status));
    });
    let ending = match ended.recv_timeout(limit) {
        Ok(status) => Ending::Exited(status?),
        Err(_) => Ending::OutOfTime,
    };
    match scope {
        // A group may outlive its leader, so it is killed in any case.
        Scope::Group => unless_gone(rustix::process::kill_process_group(pid, Signal::KILL))?,
        Scope::Program if ending == Ending::OutOfTime => {
            unless_gone(rustix::process::kill_process(pid, Signal::KILL))?;
        }
        Scope::Program => {}
    }
    waiter.join().map_err(|_| io::Error::other("the waiting thread panicked"))?;
    Ok(ending)
}

/// Treats a process that has exited, or is about to, as killed.
fn unless_gone(result: Result<(), Errno>) -> io::Result<()> {
    match result {
        Ok(()) | Err(Errno::SRCH | Errno::PERM) => Ok(()),
        Err(other) => Err(other.into()),
    }
}

fn cannot_start(shown: &str, error: &io::Error) -> anyhow::Error {
    anyhow!("`{shown}` could not be started: {error}")
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Read;

    use super::*;

    const SHORT: Duration = Duration::from_millis(200);
    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn a_program_out_of_time_is_ended_with_what_it_started() {
        assert_eq!(run_with_grandchild("wait", SHORT), Ending::OutOfTime);
    }

    #[test]
    fn what_a_program_left_behind_is_ended_too() {
        let ending = run_with_grandchild("exit 3", LONG);
        assert!(matches!(ending, Ending::Exited(status) if status.code() == Some(3)));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&mut Command::new("/nowhere/no-such-program")).unwrap_err();
        assert!(error.to_string().starts_with("`no-such-program` could not be started"), "{error}");
    }

    #[test]
    fn every_line_is_seen() {
        let mut seen = Vec::new();
        let mut printf = Command::new("printf");
        printf.arg("one\\ntwo");
        let status = run_watching(&mut printf, |line| seen.push(line.to_owned())).unwrap();
        assert!(status.success());
        assert_eq!(seen, ["one", "two"]);
    }

    /// Runs a shell that starts a long sleep and then does `ending`; returns once the sleep is
    /// dead as well. Both hold a named pipe open, so its reader sees EOF when the last of them has
    /// exited.
    fn run_with_grandchild(ending: &str, limit: Duration) -> Ending {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("alive");
        run(Command::new("mkfifo").arg(&pipe)).unwrap();
        let (done, gone) = mpsc::channel();
        let reader = pipe.clone();
        thread::spawn(move || {
            let read = File::open(reader).and_then(|mut pipe| pipe.read_to_end(&mut Vec::new()));
            done.send(read).unwrap();
        });
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec 3>\"$0\"; sleep 300 & {ending}")]).arg(&pipe);
        let ending = run_bounded(&mut shell, &folder.path().join("log"), limit, Scope::Group).unwrap();
        // Unblocks the reader if the shell was killed before it opened the pipe.
        drop(OpenOptions::new().read(true).write(true).open(&pipe).unwrap());
        gone.recv_timeout(LONG).expect("the sleep outlived its group").unwrap();
        ending
    }
}
