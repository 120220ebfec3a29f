//! `prompt-result-empty`: prompt results are not empty.

use crate::{
    probes::{LISTS, PROMPT_GETS},
    rules::{prelude::*, prompt_gets},
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "prompt-result-empty",
    group: Group::Prompts,
    level: Level::Warning,
    summary: "the result of `prompts/get` has at least one message, with something in it",
    clause: Clause::of("2025-11-25", "server/prompts", "PromptMessage"),
    why: "The user chose a prompt, and nothing happens.",
    fix: "Return the text of the prompt; answer -32602 when an argument makes it impossible.",
    needs: &[&LISTS, &PROMPT_GETS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for asked in got(case)? {
        let messages = asked.result().and_then(|result| result.get("messages")).and_then(Value::as_array);
        let Some(messages) = messages else { continue };
        let blank = |message: &Value| {
            message
                .pointer("/content/text")
                .and_then(Value::as_str)
                .is_some_and(|text| text.trim().is_empty())
        };
        if messages.iter().all(blank) {
            let finding = asked.finding("the prompt has no text", "/result/messages");
            findings.push(finding.about(format!("prompt {}", asked.variant())));
        }
    }
    Ok(findings)
}

fn got<'a>(case: &Case<'a>) -> Result<Vec<Asked<'a>>, Skip> {
    let got = prompt_gets(case)?;
    let got: Vec<_> = got.into_iter().filter(|asked| asked.result().is_some_and(is_complete)).collect();
    if got.is_empty() {
        Err(Skip::not_verified("no prompt could be got with made-up arguments"))
    } else {
        Ok(got)
    }
}

/// True if it is a complete result and not a request for input.
fn is_complete(result: &Value) -> bool {
    result.get("resultType").is_none_or(|kind| kind == "complete")
}
