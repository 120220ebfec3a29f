//! `audit`: reads and verifies the audit trails that `serve` writes.

use super::{Context, Ending};
use crate::{failure::Failure, render::safe, wire::signing};
use clap::Subcommand;
use std::path::{Path, PathBuf};
use trunkline_config::{Secret, read_regular_text, write_secret};
use trunkline_gateway::audit::{
    Problem, ProblemKind, Proof, PublicKey, Report, SigningKey, Tail, sign_existing, tail, verify,
    verify_signed,
};
use trunkline_secrets::counted;

/// Maximum size of a file with a public key or a signed head.
const MAX_SMALL_FILE: u64 = 16 * 1024;

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
    ///
    /// Without a key this proves only that the records fit each other: someone who can write the
    /// files can rewrite all of them. With the public key of `audit.signing.key` it proves that the
    /// records up to the signed one are unchanged. A signed head that you kept elsewhere also
    /// reveals that the trail was reset to an older state.
    Verify {
        /// Directory of the audit trail, as printed by `serve`
        dir: PathBuf,
        /// Public key that `audit keygen` printed, or a file with it
        #[arg(long, value_name = "KEY")]
        public_key: Option<String>,
        /// Signed head that was kept elsewhere [default: the newest one in the directory]
        #[arg(long, value_name = "FILE", requires = "public_key")]
        head: Option<PathBuf>,
    },
    /// Sign a trail that has no signed head yet, as it is
    ///
    /// Needed once where `audit.signing` is turned on for an existing trail. If the trail was
    /// signed before, its signed head was deleted: then verify it with a head that you kept
    /// elsewhere, and begin a new trail.
    Sign {
        /// Directory of the audit trail
        dir: PathBuf,
        /// Private key that `audit keygen` wrote
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
    },
    /// Make a key that signs audit trails, and print its public half
    Keygen {
        /// New file for the private key; name it in `audit.signing.key`
        file: PathBuf,
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
        Command::Verify { dir, public_key: None, .. } => {
            check(context, dir, &verify(dir).map_err(|error| unreadable(dir, &error))?)
        }
        Command::Verify { dir, public_key: Some(key), head } => {
            check(context, dir, &signed_report(dir, key, head.as_deref())?)
        }
        Command::Sign { dir, key } => sign(context, dir, key),
        Command::Keygen { file } => keygen(context, file),
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

fn sign(context: &Context, dir: &Path, key: &Path) -> Result<Ending, Failure> {
    let report = verify(dir).map_err(|error| unreadable(dir, &error))?;
    if report.segments == 0 || !report.is_intact() {
        return check(context, dir, &report);
    }
    let key = signing::read_key(key).map_err(|why| Failure::usage(format!("--key: {why}")))?;
    let head = sign_existing(dir, &key).map_err(|error| Failure::usage(causes(&error)))?;
    if context.output.json {
        return context.print_json(&head);
    }
    context.print(&format!("signed: records 1 to {} as they are now, by {}\n", head.seq, head.key))
}

/// An error and its sources, in one line.
fn causes(error: &dyn std::error::Error) -> String {
    let source = error.source().map(|source| format!(": {}", causes(source)));
    format!("{error}{}", source.unwrap_or_default())
}

fn keygen(context: &Context, file: &Path) -> Result<Ending, Failure> {
    let failed = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("the key cannot be written to {}: {why}", file.display()))
    };
    let text = SigningKey::generate().map_err(|error| failed(&error))?;
    let public = SigningKey::read(&text).map_err(|error| failed(&error))?.public();
    write_secret(file, &Secret::hidden(text)).map_err(|error| failed(&error))?;
    if context.output.json {
        return context.print_json(&serde_json::json!({"publicKey": public.to_string(), "file": file}));
    }
    context.print(&format!("{public}\n"))
}

fn signed_report(dir: &Path, key: &str, head: Option<&Path>) -> Result<Report, Failure> {
    let bad = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("--public-key: {why}")).hint("`trunkline audit keygen` prints it")
    };
    let key = match PublicKey::read(key) {
        Ok(key) => key,
        Err(error) => {
            let text = read_regular_text(Path::new(key), MAX_SMALL_FILE).map_err(|_| bad(&error))?;
            PublicKey::read(&text).map_err(|error| bad(&error))?
        }
    };
    let head = head.map(|file| {
        read_regular_text(file, MAX_SMALL_FILE)
            .map_err(|error| Failure::usage(format!("--head: {} cannot be read: {error}", file.display())))
    });
    verify_signed(dir, &key, head.transpose()?.as_deref()).map_err(|error| unreadable(dir, &error))
}

fn check(context: &Context, dir: &Path, report: &Report) -> Result<Ending, Failure> {
    if report.segments == 0 && report.is_intact() {
        return Err(Failure::usage(format!("there is no audit trail in {}", dir.display()))
            .hint("`serve` says where it keeps its trail; each run has a directory of its own"));
    }
    if context.output.json {
        context.print_json(report)?;
    } else {
        context.print(&text(report))?;
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
    lines.push(proof(report));
    let told = |problem: &Problem| {
        format!("{}:{}: {}", safe::text(&problem.segment), problem.line, what(&problem.kind))
    };
    lines.extend(report.problems.iter().map(told));
    lines.join("\n") + "\n"
}

/// Says what the check proves.
fn proof(report: &Report) -> String {
    let Some(Proof { seq, time, key }) = &report.signed else {
        return "proof: no signature was checked; this shows only that the records fit each other".to_owned();
    };
    let last = report.last.as_ref().map_or(*seq, |last| last.seq);
    let rest = match last {
        last if last == *seq => String::new(),
        last => format!("; records {} to {last} are only chained", seq + 1),
    };
    let (time, key) = (safe::text(time), safe::text(key));
    format!("proof: records 1 to {seq} are unchanged since {key} signed at {time}{rest}")
}

fn what(kind: &ProblemKind) -> String {
    match kind {
        ProblemKind::Changed => "this record, or the one before it, was changed".to_owned(),
        ProblemKind::Unreadable => "this line is no record".to_owned(),
        ProblemKind::Order { found, after } => format!("record {found} stands after record {after}"),
        ProblemKind::Missing => "this segment is missing".to_owned(),
        ProblemKind::Truncated { head } => format!("the trail was cut off; it once went on to record {head}"),
        ProblemKind::NoHead => "the file that says how far the trail went is missing".to_owned(),
        ProblemKind::NoSignature => "the trail has no signed head".to_owned(),
        ProblemKind::NotSigned(why) => {
            safe::text(&format!("the signed head proves nothing: {why}")).into_owned()
        }
        ProblemKind::NotAsSigned { seq } => {
            format!("record {seq} is not the one that was signed; the trail was rewritten")
        }
        ProblemKind::CutAfterSigning { seq } => {
            format!("the trail was cut off; it went on to record {seq} when it was signed")
        }
    }
}

fn unreadable(dir: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("the trail in {} cannot be read: {error}", dir.display()))
}
