//! All jobs: limits per caller and in total, and expiry of ended jobs.

use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;

use super::{
    super::{environment::Environment, options::JobLimits, options::RunLimits},
    entry::Job,
    launch::Order,
};
use trunkline_toolbox::ToolError;

/// All jobs, in the order of their start.
#[derive(Debug)]
pub(in super::super) struct Jobs {
    limits: JobLimits,
    all: Mutex<Vec<Arc<Job>>>,
}

impl Jobs {
    pub(in super::super) fn new(limits: JobLimits) -> Self {
        Self { limits, all: Mutex::default() }
    }

    /// Starts a job, unless too many run.
    pub(in super::super) fn start(
        &self,
        caller: &str,
        order: Order,
        environment: &Environment,
        limits: &RunLimits,
    ) -> Result<Arc<Job>, ToolError> {
        let mut all = self.current();
        let running: Vec<_> = all.iter().filter(|job| job.done().is_none()).collect();
        let own: Vec<_> =
            running.iter().filter(|job| job.caller == caller).map(|job| job.id.as_str()).collect();
        if own.len() >= self.limits.running_per_caller {
            return Err(ToolError::new(format!(
                "{} jobs of yours are running, and that is the limit",
                own.len()
            ))
            .hint(format!("Wait for one with job_status, or end one with cancel_job: {}.", own.join(", "))));
        }
        if running.len() >= self.limits.running {
            return Err(ToolError::new("too many jobs are running").hint("Try again in a while."));
        }
        let job = Arc::new(Job::start(caller, order, environment, limits)?);
        all.push(Arc::clone(&job));
        Ok(job)
    }

    /// The job with this id, if the caller owns it.
    pub(in super::super) fn get(&self, caller: &str, id: &str) -> Result<Arc<Job>, ToolError> {
        let all = self.current();
        let found = all.iter().find(|job| job.id == id && job.caller == caller);
        found.cloned().ok_or_else(|| {
            ToolError::not_found(format!("there is no job {id:?}")).hint(
                "Call list_jobs to see yours. Ended jobs are forgotten after a while; start the work again.",
            )
        })
    }

    /// The jobs of a caller, newest first.
    pub(in super::super) fn of(&self, caller: &str) -> Vec<Arc<Job>> {
        self.current().iter().rev().filter(|job| job.caller == caller).cloned().collect()
    }

    /// All jobs, after expired and excess ended ones were removed.
    fn current(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        let mut all = self.all.lock();
        all.retain(|job| job.age().is_none_or(|age| age < self.limits.ttl));
        let ended = all.iter().filter(|job| job.done().is_some()).count();
        let mut excess = ended.saturating_sub(self.limits.kept);
        all.retain(|job| {
            let goes = excess > 0 && job.done().is_some();
            excess -= usize::from(goes);
            !goes
        });
        all
    }
}
