//! The tools of a server that this client may see and call.

use std::{fmt, sync::Arc};

type Test = dyn Fn(&str) -> bool + Send + Sync;

/// Decides by name which tools are listed and called; by default all. A tool that is left out
/// looks like one that the server does not have.
#[derive(Clone, Default)]
pub struct ToolFilter(Option<Arc<Test>>);

impl ToolFilter {
    pub fn new(allows: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(allows)))
    }

    pub(crate) fn allows(&self, tool: &str) -> bool {
        self.0.as_ref().is_none_or(|allows| allows(tool))
    }
}

impl fmt::Debug for ToolFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolFilter").finish_non_exhaustive()
    }
}
