//! A helper process that ends our children if this process is killed.
//!
//! One `/bin/sh` per process, in a group of its own and deaf to signals, reads from a pipe that only this
//! process holds: `+PGID` when a group starts, `-PGID` before its leader is reaped. However this process ends, the
//! pipe ends with it, and the helper then ends the groups that remain: TERM, a short grace, KILL.
//! It is started with the first child and replaced if it dies.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::{self, Write as _},
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rustix::process::Pid;

/// Shell of the helper; POSIX has it at this path on every system we run on.
const SHELL: &str = "/bin/sh";

/// The end of a helper replaces it, and a helper that cannot live must not be replaced in a loop.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// Standard tools only. Descriptors beyond the first three may have been inherited from our own parent and
/// must not be held. The grace is 20 × 0.1 s, or less if all groups are gone.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT PIPE ALRM TERM USR1 USR2 TSTP TTIN TTOU
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
groups=' '
while read -r line; do
  group=${line#?}
  case $line in
    +*) groups="$groups$group " ;;
    -*) case $groups in *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -TERM "-$group"; done
left=20
while [ "$left" -gt 0 ]; do
  alive=
  for group in $groups; do kill -0 "-$group" && alive=yes; done
  [ -n "$alive" ] || exit 0
  sleep 0.1 || sleep 1
  left=$((left - 1))
done
for group in $groups; do kill -KILL "-$group"; done
"#;

static WATCHDOG: Mutex<Watchdog> =
    Mutex::new(Watchdog { groups: BTreeSet::new(), helper: None, started: None });

struct Watchdog {
    /// The groups that live now; a new helper is told all of them.
    groups: BTreeSet<i32>,
    helper: Option<Helper>,
    started: Option<Instant>,
}

struct Helper {
    process: Child,
    pipe: ChildStdin,
}

/// Puts the group of `leader` under guard.
pub(super) fn guard(leader: Pid) {
    with(|watchdog| {
        let group = leader.as_raw_nonzero().get();
        watchdog.groups.insert(group);
        if watchdog.helper_is_gone() {
            watchdog.start();
        } else {
            watchdog.tell(&format!("+{group}\n"));
        }
    });
}

/// Takes the group of `leader` out of guard. To be called before the leader is reaped.
pub(super) fn release(leader: Pid) {
    with(|watchdog| {
        let group = leader.as_raw_nonzero().get();
        watchdog.groups.remove(&group);
        watchdog.tell(&format!("-{group}\n"));
    });
}

/// Replaces the helper if it has died. Cheap; to be called whenever some child process has ended.
pub(super) fn tend() {
    with(|watchdog| {
        if watchdog.helper_is_gone() && watchdog.started.is_none_or(|at| at.elapsed() >= RESTART_PAUSE) {
            watchdog.start();
        }
    });
}

fn with(action: impl FnOnce(&mut Watchdog)) {
    action(&mut WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner));
}

impl Watchdog {
    fn tell(&mut self, line: &str) {
        if let Some(helper) = &mut self.helper
            && let Err(error) = helper.pipe.write_all(line.as_bytes())
        {
            tracing::warn!(%error, "the watchdog process does not listen; replacing it");
            self.discard();
            self.start();
        }
    }

    fn helper_is_gone(&mut self) -> bool {
        !self.helper.as_mut().is_some_and(|helper| matches!(helper.process.try_wait(), Ok(None)))
    }

    fn discard(&mut self) {
        if let Some(helper) = self.helper.take() {
            helper.end();
        }
    }

    fn start(&mut self) {
        self.helper = None;
        if self.groups.is_empty() {
            return;
        }
        self.started = Some(Instant::now());
        match Helper::start(&self.groups) {
            Ok(helper) => self.helper = Some(helper),
            Err(error) => {
                tracing::warn!(shell = SHELL, %error, "no watchdog: servers outlive this process if it is killed");
            }
        }
    }
}

impl Helper {
    fn start(groups: &BTreeSet<i32>) -> io::Result<Self> {
        let mut process = Command::new(SHELL)
            .args(["-c", SCRIPT, "trunkline-watchdog"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let pipe = process.stdin.take().expect("stdin was asked to be piped");
        let mut helper = Self { process, pipe };
        match helper.instruct(groups) {
            Ok(()) => Ok(helper),
            Err(error) => {
                helper.end();
                Err(error)
            }
        }
    }

    fn instruct(&mut self, groups: &BTreeSet<i32>) -> io::Result<()> {
        // A helper that someone has stopped must not stop us once the pipe is full.
        rustix::io::ioctl_fionbio(&self.pipe, true)?;
        let mut lines = String::new();
        for group in groups {
            writeln!(lines, "+{group}").expect("writing to a string cannot fail");
        }
        self.pipe.write_all(lines.as_bytes())
    }

    /// A helper that still runs would take the end of its pipe for ours, so it has to go first.
    fn end(mut self) {
        if self.process.kill().and_then(|()| self.process.wait()).is_err() {
            tracing::warn!("the old watchdog process cannot be ended");
            std::mem::forget(self.pipe);
        }
    }
}
