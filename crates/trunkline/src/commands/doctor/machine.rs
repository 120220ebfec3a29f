//! `doctor` without a target: checks the configuration, the files of other clients, the keychain,
//! the port, and each configured server.

use super::{Args, SET_VARIABLE, fix, report};
use crate::{
    commands::{Context, Ending, edit_file::Consent, serve::DEFAULT_ADDRESS},
    failure::Failure,
    terminal::Progress,
    wire::{self, settings},
};
use trunkline_config::{FoundFile, Layer, Loaded, Problem as Mistake, Reach, Server};
use trunkline_doctor::{
    self as doctor, Cause, Check, Checkup, DoctorOptions, Problem, Section, Surroundings, Verdict,
};
use trunkline_secrets::counted;

pub(super) async fn check(
    context: &Context,
    args: &Args,
    options: &DoctorOptions,
) -> Result<Ending, Failure> {
    let progress = Progress::start(&context.screen, "checking this machine");
    let (loaded, configuration) = configuration(context, args)?;
    let mut checkup = Checkup::default();
    let mut add = |title: &str, checks: Vec<Check>| {
        checkup.sections.push(Section { title: title.to_owned(), checks });
    };
    add("Configuration", configuration);
    add("Other clients", clients(context, options)?);
    add("This machine", vec![doctor::check_keychain(options), doctor::check_port(DEFAULT_ADDRESS.port())]);
    if let Some(loaded) = &loaded {
        add("Configured servers", servers(context, loaded, options).await?);
    }
    drop(progress);
    if context.output.json {
        context.print_json(&checkup)?;
    } else {
        context.print(&report::checkup(&checkup))?;
    }
    if args.fix {
        let problems =
            checkup.sections.iter().flat_map(|section| &section.checks).flat_map(|check| &check.problems);
        let edits: Vec<_> = problems.filter_map(|problem| problem.edit.clone()).collect();
        fix::apply(context, &edits, Consent::of(args.yes)).await?;
    }
    Ok(if checkup.exit_code() == 0 { Ending::Fine } else { Ending::ToolError })
}

/// Loads the configuration, and returns the checks for its problems.
fn configuration(context: &Context, args: &Args) -> Result<(Option<Loaded>, Vec<Check>), Failure> {
    let problem = |mistake: &Mistake| {
        let fix = mistake.suggestion.clone().unwrap_or_else(|| "correct it at the place named".to_owned());
        Problem::new(Cause::ConfigurationInvalid, settings::one_line(mistake)).fix(fix)
    };
    match settings::read(&context.environment, args.config.as_deref(), Vec::new())? {
        Ok(loaded) => {
            let mut checks: Vec<Check> =
                loaded.read.iter().map(|file| Check::fine(file.display().to_string(), "valid")).collect();
            if let Some(waiting) = &loaded.waiting {
                checks.extend(waits(context, waiting, problem)?);
            }
            if checks.is_empty() {
                checks.push(Check::fine(
                    "trunkline.json",
                    "there is none; `serve` offers tools for the current directory",
                ));
            }
            checks.extend(loaded.warnings.iter().map(|mistake| {
                let mut check = Check::found(mistake.file.clone(), vec![problem(mistake)]);
                check.verdict = Verdict::Warning;
                check
            }));
            Ok((Some(loaded), checks))
        }
        Err(rejected) => {
            let checks = rejected
                .problems
                .iter()
                .map(|mistake| Check::found(mistake.file.clone(), vec![problem(mistake)]));
            Ok((None, checks.collect()))
        }
    }
}

/// The check for a found but unapproved file: its problems, or a note that it awaits approval.
fn waits(
    context: &Context,
    waiting: &FoundFile,
    problem: impl Fn(&Mistake) -> Problem,
) -> Result<Vec<Check>, Failure> {
    let path = waiting.path.display().to_string();
    let preview = settings::preview(&context.environment, None)?;
    if preview.is_valid() {
        return Ok(vec![Check::not_verified(path, "it waits for `trunkline config approve`".to_owned())]);
    }
    let its_own = preview.problems.iter().filter(|mistake| mistake.file == path);
    Ok(its_own.map(|mistake| Check::found(path.clone(), vec![problem(mistake)])).collect())
}

fn clients(context: &Context, options: &DoctorOptions) -> Result<Vec<Check>, Failure> {
    let home = settings::home(&context.environment);
    let config = settings::config_home(&context.environment);
    let files = doctor::known_files(&Surroundings { home, config, directory: settings::directory()? });
    if files.is_empty() {
        return Ok(vec![Check::fine("files of other clients", "there are none")]);
    }
    Ok(files.iter().map(|file| doctor::check_file(file, options)).collect())
}

async fn servers(context: &Context, loaded: &Loaded, options: &DoctorOptions) -> Result<Vec<Check>, Failure> {
    let mut checks = Vec::new();
    for (name, server) in &loaded.settings.servers {
        let project = loaded.origins.get(name).is_some_and(|origin| origin.layer == Layer::Project);
        checks.push(one(context, server, project, options).await?);
    }
    Ok(checks)
}

/// Checks one configured server. A command from a project's file is not started automatically,
/// because the file may come from a stranger.
async fn one(
    context: &Context,
    server: &Server,
    project: bool,
    options: &DoctorOptions,
) -> Result<Check, Failure> {
    let name = server.name.to_string();
    if project && matches!(server.reach, Reach::Local(_)) {
        return Ok(Check::not_verified(
            name.clone(),
            format!("its command comes with the project; `trunkline doctor {name}` starts it"),
        ));
    }
    if let Reach::Unusable(unusable) = &server.reach {
        let problem = Problem::new(Cause::VariableUnset, unusable.reason.clone()).fix(SET_VARIABLE);
        return Ok(Check::found(name, vec![problem]));
    }
    let quiet = DoctorOptions { watch: doctor::Watch::new(|_| {}), ..options.clone() };
    let Some((target, options)) = wire::doctor::configured(server, &context.environment, &quiet)? else {
        return Ok(Check::fine(name, "runs in this process"));
    };
    let diagnosis = doctor::examine(&target, &options).await;
    Ok(match diagnosis.problem {
        Some(problem) => Check::found(name, std::iter::once(problem).chain(diagnosis.warnings).collect()),
        None => Check::fine(
            name,
            format!(
                "{} passed",
                counted(
                    diagnosis.steps.iter().filter(|step| step.outcome == doctor::Outcome::Passed).count(),
                    "step"
                )
            ),
        ),
    })
}
