//! Children end when this process is killed, even after its watchdog was killed.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a helper of a test may stop at the first surprise")]

mod child_support;

use std::{
    io::{BufRead, BufReader, Write as _},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use child_support::{alive, line, sh, start, until_gone};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Longer than anything here takes.
const HANG: Duration = Duration::from_mins(1);

/// Ignores TERM, HUP and INT, and prints the pid of a child.
const STUBBORN: &str = "trap '' TERM HUP INT; sleep 1000 & echo $!; while :; do sleep 1000; done";

/// Not a test: the process that the tests below start and kill. It prints the pids of its two
/// children and of their children, and waits to be killed. It does nothing without a `start` line.
#[tokio::test]
#[ignore = "started by the other tests of this file"]
async fn victim() {
    let mut order = String::new();
    std::io::stdin().lock().read_line(&mut order).unwrap();
    if order != "start\n" {
        return;
    }
    let mut children = Vec::new();
    for _ in 0..2 {
        let (child, mut reader) = start(&sh(STUBBORN));
        println!("pid {}", child.id());
        println!("pid {}", line(&mut reader).await.unwrap());
        children.push((child.process, child.stdin, reader));
    }
    let (gone, _reader) = start(&sh("exit 0"));
    gone.wait().await;
    println!("ready");
    if std::io::stdin().lock().read_line(&mut order).is_ok() && order.ends_with("replace\n") {
        // The exit of this child makes the process check its watchdog.
        let (tick, _reader) = start(&sh("exit 0"));
        tick.wait().await;
        println!("replaced");
    }
    std::future::pending::<()>().await;
}

struct Victim {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
    pids: Vec<i32>,
}

impl Victim {
    fn start() -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "victim", "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut victim = Self { process, output, pids: Vec::new() };
        victim.send_line("start\n");
        victim.read_until("ready");
        assert_eq!(victim.pids.len(), 4);
        for pid in &victim.pids {
            assert!(alive(*pid));
        }
        victim
    }

    fn send_line(&mut self, order: &str) {
        self.process.stdin.as_mut().unwrap().write_all(order.as_bytes()).unwrap();
    }

    fn read_until(&mut self, word: &str) {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "no {word}");
            if let Some(pid) = line.trim_end().split("pid ").nth(1) {
                self.pids.push(pid.parse().unwrap());
            }
            if line.trim_end().ends_with(word) {
                return;
            }
        }
    }

    /// The pid of its watchdog, found by its command line, which is empty for a moment after the
    /// start.
    fn watchdog(&self) -> i32 {
        let began = Instant::now();
        loop {
            match self.watchdogs()[..] {
                [only] => return only,
                ref found => assert!(found.is_empty() && began.elapsed() < HANG, "{found:?}"),
            }
            std::thread::yield_now();
        }
    }

    fn watchdogs(&self) -> Vec<i32> {
        let parent = self.process.id();
        let found = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            let ours = status.lines().any(|line| line == format!("PPid:\t{parent}"));
            (ours && command.ends_with(b"trunkline-watchdog\0")).then_some(pid)
        });
        found.collect()
    }

    async fn kill_and_check(mut self) {
        let watchdog = self.watchdog();
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        for pid in &self.pids {
            until_gone(*pid).await;
        }
        until_gone(watchdog).await;
    }
}

#[tokio::test]
async fn children_and_grandchildren_vanish_when_we_are_killed() {
    Victim::start().kill_and_check().await;
}

#[tokio::test]
async fn the_watchdog_is_deaf_to_polite_signals() {
    let victim = Victim::start();
    let watchdog = Pid::from_raw(victim.watchdog()).unwrap();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        kill_process_group(watchdog, signal).unwrap();
    }
    victim.kill_and_check().await;
}

#[tokio::test]
async fn a_watchdog_that_died_is_replaced_and_knows_the_old_children() {
    let mut victim = Victim::start();
    let first = victim.watchdog();
    kill_process(Pid::from_raw(first).unwrap(), Signal::KILL).unwrap();
    until_gone(first).await;
    victim.send_line("replace\n");
    victim.read_until("replaced");
    assert_ne!(victim.watchdog(), first);
    victim.kill_and_check().await;
}
