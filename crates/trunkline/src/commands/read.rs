//! `read`: one resource.

use super::{Context, Ending};
use crate::{
    args::{ConnectionArgs, TargetWords},
    failure::Failure,
    render::{Out, content::Renderer},
    session,
};
use std::path::PathBuf;
use trunkline_client::Client;

/// Read a resource
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "trunkline read [OPTIONS] <TARGET> <URI>\n       trunkline read [OPTIONS] <URI> -- <COMMAND>..."
)]
pub(crate) struct Args {
    /// The server's address or its name in the configuration, and the URI of the resource
    #[arg(value_name = "TARGET URI")]
    words: Vec<String>,
    /// The command that starts the server, instead of TARGET
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Save the content in this directory, or as this file
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let split = TargetWords { words: &args.words, command: &args.command }.split(&context.environment)?;
    let uri = match split.rest.as_slice() {
        [uri] => (*uri).to_owned(),
        [] => {
            return Err(
                Failure::usage("there is no URI to read").hint("`trunkline list … resources` shows them")
            );
        }
        [_, more, ..] => return Err(Failure::usage(format!("unexpected argument `{more}`"))),
    };
    session::with_client(context, split, &args.connection, async |client: &Client| {
        let result = client.read(&uri).await.map_err(|fault| {
            Failure::from(fault).advise_if_refused("Check the URI; `trunkline list … resources` shows them")
        })?;
        let mut renderer = Renderer::new(args.out.clone().map(Out::new));
        renderer.resource(&result);
        renderer.troubles.iter().for_each(|trouble| context.screen.warn(trouble));
        if context.output.json {
            context.print_json(&result)?;
        } else {
            context.print(&renderer.text)?;
        }
        Ok(if renderer.troubles.is_empty() { Ending::Fine } else { Ending::ToolError })
    })
}
