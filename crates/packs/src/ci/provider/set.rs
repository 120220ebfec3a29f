//! The configured services, and the selection of one for a call.

use std::sync::Arc;

use super::{
    client::{Client, JobLog},
    fetch::Fetch,
    github, gitlab,
    model::{Jobs, Run, Runs, Wanted},
    options::{ProviderKind, ProviderOptions, Rerun},
    project_name::{ProjectName, is_private},
};
use crate::ci::CiPackError;
use trunkline_toolbox::ToolError;

/// The configured services.
#[derive(Debug)]
pub(in super::super) struct Providers(Vec<Provider>);

#[derive(Debug)]
struct Provider {
    client: Client,
    projects: Vec<String>,
    rerun: Rerun,
}

/// One project at one service.
#[derive(Debug)]
pub(in super::super) struct Hosted<'a> {
    client: &'a Client,
    project: ProjectName,
    rerun: Rerun,
}

/// The part of a run to restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Scope {
    FailedJobs,
    AllJobs,
}

impl Providers {
    pub(in super::super) fn new(
        options: Vec<ProviderOptions>,
        fetch: Option<&Arc<dyn Fetch>>,
    ) -> Result<Self, CiPackError> {
        let mut providers: Vec<Provider> = Vec::new();
        for options in options {
            let kind = options.kind;
            let fetch = fetch.cloned().ok_or(CiPackError::NoFetch)?;
            if providers.iter().any(|other| other.client.kind == kind) {
                return Err(CiPackError::Twice { kind: kind.name() });
            }
            if !is_private(&options.api) {
                return Err(CiPackError::Address { kind: kind.name(), url: options.api });
            }
            let api = options.api.trim_end_matches('/').to_owned();
            let client = Client { kind, api, token: options.token, fetch };
            providers.push(Provider { client, projects: options.projects, rerun: options.rerun });
        }
        Ok(Self(providers))
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in super::super) fn offers(&self, rerun: Rerun) -> bool {
        self.0.iter().any(|provider| provider.rerun == rerun)
    }

    /// Selects service and project for a call. A missing service defaults to the only one
    /// configured, a missing project to the first one configured.
    pub(in super::super) fn choose(
        &self,
        kind: Option<ProviderKind>,
        project: Option<&str>,
    ) -> Result<Hosted<'_>, ToolError> {
        let configured: Vec<_> = self.0.iter().map(|provider| provider.client.kind.name()).collect();
        let provider = match (kind, self.0.as_slice()) {
            (Some(kind), all) => all.iter().find(|provider| provider.client.kind == kind),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        let provider = provider.ok_or_else(|| {
            ToolError::new("it is not clear which provider is meant")
                .hint(format!("Set `provider` to one of: {}.", configured.join(", ")))
        })?;
        let name = project.or(provider.projects.first().map(String::as_str)).ok_or_else(|| {
            ToolError::new("it is not clear which project is meant").hint("Set `project`, like owner/name.")
        })?;
        if !provider.projects.is_empty() && !provider.projects.iter().any(|allowed| allowed == name) {
            return Err(ToolError::new(format!("{name:?} is not one of the configured projects"))
                .hint(format!("These are: {}.", provider.projects.join(", "))));
        }
        let project = ProjectName::new(provider.client.kind, name)?;
        Ok(Hosted { client: &provider.client, project, rerun: provider.rerun })
    }
}

impl Hosted<'_> {
    pub(in super::super) async fn runs(
        &self,
        branch: Option<&str>,
        wanted: Wanted,
        limit: usize,
    ) -> Result<Runs, ToolError> {
        match self.client.kind {
            ProviderKind::GitHub => github::runs(self.client, &self.project, branch, wanted, limit).await,
            ProviderKind::GitLab => gitlab::runs(self.client, &self.project, branch, wanted, limit).await,
        }
    }

    pub(in super::super) async fn run(&self, id: u64) -> Result<Run, ToolError> {
        match self.client.kind {
            ProviderKind::GitHub => github::run(self.client, &self.project, id).await,
            ProviderKind::GitLab => gitlab::run(self.client, &self.project, id).await,
        }
    }

    pub(in super::super) async fn jobs(&self, run: u64) -> Result<Jobs, ToolError> {
        match self.client.kind {
            ProviderKind::GitHub => github::jobs(self.client, &self.project, run).await,
            ProviderKind::GitLab => gitlab::jobs(self.client, &self.project, run).await,
        }
    }

    pub(in super::super) async fn log(
        &self,
        job: &str,
        lines: usize,
        bytes: usize,
    ) -> Result<JobLog, ToolError> {
        match self.client.kind {
            ProviderKind::GitHub => github::log(self.client, &self.project, job, lines, bytes).await,
            ProviderKind::GitLab => gitlab::log(self.client, &self.project, job, lines, bytes).await,
        }
    }

    pub(in super::super) async fn rerun(&self, run: u64, scope: Scope) -> Result<(), ToolError> {
        if self.rerun == Rerun::Denied {
            return Err(ToolError::new(format!(
                "runs at {} cannot be started again from here",
                self.client.kind.name()
            ))
            .hint("Ask the operator to allow it."));
        }
        match (self.client.kind, scope) {
            (ProviderKind::GitHub, scope) => github::rerun(self.client, &self.project, run, scope).await,
            (ProviderKind::GitLab, Scope::FailedJobs) => gitlab::retry(self.client, &self.project, run).await,
            (ProviderKind::GitLab, Scope::AllJobs) => {
                Err(ToolError::new("gitlab can only start the failed jobs of a pipeline again")
                    .hint("Call again with failedOnly true."))
            }
        }
    }
}
