//! The supervisor itself. It has one thread and blocks all signals once the program runs.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write as _},
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use nix::sys::{
    signal::{SigSet, Signal as Number, raise},
    signalfd::{SfdFlags, SignalFd},
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{
        Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, getppid,
        kill_process_group, pidfd_open, set_child_subreaper, setrlimit, wait,
    },
};

use crate::proc_scan::{self, ProcessSet};

/// Exit status if this process was called in another way than by us.
const MISUSED: u8 = 126;

/// Grace period of the program after the end of our parent. Shorter than that of the watchdog.
const GRACE: Duration = Duration::from_secs(1);

/// Longest wait after SIGKILL; only a process stuck inside the kernel needs more.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// Longest pause between two passes over the remaining processes.
const PASS: Duration = Duration::from_millis(20);

/// Runs a program and kills all its descendants when it ends. `args` are those that
/// [`Command`](crate::Command) gives, without program name and
/// [`SUPERVISE`](crate::SUPERVISE). Exits like the program.
pub fn supervise(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let started = Order::parse(args.into_iter()).and_then(|order| {
        let mut report = order.report().ok()?;
        match start(order) {
            Ok(supervisor) => Some(supervisor),
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or_default();
                // Our parent may have ended.
                write!(report, "{errno}").ok();
                None
            }
        }
    });
    started.map_or(ExitCode::from(MISUSED), Supervisor::run)
}

struct Order {
    parent: Pid,
    /// Descriptor of the pipe for the report.
    descriptor: i32,
    program: OsString,
    arg0: OsString,
    args: Vec<OsString>,
}

struct Supervisor {
    program: Pid,
    parent: Pid,
    /// Readable when our parent has ended.
    parent_ended: OwnedFd,
    signals: SignalFd,
    status: Option<WaitStatus>,
}

impl Order {
    fn parse(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        let number = |text: OsString| text.to_str()?.parse::<i32>().ok();
        Some(Self {
            parent: args.next().and_then(number).and_then(Pid::from_raw)?,
            descriptor: args.next().and_then(number)?,
            program: args.next()?,
            arg0: args.next()?,
            args: args.collect(),
        })
    }

    /// The pipe, opened again so that the program does not inherit it.
    fn report(&self) -> io::Result<File> {
        let report = fs::File::options().write(true).open(format!("/proc/self/fd/{}", self.descriptor))?;
        nix::unistd::close(self.descriptor)?;
        Ok(report)
    }
}

fn start(order: Order) -> io::Result<Supervisor> {
    set_child_subreaper(Some(getpid()))?;
    let parent_ended = pidfd_open(order.parent, PidfdFlags::empty())?;
    if getppid() != Some(order.parent) {
        return Err(io::Error::other("the parent has ended"));
    }
    let mut command = Command::new(order.program);
    command.arg0(order.arg0).args(order.args).process_group(0);
    let child = command.spawn()?;
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let program = id.ok_or_else(|| io::Error::other("the program has no process id"))?;
    // Not before, because the program would inherit the mask. Our parent signals only after it
    // knows that the program has started.
    SigSet::all().thread_block()?;
    let signals = SignalFd::with_flags(&SigSet::all(), SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    // The pipes belong to the program alone, so that their other ends see when it closes them.
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(Supervisor { program, parent: order.parent, parent_ended, signals, status: None })
}

impl Supervisor {
    fn run(mut self) -> ExitCode {
        let mut end: Option<Instant> = None;
        // The program may have ended before signals were blocked.
        self.reap();
        while self.status.is_none() && end.is_none_or(|end| Instant::now() < end) {
            let parent = self.wait_for_event(end);
            if parent && end.is_none() {
                self.forward(Signal::TERM);
                end = Some(Instant::now() + GRACE);
            }
            while let Ok(Some(info)) = self.signals.read_signal() {
                let signal = i32::try_from(info.ssi_signo).ok().and_then(Signal::from_named_raw);
                // Only our parent gives orders, not the program.
                if u32::try_from(self.parent.as_raw_nonzero().get()) != Ok(info.ssi_pid) {
                    continue;
                }
                match signal {
                    Some(Signal::USR1) => end = Some(Instant::now()),
                    Some(signal) => self.forward(signal),
                    None => {}
                }
            }
            self.reap();
        }
        self.end_all();
        self.status.map_or(ExitCode::from(MISUSED), end_like)
    }

    /// Waits for a signal or the end of our parent; true if our parent has ended.
    fn wait_for_event(&self, end: Option<Instant>) -> bool {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let signals = PollFd::new(&self.signals, PollFlags::IN);
        if left.is_some() {
            wait_for(&mut [signals], left);
            return true;
        }
        let mut sources = [signals, PollFd::new(&self.parent_ended, PollFlags::IN)];
        wait_for(&mut sources, None);
        !sources[1].revents().is_empty()
    }

    fn forward(&self, signal: Signal) {
        // The group may have ended.
        kill_process_group(self.program, signal).ok();
    }

    /// Reaps all children that have ended.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == self.program {
                self.status = Some(status);
            }
        }
    }

    /// Kills all descendants. They may start new ones meanwhile, so it repeats until none is left.
    fn end_all(&mut self) {
        let own = getpid().as_raw_nonzero().get();
        let until = Instant::now() + KILL_PATIENCE;
        loop {
            self.reap();
            let mut left = proc_scan::members(Some(getpid()), &ProcessSet::new());
            left.remove(&own);
            if left.is_empty() || Instant::now() >= until {
                return;
            }
            proc_scan::kill(&left);
            wait_for(&mut [PollFd::new(&self.signals, PollFlags::IN)], Some(PASS));
            while let Ok(Some(_)) = self.signals.read_signal() {}
        }
    }
}

fn wait_for(sources: &mut [PollFd<'_>], most: Option<Duration>) {
    let most = most.and_then(|most| Timespec::try_from(most).ok());
    // An error means an early return, which the callers expect.
    poll(sources, most.as_ref()).ok();
}

/// Ends this process as the program has ended.
fn end_like(status: WaitStatus) -> ExitCode {
    let code = |number: i32| ExitCode::from(u8::try_from(number).unwrap_or(u8::MAX));
    let Some(number) = status.terminating_signal() else {
        return status.exit_status().map_or(ExitCode::from(MISUSED), code);
    };
    if let Ok(signal) = Number::try_from(number) {
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        let mut own = SigSet::empty();
        own.add(signal);
        // Otherwise the exit status below says it, as that of a shell does.
        let is_ready = setrlimit(Resource::Core, none).is_ok() && own.thread_unblock().is_ok();
        // The runtime's handler of SIGSEGV and SIGBUS takes the first one and removes itself.
        for _ in 0..usize::from(is_ready) * 2 {
            raise(signal).ok();
        }
    }
    code(128 + number)
}
