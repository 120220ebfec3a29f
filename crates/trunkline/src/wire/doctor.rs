//! Options of the command line, and configured servers, into those of an examination.

use super::{http, reach, settings, speak};
use crate::{args::ConnectionArgs, commands::Context, environment::Environment, failure::Failure};
use std::time::Duration;
use trunkline_client::{Exposure, Speak, Target};
use trunkline_config::{EraSetting, Local, Reach, Remote, Secret, Server};
use trunkline_lint::doctor::{DoctorOptions, FirstCall, Limits, Watch};
use trunkline_protocol::Era;

/// How long one step may take unless told otherwise.
const STEP: Duration = Duration::from_secs(10);
/// All steps together get so many times what one may take, and a start besides.
const STEPS: u32 = 8;

pub(crate) fn options(
    args: &ConnectionArgs,
    context: &Context,
    first_call: FirstCall,
    watch: Watch,
) -> Result<DoctorOptions, Failure> {
    let step = args.timeout.unwrap_or(STEP);
    let install = args.connect_timeout.max(step);
    Ok(DoctorOptions {
        environment: context.environment.all(),
        directory: settings::directory()?,
        http: http(args, &context.environment)?,
        exposure: if args.allow_plain_http { Exposure::Accept } else { Exposure::Refuse },
        speak: speak(args.era, &context.environment)?,
        limits: Limits { step, install, total: install + step * STEPS, ..Limits::default() },
        first_call,
        watch,
        secrets: Vec::new(),
    })
}

/// A configured server as something to examine; none for those that run in this process.
pub(crate) fn configured(
    server: &Server,
    environment: &Environment,
    base: &DoctorOptions,
) -> Result<Option<(Target, DoctorOptions)>, Failure> {
    let named = |reason: String| Failure::usage(format!("server `{}`: {reason}", server.name));
    match &server.reach {
        Reach::Local(local) => program(local, environment, base).map(Some).map_err(named),
        Reach::Remote(remote) => address(remote, base).map(Some).map_err(named),
        Reach::Builtin(_) => Ok(None),
    }
}

fn program(
    local: &Local,
    environment: &Environment,
    base: &DoctorOptions,
) -> Result<(Target, DoctorOptions), String> {
    let words = local.arguments.iter().map(|word| word.expose().to_owned());
    let words = std::iter::once(local.program.clone()).chain(words);
    let mut target = Target::command(words).map_err(|bad| bad.to_string())?;
    if let Target::Command(command) = &mut target {
        let inherited =
            local.inherit.iter().filter_map(|name| Some((name.clone(), environment.get(name)?.to_owned())));
        let given = local.environment.iter().map(|(name, value)| (name.clone(), value.expose().to_owned()));
        command.environment = inherited.chain(given).collect();
        command.directory = Some(local.directory.clone());
    }
    let secrets = local.arguments.iter().chain(local.environment.values());
    let options = DoctorOptions { speak: speaks(local.era), secrets: hidden(secrets), ..base.clone() };
    Ok((target, options))
}

fn address(remote: &Remote, base: &DoctorOptions) -> Result<(Target, DoctorOptions), String> {
    let target = Target::url(remote.url.expose()).map_err(|bad| bad.to_string())?;
    let mut options = base.clone();
    options.http.extra_headers = reach::headers(remote)?;
    options.exposure = if remote.insecure { Exposure::Accept } else { Exposure::Refuse };
    options.speak = speaks(remote.era);
    options.secrets = hidden(remote.headers.values());
    Ok((target, options))
}

fn speaks(era: EraSetting) -> Speak {
    match era {
        EraSetting::Auto => Speak::Newest,
        EraSetting::Legacy => Speak::Era(Era::Legacy),
        EraSetting::Modern => Speak::Era(Era::Modern),
    }
}

/// The values that the configuration itself does not show.
fn hidden<'a>(values: impl Iterator<Item = &'a Secret>) -> Vec<String> {
    values
        .filter(|value| value.to_string() != value.expose())
        .map(|value| value.expose().to_owned())
        .collect()
}
