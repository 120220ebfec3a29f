//! `list`: what a server offers.

use super::{Context, Ending};
use crate::{
    args::{ConnectionArgs, TargetWords},
    arguments::suggest,
    failure::Failure,
    render::listing::{self, Schemas},
    session,
};
use clap::ValueEnum;
use std::sync::Arc;
use trunkline_client::{Client, Listing, ServerInfo};
use trunkline_protocol::{
    Fault, FaultKind, Object, Raw,
    message::{Prompt, Resource, ResourceTemplate, Tool},
};

/// Show what a server offers: tools, resources, resource templates, prompts
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "trunkline list [OPTIONS] <URL> [KIND]...\n       trunkline list [OPTIONS] [KIND]... -- <COMMAND>..."
)]
pub(crate) struct Args {
    /// The server's address, and what to show: `tools`, `resources`, `templates`, `prompts`
    /// [default: everything]
    #[arg(value_name = "TARGET KIND")]
    words: Vec<String>,
    /// The command that starts the server, instead of an address
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Show the input and output schema of each tool
    #[arg(long)]
    schema: bool,
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

/// The server's lists; `None` for a list that the server does not support.
#[derive(Default)]
struct Found {
    tools: Option<Arc<Listing<Tool>>>,
    resources: Option<Arc<Listing<Resource>>>,
    templates: Option<Arc<Listing<ResourceTemplate>>>,
    prompts: Option<Arc<Listing<Prompt>>>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let kind = |word: &str| Kind::from_str(word, true).ok();
    let words = TargetWords { words: &args.words, command: &args.command };
    let split = words
        .split_known(|word| kind(word).is_some(), &context.environment)
        .map_err(|failure| misspelt(failure, &args.words))?;
    let mut kinds: Vec<Kind> = split.rest.iter().filter_map(|word| kind(word)).collect();
    let everything = kinds.is_empty();
    if everything {
        kinds = Kind::value_variants().to_vec();
    }
    session::with_client(context, split, &args.connection, async |client: &Client| {
        let found = Found::fetch(client, &kinds).await?;
        found.warn(context);
        if context.output.json {
            let all = found
                .to_json(client.server())
                .map_err(|error| Fault::new(FaultKind::BadAnswer, error.to_string()))?;
            return context.print_json(&all.to_raw());
        }
        if !everything {
            found.note_missing(context, &kinds);
        }
        let schemas = if args.schema { Schemas::Show } else { Schemas::Hide };
        let mut text = listing::server(client.server());
        text.push_str(&found.to_text(schemas));
        if let Some(instructions) = client.server().instructions.as_deref().filter(|_| everything) {
            text.push_str(&listing::instructions(instructions));
        }
        context.print(&text)
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

impl Found {
    async fn fetch(client: &Client, kinds: &[Kind]) -> Result<Self, Failure> {
        let mut found = Self::default();
        for kind in kinds {
            match kind {
                Kind::Tools => found.tools = offered(client.tools().await)?,
                Kind::Resources => found.resources = offered(client.resources().await)?,
                Kind::Templates => found.templates = offered(client.resource_templates().await)?,
                Kind::Prompts => found.prompts = offered(client.prompts().await)?,
            }
        }
        Ok(found)
    }

    fn to_text(&self, schemas: Schemas) -> String {
        let mut text = String::new();
        text.extend(self.tools.iter().map(|list| listing::tools(&list.items, schemas)));
        text.extend(self.resources.iter().map(|list| listing::resources(&list.items)));
        text.extend(self.templates.iter().map(|list| listing::templates(&list.items)));
        text.extend(self.prompts.iter().map(|list| listing::prompts(&list.items)));
        text
    }

    /// The items exactly as the server sent them.
    fn to_json(&self, server: &ServerInfo) -> Result<Object, serde_json::Error> {
        let mut all = Object::new();
        all.set("server", server_json(server)?.to_raw());
        let lists = [
            ("tools", self.tools.as_ref().map(|list| Raw::encode(&list.items))),
            ("resources", self.resources.as_ref().map(|list| Raw::encode(&list.items))),
            ("resourceTemplates", self.templates.as_ref().map(|list| Raw::encode(&list.items))),
            ("prompts", self.prompts.as_ref().map(|list| Raw::encode(&list.items))),
        ];
        for (name, items) in lists {
            if let Some(items) = items {
                all.set(name, items?);
            }
        }
        Ok(all)
    }

    fn warn(&self, context: &Context) {
        let lists = [
            ("tools", self.tools.as_ref().map(|list| &list.bad)),
            ("resources", self.resources.as_ref().map(|list| &list.bad)),
            ("resource templates", self.templates.as_ref().map(|list| &list.bad)),
            ("prompts", self.prompts.as_ref().map(|list| &list.bad)),
        ];
        for (name, bad) in lists {
            bad.into_iter().flatten().for_each(|item| context.screen.warn(&format!("{name}: {item}")));
        }
    }

    fn note_missing(&self, context: &Context, kinds: &[Kind]) {
        for kind in kinds {
            let (name, missing) = match kind {
                Kind::Tools => ("tools", self.tools.is_none()),
                Kind::Resources => ("resources", self.resources.is_none()),
                Kind::Templates => ("resource templates", self.templates.is_none()),
                Kind::Prompts => ("prompts", self.prompts.is_none()),
            };
            if missing {
                context.screen.note(&format!("the server does not offer {name}"));
            }
        }
    }
}

/// Turns the error for an unsupported list into `None`.
fn offered<T>(list: Result<T, Fault>) -> Result<Option<T>, Failure> {
    match list {
        Ok(list) => Ok(Some(list)),
        Err(fault) if matches!(fault.kind(), FaultKind::CapabilityMissing | FaultKind::NotAvailable) => {
            Ok(None)
        }
        Err(fault) => Err(fault.into()),
    }
}

fn server_json(server: &ServerInfo) -> Result<Object, serde_json::Error> {
    let mut about = Object::new();
    about.set("name", Raw::encode(&server.name)?);
    about.set("title", Raw::encode(&server.title)?);
    about.set("version", Raw::encode(&server.version)?);
    about.set("revision", Raw::string(server.revision.as_str()));
    about.set("era", Raw::string(&server.era().to_string()));
    about.set("transport", Raw::string(&server.transport.to_string()));
    about.set("capabilities", server.capabilities.clone());
    about.set("instructions", Raw::encode(&server.instructions)?);
    Ok(about)
}
