//! `policy test`: compares decisions with a table of expectations.

use super::{
    expectations::{self, Expectation},
    word,
};
use crate::{
    commands::{Context, Ending},
    failure::Failure,
    render::{BAD, safe},
    runtime,
    wire::gateway::Running,
};
use serde::Serialize;
use std::{fmt::Write as _, path::Path, sync::Arc};
use trunkline_config::Loaded;
use trunkline_gateway::policy::timestamp;
use trunkline_secrets::counted;

/// An expectation that was not met.
#[derive(Debug, Serialize)]
struct Miss {
    /// Counted from 1.
    number: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    call: String,
    expected: String,
    found: String,
}

pub(super) fn run(context: &Context, file: &Path, loaded: &Loaded) -> Result<Ending, Failure> {
    let expected = expectations::read(file)?;
    let misses = runtime::start()?.block_on(async {
        let running = Running::for_decisions(loaded, &context.environment).await?;
        let rows = expected.iter().enumerate();
        let misses: Result<Vec<Option<Miss>>, Failure> =
            rows.map(|(at, row)| compare(&running, loaded, (at + 1, row))).collect();
        running.stop().await;
        misses
    })?;
    let misses: Vec<Miss> = misses.into_iter().flatten().collect();
    if context.output.json {
        context.print_json(&serde_json::json!({"expectations": expected.len(), "misses": misses}))?;
    } else {
        context.print(&text(&misses, expected.len(), file))?;
    }
    Ok(if misses.is_empty() { Ending::Fine } else { Ending::Findings })
}

fn compare(
    running: &Arc<Running>,
    loaded: &Loaded,
    (number, row): (usize, &Expectation),
) -> Result<Option<Miss>, Failure> {
    let at = row.at.as_deref().map(|text| {
        let wrong = || {
            Failure::usage(format!("expectation {number}: `at` is not a time such as 2026-11-20T09:00:00Z"))
        };
        timestamp(text).ok_or_else(wrong)
    });
    let wanted = row.wanted();
    let caller = wanted.assumed_caller(&loaded.settings);
    let call = wanted.call(caller);
    let found = running.gateway.access(&call, at.transpose()?);
    let decision = word(found.as_ref().map(|found| &found.access));
    let by = found.map_or_else(|| "no such tool is offered".to_owned(), |found| found.rule);
    let wanted_rule = row.rule.as_ref().map(|rule| format!("rule `{rule}`"));
    let is_rule = wanted_rule.as_ref().is_none_or(|rule| by == *rule || by.starts_with(&format!("{rule} (")));
    if decision == row.decision.as_str() && is_rule {
        return Ok(None);
    }
    let by_rule = wanted_rule.map(|rule| format!(" by {rule}")).unwrap_or_default();
    let arguments = serde_json::Value::from(wanted.arguments.clone());
    Ok(Some(Miss {
        number,
        name: row.name.clone(),
        call: format!("{} for {} with {arguments}", row.tool, call.caller.id),
        expected: format!("{}{by_rule}", row.decision.as_str()),
        found: format!("{decision} by {by}"),
    }))
}

fn text(misses: &[Miss], all: usize, file: &Path) -> String {
    let mut text = String::new();
    for miss in misses {
        let name = miss.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        let line = format!("expectation {}{name}: {}", miss.number, miss.call);
        let (expected, found) = (safe::line(&miss.expected), safe::line(&miss.found));
        writeln!(text, "{}\n  - expected {expected}\n  {BAD}+ decides {found}{BAD:#}", safe::line(&line))
            .expect("a String takes any text");
    }
    let file = safe::line(&file.display().to_string());
    writeln!(text, "{file}: {} met of {}", all - misses.len(), counted(all, "expectation"))
        .expect("a String takes any text");
    text
}
