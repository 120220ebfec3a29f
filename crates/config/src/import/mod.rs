//! Imports the configuration files of other clients.
//!
//! `readers` converts the keys of each client, `words` converts variables to our syntax, `secrets`
//! replaces literal secrets by references, a [`Plan`] decides what happens to each server, and
//! [`insert`] adds the new ones to our file. Nothing is written to disk here.

mod client;
mod client_keys;
mod draft;
mod edit;
mod install;
mod name;
mod plan;
mod readers;
mod secrets;
mod words;

use crate::{
    jsonc,
    problem::{Code, Problem},
    source::{Layer, Sources},
};
use serde_json::Value;
use std::path::Path;

pub use client::{Client, ClientFile, Machine, Scope, UnknownClient};
pub use edit::insert;
pub use install::{Connection, NotInstalled, OUR_NAME};
pub(crate) use name::legal_name;
pub use plan::{Found, Outcome, Plan, Planned, SecretFile, plan};
pub use secrets::SecretFound;

/// The servers in a client's file. `directory` is the current project, for clients that keep the
/// servers of several projects in one file.
pub fn read(file: &ClientFile, text: &str, directory: &Path) -> Result<Vec<Found>, Vec<Problem>> {
    let document = document(file, text)?;
    let found = |(theirs, draft)| Found { file: file.clone(), theirs, draft };
    Ok(readers::servers(file, &document, directory).into_iter().map(found).collect())
}

fn document(file: &ClientFile, text: &str) -> Result<Value, Vec<Problem>> {
    let mut sources = Sources::new("");
    let number = sources.file(Layer::User, &file.path, text);
    if file.client == Client::Codex {
        return toml::from_str(text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let place = jsonc::Place { source: number, start: byte(span.start), end: byte(span.end) };
            vec![sources.problem(Code::Syntax, place, "", error.message())]
        });
    }
    let told = |error: jsonc::SyntaxError| sources.problem(Code::Syntax, error.place, "", error.reason);
    jsonc::parse(text, number)
        .map(|tree| tree.to_json())
        .map_err(|errors| errors.into_iter().map(told).collect())
}
