//! `audit`: reads and verifies the audit trails that `serve` writes.

use super::{Context, Ending};
use crate::{failure::Failure, render::safe};
use clap::Subcommand;
use std::path::{Path, PathBuf};
use trunkline_gateway::audit::{Problem, ProblemKind, Report, Tail, tail, verify};
use trunkline_secrets::counted;

/// Read or verify an audit trail
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the last records, one JSON object per line
    Tail {
        /// Directory of the audit trail, as printed by `serve`
        dir: PathBuf,
        /// Number of records to show
        #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 20)]
        count: usize,
        /// Keep running and show new records as they are written
        #[arg(short, long)]
        follow: bool,
    },
    /// Verify that no record was changed, removed, reordered or truncated
    Verify {
        /// Directory of the audit trail, as printed by `serve`
        dir: PathBuf,
    },
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    match &args.command {
        Command::Tail { dir, count, follow: false } => {
            let lines = tail(dir, *count).map_err(|error| unreadable(dir, &error))?;
            let text: Vec<String> = lines.iter().map(|line| format!("{}\n", safe::text(line))).collect();
            context.print(&text.concat())
        }
        Command::Tail { dir, count, follow: true } => follow(context, dir, *count),
        Command::Verify { dir } => check(context, dir),
    }
}

fn follow(context: &Context, dir: &Path, count: usize) -> Result<Ending, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format!("the program cannot start: {error}")))?;
    runtime.block_on(async {
        let mut records = Tail::open(dir, count).map_err(|error| unreadable(dir, &error))?;
        loop {
            let line = records.next().await.map_err(|error| unreadable(dir, &error))?;
            context.print(&format!("{}\n", safe::text(&line)))?;
        }
    })
}

fn check(context: &Context, dir: &Path) -> Result<Ending, Failure> {
    let report = verify(dir).map_err(|error| unreadable(dir, &error))?;
    if report.segments == 0 && report.is_intact() {
        return Err(Failure::usage(format!("there is no audit trail in {}", dir.display()))
            .hint("`serve` says where it keeps its trail; each run has a directory of its own"));
    }
    if context.output.json {
        context.print_json(&report)?;
    } else {
        context.print(&text(&report))?;
    }
    Ok(if report.is_intact() { Ending::Fine } else { Ending::ToolError })
}

fn text(report: &Report) -> String {
    let verdict = if report.is_intact() { "intact" } else { "NOT intact" };
    let mut lines = vec![format!(
        "{verdict}: {} in {}",
        counted(report.records, "record"),
        counted(report.segments, "segment")
    )];
    let counts = [
        (report.unfinished, "calls without an end"),
        (report.lost, "records the writer could not keep"),
        (report.torn, "bytes of a record that was being written"),
    ];
    lines
        .extend(counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    lines.extend(report.last.iter().map(|last| format!("last record: {} {}", last.seq, last.hash)));
    let told = |problem: &Problem| {
        format!("{}:{}: {}", safe::text(&problem.segment), problem.line, what(&problem.kind))
    };
    lines.extend(report.problems.iter().map(told));
    lines.join("\n") + "\n"
}

fn what(kind: &ProblemKind) -> String {
    match kind {
        ProblemKind::Changed => "this record, or the one before it, was changed".to_owned(),
        ProblemKind::Unreadable => "this line is no record".to_owned(),
        ProblemKind::Order { found, after } => format!("record {found} stands after record {after}"),
        ProblemKind::Missing => "this segment is missing".to_owned(),
        ProblemKind::Truncated { head } => format!("the trail was cut off; it once went on to record {head}"),
        ProblemKind::NoHead => "the file that says how far the trail went is missing".to_owned(),
    }
}

fn unreadable(dir: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("the trail in {} cannot be read: {error}", dir.display()))
}
