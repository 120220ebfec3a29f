//! Builds the options of an examination from the command line or a configured server.

use super::{http, reach, settings, speak};
use crate::{args::ConnectionArgs, commands::Context, environment::Environment, failure::Failure};
use std::time::Duration;
use trunkline_client::{ConnectOptions, Exposure, Target};
use trunkline_config::{Reach, Secret, Server};
use trunkline_doctor::{DoctorOptions, FirstCall, Limits, Watch};

/// Default time limit of one step.
const STEP: Duration = Duration::from_secs(10);
/// The total time limit is this many step limits, plus the time for a start.
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

/// A configured server as a subject; `None` for built-in packs, which run in this process.
pub(crate) fn configured(
    server: &Server,
    environment: &Environment,
    base: &DoctorOptions,
) -> Result<Option<(Target, DoctorOptions)>, Failure> {
    let named = |reason: String| Failure::usage(format!("server `{}`: {reason}", server.name));
    let (reached, secrets) = match &server.reach {
        Reach::Local(local) => {
            let secrets = hidden(local.arguments.iter().chain(local.environment.values()));
            (reach::program(local, server, environment), secrets)
        }
        Reach::Remote(remote) => (reach::address(remote, server), hidden(remote.headers.values())),
        Reach::Builtin(_) => return Ok(None),
    };
    Ok(Some(examined(reached.map_err(named)?, secrets, base)))
}

/// Connects to the subject in the same way as the gateway.
fn examined(
    (target, reached): (Target, ConnectOptions),
    secrets: Vec<String>,
    base: &DoctorOptions,
) -> (Target, DoctorOptions) {
    let mut options = base.clone();
    options.http.extra_headers = reached.http.extra_headers;
    options.exposure = reached.exposure;
    options.speak = reached.speak;
    options.secrets = secrets;
    (target, options)
}

/// The values that the configuration masks.
fn hidden<'a>(values: impl Iterator<Item = &'a Secret>) -> Vec<String> {
    values
        .filter(|value| value.to_string() != value.expose())
        .map(|value| value.expose().to_owned())
        .collect()
}
