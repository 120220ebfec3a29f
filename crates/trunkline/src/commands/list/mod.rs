//! `list`: what a server offers, or which servers are configured.

mod cost;
mod lists;
mod overview;

use super::{Context, Ending, status::command_for};
use crate::{
    args::{ConnectionArgs, TargetWords, parse_duration},
    arguments::suggest,
    failure::Failure,
    render::listing::{self, Schemas},
    session,
};
use clap::ValueEnum;
use lists::Lists;
use std::time::Duration;
use trunkline_client::Client;
use trunkline_protocol::{Fault, FaultKind};

/// Show what a server offers: tools, resources, resource templates, prompts
///
/// Without a target, shows the configured servers and whether they can be reached. A list that
/// fails hides no other. Exit status: 1 if the tools, a list that was asked for, or a configured
/// server failed.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "trunkline list [OPTIONS] [TARGET] [KIND]...\n       trunkline list [OPTIONS] [KIND]... [--] <COMMAND>..."
)]
pub(crate) struct Args {
    /// The server's address or its name in the configuration, and what to show: `tools`,
    /// `resources`, `templates`, `prompts` [default: everything]
    #[arg(value_name = "TARGET KIND")]
    words: Vec<String>,
    /// The command that starts the server, instead of TARGET
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Show the input and output schema of each tool
    #[arg(long)]
    schema: bool,
    /// Show the token cost of each tool (estimated as bytes / 4), most expensive first
    #[arg(long)]
    cost: bool,
    /// Wait until all servers behind a gateway have started, at most 60 s or the given time:
    /// `--wait=30s`
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true,
        default_missing_value = "60s", value_parser = parse_duration)]
    wait: Option<Duration>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resource templates",
            Self::Prompts => "prompts",
        }
    }

    /// The name of the list in JSON.
    fn member(self) -> &'static str {
        match self {
            Self::Templates => "resourceTemplates",
            other => other.name(),
        }
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    if args.words.is_empty() && args.command.is_empty() {
        return overview::run(context, args);
    }
    let kind = |word: &str| Kind::from_str(word, true).ok();
    let words = TargetWords { words: &args.words, command: &args.command };
    let split = words
        .split_known(|word| kind(word).is_some(), &context.environment)
        .map_err(|failure| misspelt(failure, &args.words))?;
    let asked: Vec<Kind> = split.rest.iter().filter_map(|word| kind(word)).collect();
    let status = command_for(&split.target);
    session::with_client(context, split, &args.connection, async |client: &Client| {
        let lists = Lists::fetch(client, &asked, args.wait).await;
        lists.warn(&context.screen, &status);
        if args.cost {
            cost::show(context, lists.tools())?;
        } else if context.output.json {
            let all = lists
                .to_json(client.server())
                .map_err(|error| Fault::new(FaultKind::BadAnswer, error.to_string()))?;
            context.print_json(&all.to_raw())?;
        } else {
            let schemas = if args.schema { Schemas::Show } else { Schemas::Hide };
            let mut text = listing::server(client.server());
            text.push_str(&lists.to_text(schemas));
            if let Some(instructions) = client.server().instructions.as_deref().filter(|_| asked.is_empty()) {
                text.push_str(&listing::instructions(instructions));
            }
            context.print(&text)?;
        }
        lists.verdict(&context.screen, &asked).map(|()| Ending::Fine)
    })
}

/// Adds a hint naming the kind that one of the words resembles.
fn misspelt(failure: Failure, words: &[String]) -> Failure {
    let kinds = ["tools", "resources", "templates", "prompts"];
    let near = |word: &String| if word.contains("://") { None } else { suggest(word, kinds) };
    match words.iter().filter(|word| !kinds.contains(&word.as_str())).find_map(near) {
        Some(known) => failure.hint(format!("did you mean `{known}`?")),
        None => failure,
    }
}
