//! Options of the command line into those of an examination.

use super::{http, speak};
use crate::{args::ConnectionArgs, commands::Context, failure::Failure};
use std::time::Duration;
use trunkline_client::Exposure;
use trunkline_lint::doctor::{DoctorOptions, FirstCall, Limits, Watch};

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
    let directory = std::env::current_dir()
        .map_err(|error| Failure::usage(format!("the current directory cannot be used: {error}")))?;
    Ok(DoctorOptions {
        environment: context.environment.all(),
        directory,
        http: http(args, &context.environment)?,
        exposure: if args.allow_plain_http { Exposure::Accept } else { Exposure::Refuse },
        speak: speak(args.era, &context.environment)?,
        limits: Limits { step, install, total: install + step * STEPS, ..Limits::default() },
        first_call,
        watch,
    })
}
