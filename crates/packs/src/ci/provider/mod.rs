//! Hosted services that build and test: GitHub Actions and GitLab pipelines. A *run* is one
//! execution of a workflow or pipeline, made of *jobs*.
//!
//! Requests are sent through a [`Fetch`]; the token is sent only to the configured address.

mod client;
mod fetch;
mod github;
mod gitlab;
mod model;
mod options;
mod project_name;
mod set;

pub use fetch::{Fetch, FetchError, FetchMethod, FetchRequest, FetchResponse};
pub(super) use model::{HostedJob, Run, RunState, Wanted};
pub use options::{ProviderKind, ProviderOptions, Rerun, Token};
pub(super) use set::{Hosted, Providers, Scope};
