//! `prompt`: gets one prompt with its arguments filled in.

use super::{Context, Ending, pairs};
use crate::{
    args::{ConnectionArgs, TargetWords},
    arguments::suggest,
    failure::Failure,
    render::content::Renderer,
    session,
};
use trunkline_client::Client;
use trunkline_protocol::{FaultKind, message::Prompt};

/// Get a prompt with its arguments filled in
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "trunkline prompt [OPTIONS] <TARGET> <PROMPT> [NAME=VALUE]...\n       trunkline prompt [OPTIONS] <PROMPT> [NAME=VALUE]... -- <COMMAND>..."
)]
pub(crate) struct Args {
    /// The server's address or its name in the configuration, the prompt's name, and its arguments
    /// as `name=value`
    #[arg(value_name = "TARGET PROMPT ARGUMENT")]
    words: Vec<String>,
    /// The command that starts the server, instead of TARGET
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Request the prompt without checking the arguments first
    #[arg(long)]
    no_check: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let split = TargetWords { words: &args.words, command: &args.command }.split(&context.environment)?;
    let Some((&name, words)) = split.rest.split_first() else {
        return Err(Failure::usage("there is no prompt to get").hint("`trunkline list … prompts` shows them"));
    };
    let (name, arguments) = (name.to_owned(), pairs(words)?);
    session::with_client(context, split, &args.connection, async |client: &Client| {
        if !args.no_check {
            check(&client.prompts().await?.items, &name, &arguments)?;
        }
        let result = client.prompt(&name, arguments).await.map_err(|fault| {
            let advice = "Check the name and its arguments; `trunkline list … prompts` shows them";
            Failure::from(fault).advise_if_refused(advice)
        })?;
        if context.output.json {
            return context.print_json(&result);
        }
        let mut renderer = Renderer::default();
        renderer.prompt(&result);
        context.print(&renderer.text)
    })
}

fn check(prompts: &[Prompt], name: &str, given: &[(String, String)]) -> Result<(), Failure> {
    let Some(prompt) = prompts.iter().find(|prompt| prompt.name == name) else {
        let text = format!("the server has no prompt named `{name}`");
        let failure = Failure::refused(FaultKind::NotAvailable, text);
        let known = suggest(name, prompts.iter().map(|prompt| prompt.name.as_str()));
        return Err(known
            .iter()
            .fold(failure, |failure, known| failure.hint(format!("did you mean `{known}`?"))));
    };
    let mut faults = Vec::new();
    let takes = || prompt.arguments.iter().flatten();
    for (name, _) in given.iter().filter(|(name, _)| takes().all(|argument| argument.name != *name)) {
        let known = suggest(name, takes().map(|argument| argument.name.as_str()));
        let known = known.map(|known| format!("; did you mean `{known}`?")).unwrap_or_default();
        faults.push(format!("there is no argument `{name}`{known}"));
    }
    let is_given = |name: &str| given.iter().any(|(given, _)| given == name);
    let missing = takes().filter(|argument| argument.required == Some(true) && !is_given(&argument.name));
    faults.extend(missing.map(|argument| format!("missing: `{}`", argument.name)));
    if faults.is_empty() {
        return Ok(());
    }
    let text = format!("`{name}` was not asked for:\n{}", faults.join("\n"));
    Err(Failure::refused(FaultKind::InvalidRequest, text).hint("--no-check requests it anyway"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_arguments_are_checked_with_suggestions() {
        let prompt = r#"{"name":"greet","arguments":[{"name":"who","required":true},{"name":"style"}]}"#;
        let prompts = [serde_json::from_str(prompt).unwrap()];
        let told = |name: &str, words: &[&str]| {
            let failure = check(&prompts, name, &pairs(words).unwrap()).unwrap_err();
            anstream::adapter::strip_str(&failure.to_text()).to_string()
        };
        assert!(check(&prompts, "greet", &pairs(&["who=Ada"]).unwrap()).is_ok());
        assert!(told("great", &[]).contains("did you mean `greet`?"));
        let text = told("greet", &["stile=x"]);
        assert!(
            text.contains("no argument `stile`; did you mean `style`?") && text.contains("missing: `who`"),
            "{text}"
        );
    }
}
