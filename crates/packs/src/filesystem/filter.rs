//! Glob patterns for names and paths.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::sandbox::RelPath;
use trunkline_toolbox::ToolError;

const MAX_PATTERNS: usize = 64;
const MAX_PATTERN_BYTES: usize = 1024;

/// A set of globs. A pattern without `/` matches names at any depth; one with `/` matches the path
/// relative to the searched directory.
#[derive(Debug)]
pub(super) struct Filter(GlobSet);

impl Filter {
    pub(super) fn new<S: AsRef<str>>(patterns: &[S]) -> Result<Self, ToolError> {
        if patterns.len() > MAX_PATTERNS {
            return Err(
                ToolError::new(format!("more than {MAX_PATTERNS} patterns were given")).hint("give fewer")
            );
        }
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            set.add(glob(pattern.as_ref())?);
        }
        set.build().map(Self).map_err(|error| unusable(&error))
    }

    pub(super) fn fits(&self, path: &RelPath) -> bool {
        !self.0.is_empty() && self.0.is_match(path.to_os_string())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn glob(pattern: &str) -> Result<Glob, ToolError> {
    if pattern.is_empty() || pattern.len() > MAX_PATTERN_BYTES {
        return Err(ToolError::new(format!("a pattern has to have 1 to {MAX_PATTERN_BYTES} bytes"))
            .hint("write a glob such as `*.rs` or `src/**/*.md`"));
    }
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    let anywhere = match pattern.strip_prefix('/') {
        Some(from_start) => from_start.to_owned(),
        None if pattern.contains('/') => pattern.to_owned(),
        None => format!("**/{pattern}"),
    };
    GlobBuilder::new(&anywhere).literal_separator(true).build().map_err(|error| unusable(&error))
}

fn unusable(error: &globset::Error) -> ToolError {
    ToolError::new(format!("not a usable pattern: {error}"))
        .hint("write a glob such as `*.rs` or `src/**/*.md`")
}
