//! One run of the load generator `wrk`, which speaks TLS.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::super::configured::HEADER;
use super::Hop;

/// Longest wait for the first answer of a hop.
const START: Duration = Duration::from_secs(20);
/// Pause between two tries to connect.
const PAUSE: Duration = Duration::from_millis(50);

/// The connections of the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connections {
    Kept,
    /// A new one for each call, with a full handshake.
    New,
}

pub(super) struct Wrk<'a> {
    pub(super) program: &'a Path,
    pub(super) libraries: &'a str,
    pub(super) folder: &'a Path,
    pub(super) hop: Hop,
}

impl Wrk<'_> {
    /// Waits until a call is answered.
    pub(super) fn wait_for(&self, url: &str) -> Result<()> {
        let began = Instant::now();
        loop {
            match self.run(url, Connections::Kept, 1) {
                Ok(_) => return Ok(()),
                Err(error) if began.elapsed() > START => {
                    return Err(error.context(format!("{url} gave no right answer")));
                }
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// Calls for some seconds; returns the number of answers, all of which were right.
    pub(super) fn run(&self, url: &str, connections: Connections, seconds: u32) -> Result<u64> {
        let file = self.folder.join("calls.lua");
        fs::write(&file, script(self.hop, connections))?;
        let callers = if connections == Connections::Kept { "32" } else { "8" };
        let mut command = Command::new(self.program);
        command.env("LD_LIBRARY_PATH", self.libraries).args(["-t1", "-c", callers]);
        command.arg(format!("-d{seconds}s")).arg("-s").arg(file).arg(url);
        let output = command.output().context("wrk could not be started")?;
        let text = [output.stdout, output.stderr].concat();
        counted(&String::from_utf8_lossy(&text))
    }
}

/// The calls in the last line of the output, unless some were answered wrongly.
fn counted(output: &str) -> Result<u64> {
    let numbers = output.lines().find_map(|line| line.strip_prefix("calls "));
    let numbers: Vec<u64> = numbers.iter().flat_map(|rest| rest.split(' ')).flat_map(str::parse).collect();
    match numbers[..] {
        [calls, 0] if calls > 0 => Ok(calls),
        [calls, wrong] => bail!("{wrong} of {calls} calls were answered wrongly"),
        _ => bail!("wrk printed no report: {output}"),
    }
}

/// A stateless call of the newest revision.
fn script(hop: Hop, connections: Connections) -> String {
    let tool = if hop == Hop::Trunkline { "bench_echo" } else { "echo" };
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"wrk","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{"text":"hello"}},{meta}}}}}"#
    );
    let (name, key) = HEADER.split_once(": ").unwrap_or_default();
    let close = if connections == Connections::New { "wrk.headers['Connection'] = 'close'\n" } else { "" };
    format!(
        "wrk.method = 'POST'\nwrk.body = '{body}'\n\
         wrk.headers['{name}'] = '{key}'\n\
         wrk.headers['Content-Type'] = 'application/json'\n\
         wrk.headers['Accept'] = 'application/json, text/event-stream'\n\
         wrk.headers['MCP-Protocol-Version'] = '2026-07-28'\n\
         wrk.headers['Mcp-Method'] = 'tools/call'\n\
         wrk.headers['Mcp-Name'] = '{tool}'\n{close}\
         local threads = {{}}\n\
         function setup(thread) table.insert(threads, thread) end\n\
         function init() wrong = 0 end\n\
         function response(status, headers, body)\n  \
           if status ~= 200 or not string.find(body, '\"content\"', 1, true) then wrong = wrong + 1 end\n\
         end\n\
         function done(summary)\n  \
           local errors = summary.errors\n  \
           local all = errors.connect + errors.read + errors.write + errors.timeout\n  \
           for _, thread in ipairs(threads) do all = all + thread:get('wrong') end\n  \
           print(string.format('calls %d %d', summary.requests, all))\n\
         end\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_wrong_answers_does_not_count() {
        assert_eq!(counted("Running 1s test\ncalls 1200 0\n").unwrap(), 1200);
        assert!(counted("calls 1200 3\n").unwrap_err().to_string().contains("3 of 1200"));
        assert!(counted("calls 0 0\n").is_err() && counted("unable to connect\n").is_err());
    }
}
