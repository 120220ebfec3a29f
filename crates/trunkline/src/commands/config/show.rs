//! `config show`: the effective settings, and the file, variable or flag that set each one.

use crate::{
    commands::{Context, Ending},
    failure::Failure,
    render::{FAINT, NAME, problems, safe},
    wire::settings,
};
use serde_json::{Value, json};
use std::{fmt::Write as _, path::PathBuf};
use trunkline_config::{Layer, Loaded, Secret, Shown};

/// Show the effective settings, and where each value comes from
///
/// Secrets are not shown: references are printed as written, never their values, and literal
/// secrets are masked.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Read this file instead of the nearest `trunkline.json` in the current directory or above
    /// it; your own file still counts
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Also show built-in defaults
    #[arg(long)]
    all: bool,
    /// Show only keys with this prefix, such as `mcp.servers.github`
    key: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let loaded = match settings::read(&context.environment, args.config.as_deref(), Vec::new())? {
        Ok(loaded) => loaded,
        Err(rejected) => {
            context.screen.tell(&problems::text(&rejected.problems, &rejected.sources));
            return Err(
                Failure::usage("the configuration cannot be used").hint("see `trunkline config check`")
            );
        }
    };
    let wanted = |shown: &&Shown| {
        let asked = args.key.as_deref().is_none_or(|key| is_below(&shown.key, key));
        asked && (args.all || args.key.is_some() || shown.origin.layer != Layer::BuiltIn)
    };
    let values: Vec<&Shown> = loaded.shown.iter().filter(wanted).collect();
    if context.output.json {
        let (files, waiting) = (&loaded.read, &loaded.waiting);
        let mut settings = json!(loaded.settings);
        as_written(&mut settings, &loaded.references);
        let whole = json!({"files": files, "values": values, "settings": settings, "waiting": waiting});
        return context.print_json(&whole);
    }
    context.print(&text(&values, &loaded, args))
}

/// Replaces the values of references by the references.
fn as_written(value: &mut Value, references: &[Secret]) {
    match value {
        Value::String(text) => {
            if let Some(reference) = references.iter().find(|reference| reference.expose() == text) {
                reference.shown().clone_into(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| as_written(item, references)),
        Value::Object(members) => {
            members.values_mut().for_each(|member| as_written(member, references));
        }
        _ => {}
    }
}

fn is_below(key: &str, wanted: &str) -> bool {
    key.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn text(values: &[&Shown], loaded: &Loaded, args: &Args) -> String {
    let mut out = String::new();
    for shown in values {
        let value = safe::line(&shown.value.to_string());
        let origin = match shown.origin.position {
            Some(at) => format!("{}:{}:{}", shown.origin.file, at.line, at.column),
            None => shown.origin.file.clone(),
        };
        let (key, origin) = (safe::line(&shown.key), safe::line(&origin));
        writeln!(
            out,
            "{NAME}{key}{NAME:#} = {value}\n    {FAINT}{}: {origin}{FAINT:#}",
            shown.origin.layer.name()
        )
        .expect("a String takes any text");
    }
    if values.is_empty() {
        out.push_str("nothing is set\n");
    }
    let built_in = loaded.shown.iter().filter(|shown| shown.origin.layer == Layer::BuiltIn).count();
    if !args.all && args.key.is_none() {
        writeln!(out, "\n{built_in} more values are built in; --all shows them")
            .expect("a String takes any text");
    }
    out
}
