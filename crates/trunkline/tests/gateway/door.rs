//! A running gateway, which is killed at the end of the test.

use crate::{
    processes,
    site::{HANG, PAUSE},
    wire::Wire,
};
use rustix::process::Signal;
use serde_json::Value;
use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, ExitStatus, Stdio},
    time::Instant,
};

pub(crate) struct Door {
    process: Child,
    pub(crate) endpoint: String,
    /// The address and port.
    pub(crate) address: String,
}

impl Door {
    /// Starts a gateway and reads its address from its first line.
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::start_with_errors(command, Stdio::inherit())
    }

    /// Like `start`, with its standard error.
    pub(crate) fn start_with_errors(command: &mut Command, errors: Stdio) -> Self {
        Self::start_with_input(command.stdin(Stdio::null()).stderr(errors))
    }

    /// Like `start`, with the standard input and error that the command has.
    pub(crate) fn start_with_input(command: &mut Command) -> Self {
        command.stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        let endpoint = told["endpoint"].as_str().unwrap().to_owned();
        let address = endpoint.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        Self { process, endpoint, address }
    }

    pub(crate) fn pid(&self) -> i32 {
        self.process.id().try_into().unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        processes::signal(self.pid(), signal);
    }

    /// Waits until the process exits.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            assert!(began.elapsed() < HANG, "the gateway does not end");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Stops it gracefully.
    pub(crate) async fn stop(&mut self) {
        self.signal(Signal::TERM);
        let status = self.ended().await;
        assert_eq!(status.code(), Some(0), "{status}");
    }

    pub(crate) async fn page(&self, path: &str, token: Option<&str>) -> String {
        let mut wire = Wire::open(&self.address).await.unwrap();
        let key = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let answer = wire.send(&format!("GET {path}"), &key, "").await.unwrap();
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.text()
    }

    pub(crate) async fn status(&self) -> Value {
        serde_json::from_str(&self.page("/status", None).await).unwrap()
    }

    /// The status of one server.
    pub(crate) async fn upstream(&self, name: &str) -> Value {
        let status = self.status().await;
        let all = status["upstreams"].as_array().unwrap();
        all.iter().find(|upstream| upstream["name"] == name).cloned().unwrap_or_default()
    }

    /// Waits until the status matches.
    pub(crate) async fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let status = self.status().await;
            if wanted(&status) {
                return status;
            }
            assert!(began.elapsed() < HANG, "{status:#}");
            tokio::time::sleep(PAUSE).await;
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
