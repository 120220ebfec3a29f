//! A helper process that ends our children if this process is killed.
//!
//! One `/bin/sh` per process, in its own group and ignoring signals, reads from a pipe that only
//! this process holds: `+PGID` when a group starts, `-PGID` before its leader is reaped. However
//! this process ends, the pipe reaches EOF, and the helper then ends the remaining groups: TERM, a
//! short grace period, KILL. It is started with the first child and replaced if it dies.

use parking_lot::Mutex;
use std::{
    collections::BTreeSet,
    io::{self, Write as _},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::Pid;

use crate::{command::SHELL, supervisor};

/// Minimum time between two starts of the helper, so that one that cannot run is not restarted in
/// a loop.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// Uses standard tools only. Descriptors beyond the first three may be inherited from our own
/// parent and must not stay open. The grace period is 20 × 0.1 s, or less if all groups have
/// ended.
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
    /// The live groups; a new helper gets all of them.
    groups: BTreeSet<i32>,
    /// The helper; its stdin is the pipe.
    helper: Option<Child>,
    started: Option<Instant>,
}

/// Registers the group of `leader`.
pub(crate) fn register(leader: Pid) {
    with(|watchdog| {
        let group = leader.as_raw_nonzero().get();
        watchdog.groups.insert(group);
        if watchdog.helper_runs() {
            watchdog.send_line(&format!("+{group}\n"));
        } else {
            watchdog.start();
        }
    });
}

/// Removes the group of `leader`. Call it before the leader is reaped.
pub(crate) fn unregister(leader: Pid) {
    with(|watchdog| {
        let group = leader.as_raw_nonzero().get();
        watchdog.groups.remove(&group);
        watchdog.send_line(&format!("-{group}\n"));
    });
}

/// Replaces the helper if it has died. Cheap; call it whenever a child process has ended.
pub(crate) fn restart_if_dead() {
    with(|watchdog| {
        if !watchdog.helper_runs() && watchdog.started.is_none_or(|at| at.elapsed() >= RESTART_PAUSE) {
            watchdog.start();
        }
    });
}

fn with(action: impl FnOnce(&mut Watchdog)) {
    action(&mut WATCHDOG.lock());
}

impl Watchdog {
    fn helper_runs(&mut self) -> bool {
        self.helper.as_mut().is_some_and(|helper| matches!(helper.try_wait(), Ok(None)))
    }

    fn send_line(&mut self, line: &str) {
        if let Some(helper) = &mut self.helper
            && let Err(error) = write(helper, line)
        {
            tracing::warn!(%error, "the watchdog process does not read its pipe; replacing it");
            self.helper.take().into_iter().for_each(end);
            self.start();
        }
    }

    fn start(&mut self) {
        self.helper = None;
        if self.groups.is_empty() {
            return;
        }
        self.started = Some(Instant::now());
        match start(&self.groups) {
            Ok(helper) => self.helper = Some(helper),
            Err(error) => {
                tracing::warn!(shell = SHELL, %error, "no watchdog: child processes outlive this process if it is killed");
            }
        }
    }
}

fn start(groups: &BTreeSet<i32>) -> io::Result<Child> {
    let mut children = supervisor::children();
    let mut helper = Command::new(SHELL)
        .args(["-c", SCRIPT, "trunkline-watchdog"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    children.add(helper.id());
    drop(children);
    if let Err(error) = groups.iter().try_for_each(|group| write(&mut helper, &format!("+{group}\n"))) {
        end(helper);
        return Err(error);
    }
    Ok(helper)
}

fn write(helper: &mut Child, line: &str) -> io::Result<()> {
    let pipe = helper.stdin.as_mut().expect("stdin was asked to be piped");
    // A suspended helper must not block us once the pipe is full.
    rustix::io::ioctl_fionbio(&*pipe, true)?;
    pipe.write_all(line.as_bytes())
}

/// Kills the helper before its pipe is closed, because EOF would make it end all groups.
fn end(mut helper: Child) {
    if helper.kill().and_then(|()| helper.wait()).is_err() {
        tracing::warn!("the old watchdog process cannot be killed");
        std::mem::forget(helper.stdin);
    }
}
