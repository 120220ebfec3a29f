//! `prompt-result`: prompts are messages.

use crate::{
    evidence::{Asked, Case},
    outcome::{Level, Skip, Verdict},
    probes::{GET_PROMPTS, GET_PROMPT_STEP, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
    rules::content,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "prompt-result",
    group: Group::Prompts,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "the result of `prompts/get` has `messages`, each with a role and a block of content",
    clause: Clause::of("2025-11-25", "server/prompts", "PromptMessage"),
    why: "Clients put the messages into the conversation; one they cannot read costs the whole prompt.",
    fix: "Return messages with `role` `user` or `assistant` and one `content` object each.",
    needs: &[&LISTS, &GET_PROMPTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for asked in got(case)? {
        let about = format!("prompt {}", asked.variant());
        let messages = asked.result().and_then(|result| result.get("messages")).and_then(Value::as_array);
        let Some(messages) = messages else {
            findings.push(asked.finding("the result has no list `messages`", "/result/messages").about(about));
            continue;
        };
        for (index, message) in messages.iter().enumerate() {
            let at = format!("/result/messages/{index}");
            let role = message.get("role").and_then(Value::as_str);
            if !matches!(role, Some("user" | "assistant")) {
                let text = "the role of a message is neither `user` nor `assistant`";
                findings.push(asked.finding(text, &format!("{at}/role")).about(about.clone()));
            }
            let flaw = match message.get("content") {
                None => Some(("", "a message has no `content`".to_owned())),
                Some(block) => content::flaw(block),
            };
            if let Some((below, text)) = flaw {
                findings.push(asked.finding(text, &format!("{at}/content{below}")).about(about.clone()));
            }
        }
    }
    Ok(findings)
}

fn got<'a>(case: &Case<'a>) -> Result<Vec<Asked<'a>>, Skip> {
    case.needs_capability("prompts")?;
    let got = case.all(&GET_PROMPTS, GET_PROMPT_STEP)?;
    let got: Vec<_> = got.into_iter().filter(|asked| asked.result().is_some_and(is_complete)).collect();
    if got.is_empty() { Err(Skip::not_verified("no prompt could be got with made-up arguments")) } else { Ok(got) }
}

/// Whether it is a prompt and not a question to the user.
fn is_complete(result: &Value) -> bool {
    result.get("resultType").is_none_or(|kind| kind == "complete")
}
