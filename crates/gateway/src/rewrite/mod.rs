//! Rewrite: all changes that the gateway makes to messages. `docs/rewrites.md` lists them; nothing
//! else is changed.

mod listing;
mod publish;
mod seal;
mod state;
mod task_id;
mod uri;

pub(crate) use listing::{describe, mark_stale, outline, renamed, without_headers};
pub(crate) use publish::{About, Publisher};
pub use state::{StateOptions, States};
pub(crate) use task_id::TaskIds;
pub(crate) use uri::{UriMap, inner_uri, is_ours};
