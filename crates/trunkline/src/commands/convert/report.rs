//! Shows the outcomes of a run.

use super::job::{Outcome, Status};
use crate::{
    commands::{Context, Ending},
    failure::Failure,
    render::{safe, table},
};
use serde::Serialize;
use std::path::Path;
use trunkline_secrets::counted;

#[derive(Serialize)]
struct Report<'a> {
    converted: usize,
    skipped: usize,
    failed: usize,
    documents: &'a [Outcome],
}

/// Prints the documents, or the table of a run with an output directory.
pub(super) fn show(context: &Context, out: Option<&Path>, outcomes: &[Outcome]) -> Result<Ending, Failure> {
    let count = |status| outcomes.iter().filter(|outcome| outcome.status == status).count();
    let (converted, skipped, failed) =
        (count(Status::Converted), count(Status::Skipped), count(Status::Failed));
    if context.output.json {
        context.print_json(&Report { converted, skipped, failed, documents: outcomes })?;
    } else if out.is_some() {
        let total =
            format!("\n{} converted, {skipped} skipped, {failed} failed\n", counted(converted, "document"));
        context.print(&(rows(outcomes) + &total))?;
        for outcome in outcomes.iter().filter(|outcome| outcome.status == Status::Failed) {
            tell_failure(context, outcome);
        }
    } else {
        for outcome in outcomes {
            match &outcome.content {
                Some(content) => context.print(content).map(|_| ())?,
                None => tell_failure(context, outcome),
            }
        }
    }
    Ok(if failed == 0 { Ending::Fine } else { Ending::ToolError })
}

fn tell_failure(context: &Context, outcome: &Outcome) {
    let Outcome { source, code, message, .. } = outcome;
    let (code, message) = (code.unwrap_or_default(), message.as_deref().unwrap_or_default());
    context.screen.tell(&format!("error: {source}: {message} ({code})\n"));
}

fn rows(outcomes: &[Outcome]) -> String {
    let headings = ["source", "result", "bytes", "ms", "target or code"].map(str::to_owned);
    let row = |outcome: &Outcome| {
        let result = match outcome.status {
            Status::Converted => "converted",
            Status::Skipped => "skipped",
            Status::Failed => "failed",
        };
        let target = outcome.target.as_ref().map(|target| target.display().to_string()).unwrap_or_default();
        let last = outcome.code.map_or(target, str::to_owned);
        vec![
            safe::line(&outcome.source),
            result.to_owned(),
            outcome.bytes.to_string(),
            outcome.milliseconds.to_string(),
            safe::line(&last),
        ]
    };
    let rows: Vec<Vec<String>> = outcomes.iter().map(row).collect();
    table::columns(&headings, &rows)
}
