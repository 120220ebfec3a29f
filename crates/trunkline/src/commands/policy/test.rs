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
    wire::gateway::ByConfiguration,
};
use serde::Serialize;
use serde_json::json;
use std::{collections::BTreeSet, fmt::Write as _, path::Path};
use trunkline_config::Loaded;
use trunkline_gateway::{Gateway, policy::timestamp};
use trunkline_secrets::counted;

/// The result of checking one expectation.
struct Compared {
    miss: Option<Miss>,
    /// The tool, if the list of its server is not known.
    unverified: Option<String>,
}

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
    let compared = runtime::start()?.block_on(async {
        let deciding = ByConfiguration::start(loaded, &context.environment).await?;
        let rows = expected.iter().enumerate();
        let compared: Result<Vec<Compared>, Failure> =
            rows.map(|(at, row)| compare(deciding.gateway(), loaded, (at + 1, row))).collect();
        deciding.stop().await;
        compared
    })?;
    let unverified: BTreeSet<&str> = compared.iter().filter_map(|row| row.unverified.as_deref()).collect();
    let misses: Vec<&Miss> = compared.iter().filter_map(|row| row.miss.as_ref()).collect();
    if context.output.json {
        let page = json!({"expectations": expected.len(), "misses": misses, "unverified": unverified});
        context.print_json(&page)?;
    } else {
        context.print(&text(&misses, &unverified, (expected.len(), file)))?;
    }
    Ok(if misses.is_empty() { Ending::Fine } else { Ending::Findings })
}

fn compare(
    gateway: &Gateway,
    loaded: &Loaded,
    (number, row): (usize, &Expectation),
) -> Result<Compared, Failure> {
    let at = row.at.as_deref().map(|text| {
        let wrong = || {
            Failure::usage(format!("expectation {number}: `at` is not a time such as 2026-11-20T09:00:00Z"))
        };
        timestamp(text).ok_or_else(wrong)
    });
    let wanted = row.wanted();
    let caller = wanted.assumed_caller(&loaded.settings);
    let call = wanted.call(caller);
    let found = gateway.access(&call, at.transpose()?);
    let unverified = found.as_ref().filter(|found| !found.is_listed).map(|_| row.tool.clone());
    let decision = word(found.as_ref().map(|found| &found.access));
    let by = found.map_or_else(|| "no such tool is offered".to_owned(), |found| found.rule);
    let wanted_rule = row.rule.as_ref().map(|rule| format!("rule `{rule}`"));
    let is_rule = wanted_rule.as_ref().is_none_or(|rule| by == *rule || by.starts_with(&format!("{rule} (")));
    if decision == row.decision.as_str() && is_rule {
        return Ok(Compared { miss: None, unverified });
    }
    let by_rule = wanted_rule.map(|rule| format!(" by {rule}")).unwrap_or_default();
    let arguments = serde_json::Value::from(wanted.arguments.clone());
    let miss = Miss {
        number,
        name: row.name.clone(),
        call: format!("{} for {} with {arguments}", row.tool, call.caller.id),
        expected: format!("{}{by_rule}", row.decision.as_str()),
        found: format!("{decision} by {by}"),
    };
    Ok(Compared { miss: Some(miss), unverified })
}

fn text(misses: &[&Miss], unverified: &BTreeSet<&str>, (all, file): (usize, &Path)) -> String {
    let mut text = String::new();
    for miss in misses {
        let name = miss.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        let line = format!("expectation {}{name}: {}", miss.number, miss.call);
        let (expected, found) = (safe::line(&miss.expected), safe::line(&miss.found));
        writeln!(text, "{}\n  - expected {expected}\n  {BAD}+ decides {found}{BAD:#}", safe::line(&line))
            .expect("a String takes any text");
    }
    for tool in unverified {
        let line = format!("{tool}: not verified that it exists; its server is not started here");
        writeln!(text, "{}", safe::line(&line)).expect("a String takes any text");
    }
    let file = safe::line(&file.display().to_string());
    writeln!(text, "{file}: {} met of {}", all - misses.len(), counted(all, "expectation"))
        .expect("a String takes any text");
    text
}
