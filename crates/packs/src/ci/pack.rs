//! Builds the list of tools from the options, and holds their shared state.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    build, cancel_job,
    ci_pack_error::CiPackError,
    command::CommandRule,
    detect_project,
    environment::Environment,
    failed_job_logs, get_diagnostics,
    job::Jobs,
    job_log, job_status, lint, list_jobs, list_runs,
    options::{Access, CiOptions, RunLimits},
    provider::{Providers, Rerun},
    rerun, restore,
    roots::Roots,
    run_command, run_tests, start_job, wait_for_run,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Context, Tool, ToolError};

/// Shared state of the tools.
#[derive(Debug)]
pub(super) struct Ci {
    pub(super) roots: Roots,
    pub(super) environment: Environment,
    pub(super) limits: RunLimits,
    pub(super) commands: Vec<CommandRule>,
    pub(super) jobs: Jobs,
    pub(super) providers: Providers,
}

/// The tools that `options` allow.
pub fn pack(options: CiOptions) -> Result<Vec<Tool>, CiPackError> {
    let access = options.access;
    let ci = Arc::new(Ci::new(options)?);
    let mut tools = vec![detect_project::tool(&ci), get_diagnostics::tool(&ci)];
    if access == Access::Run {
        tools.extend([build::tool(&ci), run_tests::tool(&ci), lint::tool(&ci), restore::tool(&ci)]);
        if !ci.commands.is_empty() {
            tools.push(run_command::tool(&ci));
        }
        tools.extend([
            start_job::tool(&ci),
            job_status::tool(&ci),
            job_log::tool(&ci),
            list_jobs::tool(&ci),
            cancel_job::tool(&ci),
        ]);
    }
    if !ci.providers.is_empty() {
        tools.extend([list_runs::tool(&ci), failed_job_logs::tool(&ci), wait_for_run::tool(&ci)]);
    }
    if ci.providers.offers(Rerun::Offered) {
        tools.push(rerun::tool(&ci));
    }
    Ok(tools)
}

impl Ci {
    fn new(options: CiOptions) -> Result<Self, CiPackError> {
        if options.roots.is_empty() {
            return Err(CiPackError::NoRoot);
        }
        let roots =
            Roots::open(&options.roots).map_err(|(path, source)| CiPackError::Root { path, source })?;
        Ok(Self {
            roots,
            environment: Environment::new(&options.environment, &options.pass),
            limits: options.limits,
            commands: options.commands,
            jobs: Jobs::new(options.jobs),
            providers: Providers::new(options.providers, options.fetch.as_ref())?,
        })
    }
}

/// A tool from a function of the shared state, the call's context and its arguments.
pub(super) fn tool<A, T, F, Fut>(ci: &Arc<Ci>, name: &str, run: F) -> Tool
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    T: Serialize + JsonSchema + Send + 'static,
    F: Fn(Arc<Ci>, Context, A) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<TextAndData<T>, ToolError>> + Send + 'static,
{
    let ci = Arc::clone(ci);
    Tool::new(name, move |cx: Context, args: A| run(Arc::clone(&ci), cx, args))
}
