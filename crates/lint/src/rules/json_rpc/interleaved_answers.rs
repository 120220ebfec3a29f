//! `interleaved-answers`: many requests at once are each answered once.

use crate::{
    probes::{INTERLEAVED, INTERLEAVED_STEP},
    rules::prelude::*,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static RULE: Rule = Rule {
    name: "interleaved-answers",
    group: Group::JsonRpc,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "requests in flight together are each answered exactly once, with their own answer",
    clause: Clause::of("2026-07-28", "basic", "Responses"),
    why: "Agents call tools in parallel. A lost answer hangs a call, a second one is taken for somebody else's.",
    fix: "Keep the id with each request while it is worked on, and write whole messages under one lock.",
    needs: &[&INTERLEAVED],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let all = case.all(&INTERLEAVED, INTERLEAVED_STEP)?;
    // A method that is not answered alone either has another problem.
    let answered: BTreeSet<_> = all.iter().filter(|asked| asked.answer().is_some()).map(method).collect();
    let lost: Vec<_> =
        all.iter().filter(|asked| asked.answer().is_none() && answered.contains(&method(asked))).collect();
    let mut findings = Vec::new();
    if let Some(first) = lost.first() {
        let message = format!("{} of {} requests sent together got no answer", lost.len(), all.len());
        findings.push(first.finding(message, ""));
    }
    let swapped = |asked: &&Asked<'_>| {
        let list = method(asked) == Some("tools/list");
        asked.result().is_some_and(|result| result.get("tools").is_some() != list)
    };
    if let Some(swapped) = all.iter().find(swapped) {
        findings.push(
            swapped
                .finding("the answer is that of another request which was sent together with it", "/result"),
        );
    }
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    for frame in &all[0].line().frames {
        let id = frame.json().filter(|it| it.get("method").is_none()).and_then(|it| it.get("id"));
        if frame.direction != crate::evidence::Direction::Sent
            && let Some(Value::Number(id)) = id
        {
            *answers.entry(id.to_string()).or_default() += 1;
        }
    }
    if let Some(twice) = all.iter().find(|asked| answers.get(asked.variant()).is_some_and(|count| *count > 1))
    {
        let message =
            format!("the request {} was answered {} times", twice.variant(), answers[twice.variant()]);
        findings.push(twice.finding(message, "/id"));
    }
    Ok(findings)
}

fn method<'a>(asked: &Asked<'a>) -> Option<&'a str> {
    asked.sent()?.json()?.get("method")?.as_str()
}
