//! Builds the options of an examination from the command line or a configured server.

use super::{account, http, reach, settings, speak};
use crate::{args::ConnectionArgs, commands::Context, environment::Environment, failure::Failure};
use std::time::Duration;
use trunkline_client::{ConnectOptions, Exposure, RevisionChoice, Target};
use trunkline_config::{Reach, Server};
use trunkline_doctor::{DoctorOptions, FirstCall, Limits, Spelling, Watch};
use url::Url;

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
    let install = args.connect_timeout().max(step);
    Ok(DoctorOptions {
        environment: context.environment.all(),
        directory: settings::directory()?,
        http: http(args, &context.environment)?,
        exposure: if args.allow_plain_http { Exposure::Accept } else { Exposure::Refuse },
        speak: speak(args.era, &context.environment)?,
        limits: Limits { step, install, total: install + step * STEPS, ..Limits::default() },
        first_call,
        watch,
        ..DoctorOptions::default()
    })
}

/// Uses the login that is stored for an address.
pub(crate) fn of_address(address: &Url, environment: &Environment, options: DoctorOptions) -> DoctorOptions {
    match account::of_url(address, options.exposure == Exposure::Accept, environment) {
        Some(account) => options.signing_in(account),
        None => options,
    }
}

/// How the doctor connects to a configured server; `None` for built-in packs, which run
/// in-process.
/// Options of the command line that are in `base` take precedence.
pub(crate) fn configured(
    server: &Server,
    environment: &Environment,
    base: &DoctorOptions,
) -> Result<Option<(Target, DoctorOptions)>, Failure> {
    let named = |reason: String| Failure::usage(format!("server `{}`: {reason}", server.name));
    let reached = match &server.reach {
        Reach::Local(local) => reach::program(local, server, environment),
        Reach::Remote(remote) => reach::address(remote, server, environment),
        Reach::Unusable(unusable) => Err(unusable.reason.clone()),
        Reach::Builtin(_) => return Ok(None),
    };
    let (target, options) = examined(reached.map_err(named)?, environment, base);
    let account = match &server.reach {
        Reach::Remote(remote) => account::configured(remote, server, environment).map_err(named)?,
        _ => None,
    };
    Ok(Some((
        target,
        match account {
            Some(account) => options.signing_in(account),
            None => options,
        },
    )))
}

/// Connects to the subject in the same way as the gateway.
fn examined(
    (target, reached): (Target, ConnectOptions),
    environment: &Environment,
    base: &DoctorOptions,
) -> (Target, DoctorOptions) {
    let mut options = base.clone();
    for (name, value) in &reached.http.extra_headers {
        if !base.http.extra_headers.contains_key(name) {
            options.http.extra_headers.append(name.clone(), value.clone());
        }
    }
    if options.exposure == Exposure::Refuse {
        options.exposure = reached.exposure;
    }
    // Otherwise it is that of `--era`.
    if !matches!(options.speak, RevisionChoice::Era(_)) {
        options.speak = reached.speak;
    }
    options.spelling = Spelling::Ours;
    options.secrets = environment.concealed.values();
    (target, options)
}
