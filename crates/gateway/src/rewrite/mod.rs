//! Rewrite: all that the gateway changes in what passes through it. `docs/rewrites.md` lists it, and nothing else is changed.

mod listing;
mod publish;
mod seal;
mod state;
mod task_id;
mod uri;

pub(crate) use listing::{describe, mark_stale, renamed, without_headers};
pub(crate) use publish::{About, Publisher};
pub(crate) use state::States;
pub(crate) use task_id::TaskIds;
pub(crate) use uri::{UriMap, inner_uri, is_ours};
