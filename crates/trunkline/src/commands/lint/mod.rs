//! `lint`: checks servers against the rules.

mod accepted;
mod args;
mod programs;
mod reproducer;
mod subjects;

pub(crate) use args::Args;

use super::{Context, Ending};
use crate::{failure::Failure, runtime, stop::Stop, terminal::Steps, wire};
use args::Format;
use serde::Serialize;
use std::time::Duration;
use trunkline_lint::{
    Mode, Options, Progress, Report, Rule, Selection,
    engine::{Active, Budget, Callable, Event},
    report::{self, Detail},
    rules,
};
use trunkline_protocol::{Fault, FaultKind};

/// Minimum of the time limit for all probes of one server.
const LEAST_TOTAL: Duration = Duration::from_secs(10);

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    if let Some(name) = &args.explain {
        return context.print(&report::page(known(name)?));
    }
    let baseline = args.baseline.as_deref().map(accepted::read).transpose()?;
    let subjects = subjects::find(context, args)?;
    let runtime = runtime::start()?;
    let steps = Steps::start(&context.screen, "connecting");
    let options = options(args, &steps)?;
    let report = runtime.block_on(async {
        let mut stop = Stop::listen()?;
        wire::memory::limit_client(&context.environment);
        tokio::select! {
            report = trunkline_lint::lint(&subjects, &options) => Ok(report),
            stopped = stop.stopped() => Err(stopped),
        }
    });
    drop(steps);
    runtime.shutdown_timeout(Duration::from_millis(200));
    let mut report = report?;
    trunkline_lint::ignore(&mut report, &args.ignores);
    if let Some(baseline) = baseline {
        for gone in baseline.apply(&mut report) {
            context.screen.note(&format!(
                "the baseline lists `{}` of {}, which is no longer found",
                gone.rule, gone.target
            ));
        }
    }
    if let Some(path) = &args.write_baseline {
        accepted::write(path, &report)?;
    }
    if let Some(path) = &args.write_lock {
        accepted::write_lock(path, &report)?;
    }
    if args.fuzz {
        for path in reproducer::write(&args.fuzz_dir, &report, args.seed)? {
            context.screen.note(&format!("a reproducer is in {}", path.display()));
        }
    }
    print(context, args, &report)?;
    verdict(args, &report)
}

fn options(args: &Args, steps: &Steps) -> Result<Options, Failure> {
    for name in &args.rules {
        known(name)?;
    }
    let selection = Selection { rules: args.rules.clone(), groups: args.groups.clone(), level: args.level };
    let usual = Budget::default();
    let budget = Budget {
        start: args.connection.connect_timeout(),
        answer: args.connection.timeout.unwrap_or(usual.answer),
        total: args.budget.max(LEAST_TOTAL),
        calls: args.max_calls,
        ..usual
    };
    let tools = match (args.active, args.allow_side_effects) {
        (false, _) => Callable::None,
        (true, false) => Callable::ReadOnly,
        (true, true) => Callable::All,
    };
    let teller = steps.teller();
    let progress = Progress::new(move |event| match event {
        Event::Connecting { target } => teller.say(&format!("connecting to {target}"), None),
        Event::Probe { target, name, done, total } => {
            teller.say(&format!("{target}: {name}"), Some((done, total)));
        }
    });
    let mode = if args.active { Mode::Active } else { Mode::Negative };
    let mode = if args.passive { Mode::Passive } else { mode };
    let mode = if args.fuzz { Mode::Fuzz } else { mode };
    let active = Active { tools, calls: args.max_calls, cases: args.fuzz_cases, seed: args.seed };
    Ok(Options { selection, budget, mode, active, progress })
}

fn known(name: &str) -> Result<&'static Rule, Failure> {
    rules::find(name).ok_or_else(|| {
        let failure = Failure::usage(format!("there is no rule `{name}`"));
        match rules::suggest(name).as_slice() {
            [] => failure,
            near => failure.hint(format!("did you mean {}?", near.join(", "))),
        }
    })
}

fn print(context: &Context, args: &Args, report: &Report) -> Result<Ending, Failure> {
    let format = if context.output.json { Format::Json } else { args.format };
    match format {
        Format::Json => masked_json(context, report),
        Format::Sarif => masked_json(context, &report::sarif(report)),
        Format::Junit => masked(context, &report::junit(report, args.fail_on)),
        Format::Github => masked(context, &report::github(report)),
        Format::Markdown => masked(context, &report::markdown(report)),
        Format::Text => {
            let detail = if args.all_outcomes { Detail::Everything } else { Detail::Findings };
            masked(context, &report::text(report, detail))
        }
    }
}

/// Prints a report without the values behind references, which `lint` itself does not know.
fn masked(context: &Context, text: &str) -> Result<Ending, Failure> {
    context.print(&context.screen.hide(text))
}

fn masked_json(context: &Context, value: &impl Serialize) -> Result<Ending, Failure> {
    let mut value = serde_json::to_value(value)
        .map_err(|error| Failure::usage(format!("the report cannot be written: {error}")))?;
    context.environment.concealed.hide_in(&mut value);
    context.print_json(&value)
}

fn verdict(args: &Args, report: &Report) -> Result<Ending, Failure> {
    if let Some(why) = report.targets.iter().find_map(|target| target.unreachable.as_ref()) {
        return Err(Failure::connecting(Fault::new(FaultKind::CannotConnect, why.clone())));
    }
    let failed = report.worst().is_some_and(|worst| args.fail_on.is_some_and(|level| worst >= level));
    Ok(if failed { Ending::Findings } else { Ending::Fine })
}
