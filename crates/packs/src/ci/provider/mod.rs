//! Hosted services that build and test: GitHub Actions and GitLab pipelines. A *run* is one execution of a workflow or
//! pipeline, made of *jobs*.
//!
//! Requests are sent by whoever plugs in a [`Fetch`]; the token goes only to the address that the operator configured.

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
