//! `list --cost`: the tokens that each tool costs a model.

use crate::{commands::Context, failure::Failure, render::table};
use serde_json::{Value, json};
use trunkline_gateway::disclosure::tokens;
use trunkline_protocol::{Raw, message::Tool};
use trunkline_secrets::counted;

/// The estimated tokens of these tools.
pub(super) fn of_all(tools: &[Tool]) -> usize {
    tools.iter().map(of_one).sum()
}

fn of_one(tool: &Tool) -> usize {
    Raw::encode(tool).map_or(0, |raw| tokens(raw.as_bytes().len()))
}

/// Prints the tools with their costs, the dearest first.
pub(super) fn show(context: &Context, tools: &[Tool]) -> Result<(), Failure> {
    let mut costs: Vec<(&str, usize)> = tools.iter().map(|tool| (tool.name.as_str(), of_one(tool))).collect();
    costs.sort_by_key(|(name, cost)| (std::cmp::Reverse(*cost), *name));
    if context.output.json {
        let rows = costs.iter().map(|(name, cost)| json!({"name": name, "tokens": cost}));
        let page = json!({"tools": rows.collect::<Vec<Value>>(), "tokens": of_all(tools)});
        context.print_json(&page)?;
        return Ok(());
    }
    let headings = ["tool", "tokens"].map(str::to_owned);
    let mut rows: Vec<Vec<String>> =
        costs.iter().map(|(name, cost)| vec![(*name).to_owned(), cost.to_string()]).collect();
    rows.push(vec![counted(tools.len(), "tool"), of_all(tools).to_string()]);
    context.print(&table::columns(&headings, &rows))?;
    Ok(())
}
