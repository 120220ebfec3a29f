//! `prompt-arguments-optional`: a prompt may be fetched without `arguments`.

use crate::{
    probes::{LISTS, PROMPT_BARE_STEP, PROMPT_GETS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "prompt-arguments-optional",
    group: Group::Prompts,
    level: Level::Warning,
    summary: "a prompt without required arguments can be fetched without `arguments`",
    clause: Clause::of("2025-11-25", "server/prompts", "Getting a Prompt"),
    why: "Clients leave out what is empty; the prompt then fails for some of them only.",
    fix: "Treat absent `arguments` as `{}`.",
    needs: &[&LISTS, &PROMPT_GETS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("prompts")?;
    let all: Vec<_> = case.asked(PROMPT_BARE_STEP).collect();
    if all.is_empty() {
        return Err(Skip::not_verified("no prompt without required arguments was fetched"));
    }
    let failed = all.into_iter().filter(|asked| asked.error().is_some());
    let finding = |asked: Asked<'_>| {
        let message = format!("it fails without `arguments`, with `{{}}` it works: {}", asked.describe());
        asked.finding(message, "").about(format!("prompt {}", asked.variant()))
    };
    Ok(failed.map(finding).collect())
}
