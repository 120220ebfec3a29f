//! A visit: a foreign client connects, lists the tools, makes calls, closes, and tells what it saw.

use crate::{
    cell::{Cell, Client},
    inspector, peers, rust,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{process::Output, time::Duration};
use tokio::{process::Command, time::timeout};

/// Nothing takes this long; what does, hangs.
pub(crate) const HANG: Duration = Duration::from_mins(2);
/// What clients answer when they are asked.
pub(crate) const NAME: &str = "Ada Lovelace";

/// A tool and its arguments.
pub(crate) type Call = (&'static str, Value);

/// What a client saw.
#[derive(Debug, Deserialize)]
pub(crate) struct Report {
    pub(crate) revision: String,
    pub(crate) tools: Vec<String>,
    /// The results of the calls as they were on the wire, as far as the client keeps that.
    pub(crate) results: Vec<Value>,
    /// The questions that the client answered.
    pub(crate) asked: Vec<String>,
}

pub(crate) async fn visit(cell: Cell, target: &[String], calls: &[Call]) -> Report {
    let seen = async {
        match cell.client {
            Client::TypeScript1 => script(peers::typescript("1"), cell, target, calls).await,
            Client::TypeScript2 => script(peers::typescript("2"), cell, target, calls).await,
            Client::Python => script(peers::python("sdk"), cell, target, calls).await,
            Client::FastMcp => script(peers::python("fastmcp"), cell, target, calls).await,
            Client::Rmcp => rust::visit(cell, target, calls).await,
            Client::Inspector => inspector::visit(cell, target, calls).await,
        }
    };
    timeout(HANG, seen).await.unwrap_or_else(|_| panic!("{cell:?} hangs"))
}

/// What a program left behind.
pub(crate) async fn output(command: &mut Command) -> Output {
    command.kill_on_drop(true).output().await.unwrap()
}

async fn script(mut command: Command, cell: Cell, target: &[String], calls: &[Call]) -> Report {
    command.args([cell.era_word(), cell.carrier.word(), &json!(calls).to_string()]).args(target);
    command.env("ANSWER", json!({ "name": NAME }).to_string());
    let output = output(&mut command).await;
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{cell:?}: {}\n{complaint}", output.status);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{cell:?}: {error}\n{complaint}"))
}
