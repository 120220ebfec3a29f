//! Visits: a foreign client connects to each of some servers, lists the tools, makes calls, closes, and tells what it saw.

use crate::{
    cell::{Cell, Client},
    inspector, peers, rust,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{process::Output, time::Duration};
use tokio::{process::Command, time::timeout};

/// Nothing takes this long; what does, hangs.
pub(crate) const HANG: Duration = Duration::from_mins(2);
/// What clients answer when they are asked.
pub(crate) const NAME: &str = "Ada Lovelace";
/// What their models say, where they have one.
pub(crate) const SAMPLE: &str = "a sample of speech";

/// A tool and its arguments.
pub(crate) type Call = (&'static str, Value);

/// What a client is sent out for.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Errand {
    /// A URL, or the words of the command that the client starts.
    pub(crate) target: Vec<String>,
    pub(crate) calls: Vec<Call>,
    /// Resources to read; the Inspector reads none.
    pub(crate) reads: Vec<&'static str>,
    /// Prompts to get, with their arguments; the Inspector gets none.
    pub(crate) prompts: Vec<Call>,
}

/// What a client saw.
#[derive(Debug, Deserialize)]
pub(crate) struct Report {
    pub(crate) revision: String,
    pub(crate) tools: Vec<String>,
    /// The results of the calls as they were on the wire, as far as the client keeps that.
    pub(crate) results: Vec<Value>,
    #[serde(default)]
    pub(crate) read: Vec<Value>,
    #[serde(default)]
    pub(crate) prompted: Vec<Value>,
    /// The questions that the client answered.
    pub(crate) asked: Vec<String>,
}

/// One report for each errand. A client that is a program of its own is started once, since that is what takes time.
pub(crate) async fn visit(cell: Cell, errands: &[Errand]) -> Vec<Report> {
    let seen = async {
        match cell.client {
            Client::TypeScript1 => script(peers::typescript("1"), cell, errands).await,
            Client::TypeScript2 => script(peers::typescript("2"), cell, errands).await,
            Client::Python => script(peers::python("sdk"), cell, errands).await,
            Client::FastMcp => script(peers::python("fastmcp"), cell, errands).await,
            Client::Rmcp => rust::visit(cell, errands).await,
            Client::Inspector => inspector::visit(cell, errands).await,
        }
    };
    timeout(HANG, seen).await.unwrap_or_else(|_| panic!("{cell:?} hangs"))
}

/// What a program left behind.
pub(crate) async fn output(command: &mut Command) -> Output {
    command.kill_on_drop(true).output().await.unwrap()
}

async fn script(mut command: Command, cell: Cell, errands: &[Errand]) -> Vec<Report> {
    command.args([cell.era_word(), cell.carrier.word(), &json!(errands).to_string()]);
    command.env("ANSWER", json!({ "name": NAME }).to_string()).env("SAMPLE", SAMPLE);
    let output = output(&mut command).await;
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{cell:?}: {}\n{complaint}", output.status);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{cell:?}: {error}\n{complaint}"))
}
