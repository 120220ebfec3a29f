//! Visits: a third-party client connects to several servers, lists the tools, makes calls, closes,
//! and reports the results.

use crate::{
    cell::{Cell, Client},
    inspector, peers, rust,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{process::Output, time::Duration};
use tokio::{process::Command, time::timeout};

/// Timeout for anything that may hang.
pub(crate) const HANG: Duration = Duration::from_mins(2);
/// The clients' answer to elicitations.
pub(crate) const NAME: &str = "Ada Lovelace";
/// The clients' answer to sampling requests.
pub(crate) const SAMPLE: &str = "a sample of speech";

/// A tool and its arguments.
pub(crate) type Call = (&'static str, Value);

/// The work of a client.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Errand {
    /// A URL, or the command that the client starts.
    pub(crate) target: Vec<String>,
    pub(crate) calls: Vec<Call>,
    /// Resources to read; the Inspector reads none.
    pub(crate) reads: Vec<&'static str>,
    /// Prompts to get, with their arguments; the Inspector gets none.
    pub(crate) prompts: Vec<Call>,
}

/// The report of a client.
#[derive(Debug, Deserialize)]
pub(crate) struct Report {
    pub(crate) revision: String,
    pub(crate) tools: Vec<String>,
    /// The results of the calls as on the wire, as far as the client preserves them.
    pub(crate) results: Vec<Value>,
    #[serde(default)]
    pub(crate) read: Vec<Value>,
    #[serde(default)]
    pub(crate) prompted: Vec<Value>,
    /// The questions that the client answered.
    pub(crate) asked: Vec<String>,
}

/// Returns one report per errand. A client that is a separate program is started only once,
/// because that takes long.
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

/// Runs a program and captures its output.
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
