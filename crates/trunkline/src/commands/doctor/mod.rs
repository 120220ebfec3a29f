//! `doctor`: why does this server not connect?

mod fix;
mod machine;
mod report;
mod sign_in;
mod target;

use super::{Context, Ending, edit_file::Consent};
use crate::{
    args::{ConnectionArgs, TargetWords},
    failure::Failure,
    runtime,
    stop::Stop,
    terminal::Progress,
    wire,
};
use std::{path::PathBuf, sync::Arc};
use target::Subject;
use trunkline_doctor::{self as doctor, Diagnosis, DoctorOptions, FirstCall, Watch};

/// The advice for a configured server whose variable is not set.
const SET_VARIABLE: &str =
    "set it where the gateway and the client are started; `trunkline config check` shows where it is used";

/// Find out why a server does not connect, and how to fix it
///
/// Checks each step from the command or address to the first call, stops at the first step that
/// fails, explains the cause and the fix, and tries the obvious alternatives itself. `--timeout`
/// limits each step, `--connect-timeout` the first start of a package. If the server asks for a
/// token, the stored login is used, or `--sign-in`. Without a target, checks
/// the setup of this machine: the configuration, the files of other clients, keychain, port and
/// the configured servers. Exit status: 0 no problem, 1 a problem after connecting or in the
/// setup, 2 usage error, 3 no connection.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "trunkline doctor [OPTIONS] [TARGET]\n       trunkline doctor [OPTIONS] [--] <COMMAND>..."
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// The server's address, or its name in the configuration
    #[arg(value_name = "TARGET")]
    words: Vec<String>,
    /// The command that starts the server, instead of TARGET
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Sign in to the server in the browser for this examination: registers a client, obtains a
    /// token, renews it, and revokes it at the end
    #[arg(long)]
    sign_in: bool,
    /// Do not call any tool, not even one marked read-only
    #[arg(long)]
    no_call: bool,
    /// Repair what can be repaired safely, such as file permissions; asks before each change is
    /// made
    #[arg(long)]
    fix: bool,
    /// Apply the repairs of `--fix` without asking
    #[arg(long, requires = "fix")]
    yes: bool,
    /// Read this configuration file instead of the nearest `trunkline.json` in the current
    /// directory or above it; your own file still counts
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    refuse_questions(&args.connection)?;
    let runtime = runtime::start()?;
    let outcome = runtime.block_on(examine(context, args));
    runtime.shutdown_background();
    outcome
}

async fn examine(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let mut stop = Stop::listen()?;
    wire::memory::limit_client(&context.environment);
    let words = TargetWords { words: &args.words, command: &args.command };
    let options = wire::doctor::options(&args.connection, context, first_call(args), watch(context))?;
    if words.words.is_empty() && words.command.is_empty() {
        if args.sign_in {
            return Err(Failure::usage("--sign-in needs a server to sign in to"));
        }
        return tokio::select! {
            ending = machine::check(context, args, &options) => ending,
            stopped = stop.stopped() => Err(stopped),
        };
    }
    let (subject, mut options) = target::find(words, args, context, options)?;
    if args.sign_in {
        options = sign_in::by_page(context, args.connection.timeout, options).await?;
    }
    let progress = Progress::start(&context.screen, &format!("examining {subject}"));
    let diagnosis = tokio::select! {
        diagnosis = diagnose(subject, &options) => diagnosis,
        stopped = stop.stopped() => return Err(stopped),
    };
    drop(progress);
    tell(context, &diagnosis)?;
    if args.fix {
        tokio::select! {
            offered = fix::offer(context, &diagnosis, Consent::of(args.yes)) => offered?,
            stopped = stop.stopped() => return Err(stopped),
        }
    }
    Ok(match diagnosis.exit_code() {
        0 => Ending::Fine,
        3 => Ending::Unreachable,
        _ => Ending::ToolError,
    })
}

async fn diagnose(subject: Subject, options: &DoctorOptions) -> Diagnosis {
    match subject {
        Subject::Target(target) => doctor::examine(&target, options).await,
        Subject::Unusable { text, step, problem, instead } => {
            doctor::refuse(&text, step, *problem, &instead, options).await
        }
    }
}

fn tell(context: &Context, diagnosis: &Diagnosis) -> Result<Ending, Failure> {
    if context.output.json {
        return context.print_json(diagnosis);
    }
    context.print(&report::conclusion(diagnosis))
}

/// Prints each step when it ends, unless the output is JSON.
fn watch(context: &Context) -> Watch {
    if context.output.json {
        return Watch::new(|_| {});
    }
    let screen = Arc::clone(&context.screen);
    // A closed standard output is reported at the end.
    Watch::new(move |step| screen.data(&report::step(step)).unwrap_or_default())
}

fn first_call(args: &Args) -> FirstCall {
    if args.no_call { FirstCall::Skip } else { FirstCall::Make }
}

/// Refuses options for server questions, which have no effect here.
fn refuse_questions(args: &ConnectionArgs) -> Result<(), Failure> {
    let given = [
        ("--answer", !args.ask.answers.is_empty()),
        ("--root", !args.ask.roots.is_empty()),
        ("--sample", args.ask.sample),
        ("--log-level", args.log_level.is_some()),
        ("--trace", args.trace),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Failure::usage(format!(
            "{name} has no effect here: doctor answers no questions and shows the frames that matter"
        ))),
        None => Ok(()),
    }
}
