//! `complete`: completions for an argument of a prompt or resource template.

use super::{Context, Ending, pairs};
use crate::{
    args::{ConnectionArgs, TargetWords},
    failure::Failure,
    render::safe,
    session,
};
use trunkline_client::Client;
use trunkline_protocol::{
    Object, Raw,
    message::{
        CompleteParams, CompletionArgument, CompletionContext, PromptReference, Reference, ResourceReference,
    },
};

/// Get completions for an argument of a prompt or resource template
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "trunkline complete [OPTIONS] <TARGET> prompt <PROMPT> <NAME=BEGINNING> [NAME=VALUE]...\n       trunkline complete [OPTIONS] <TARGET> resource <TEMPLATE> <NAME=BEGINNING> [NAME=VALUE]...\n       trunkline complete [OPTIONS] prompt <PROMPT> <NAME=BEGINNING> -- <COMMAND>..."
)]
pub(crate) struct Args {
    /// The server's address or its name in the configuration; `prompt` or `resource`; its name or
    /// URI template; the argument to complete, as `name=prefix`; arguments already known, as
    /// `name=value`
    #[arg(value_name = "TARGET KIND NAME ARGUMENT")]
    words: Vec<String>,
    /// The command that starts the server, instead of TARGET
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let split = TargetWords { words: &args.words, command: &args.command }.split(&context.environment)?;
    let params = params(&split.rest)?;
    session::with_client(context, split, &args.connection, async |client: &Client| {
        let result = client.complete(params).await?;
        if context.output.json {
            return context.print_json(&result);
        }
        let values = &result.completion.values;
        if result.completion.has_more == Some(true) {
            let total =
                result.completion.total.as_ref().map(|total| format!(" of {total}")).unwrap_or_default();
            context.screen.note(&format!("{}{total} values are shown", values.len()));
        }
        context.print(&values.iter().map(|value| safe::line(value) + "\n").collect::<String>())
    })
}

fn params(words: &[&str]) -> Result<CompleteParams, Failure> {
    let [kind, name, arguments @ ..] = words else {
        return Err(Failure::usage("nothing to complete; write `prompt NAME` or `resource TEMPLATE`"));
    };
    let reference: Reference = match *kind {
        "prompt" => PromptReference::new(*name).into(),
        "resource" => ResourceReference::new(*name).into(),
        other => return Err(Failure::usage(format!("`{other}` is neither `prompt` nor `resource`"))),
    };
    let mut arguments = pairs(arguments)?.into_iter();
    let Some((name, value)) = arguments.next() else {
        return Err(Failure::usage("there is no argument to complete; write `name=prefix`"));
    };
    let mut params = CompleteParams::new(reference, CompletionArgument::new(name, value));
    let known: Object = arguments.map(|(name, value)| (name, Raw::string(&value))).collect();
    if !known.is_empty() {
        params.context =
            Some(CompletionContext { arguments: Some(known.to_raw()), ..CompletionContext::default() });
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_argument_is_completed_and_the_others_are_known() {
        let params = params(&["prompt", "p", "city=B", "country=CH"]).unwrap();
        let want = r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"city","value":"B"},"context":{"arguments":{"country":"CH"}}}"#;
        assert_eq!(serde_json::to_string(&params).unwrap(), want);
    }

    #[test]
    fn what_is_missing_is_told() {
        for words in [&["prompt"][..], &["tool", "x", "a=b"], &["prompt", "p"], &["prompt", "p", "a"]] {
            assert!(params(words).is_err(), "{words:?}");
        }
    }
}
