//! Arguments shared by several tools, and checks of paths inside a repository.

use std::{
    fs,
    path::{Component, Path},
};

use schemars::JsonSchema;
use serde::Deserialize;

use super::repository::Repository;
use trunkline_toolbox::ToolError;

/// Maximum number of paths in a call.
pub(super) const MOST_PATHS: usize = 1000;

/// Arguments of a tool that needs only a repository.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RepositoryOnly {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    pub(super) repo_path: String,
}

/// `path` relative to the top of `repository`, if it is inside and no link leads out.
pub(super) fn inside(repository: &Repository<'_>, path: &str) -> Result<String, ToolError> {
    let outside = || {
        ToolError::new(format!("the path {path:?} is outside of the repository"))
            .hint("Name files relative to the repository's top directory, without `..`.")
    };
    if path.is_empty() || path.contains('\0') {
        return Err(
            ToolError::new("a path is empty or contains a NUL byte").hint("Name a file, or `.` for all.")
        );
    }
    let named = Path::new(path);
    let top = repository.top()?;
    let relative = if named.is_absolute() { named.strip_prefix(top).map_err(|_| outside())? } else { named };
    let mut parts = Vec::new();
    for component in relative.components() {
        match component {
            Component::Normal(part) if part.eq_ignore_ascii_case(".git") => return Err(outside()),
            Component::Normal(part) => parts.push(part.to_str().ok_or_else(outside)?),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(outside()),
        }
    }
    let clean = if parts.is_empty() { ".".to_owned() } else { parts.join("/") };
    let full = top.join(&clean);
    // A missing path may be a deleted file; an existing one must not lead out through a link.
    match fs::canonicalize(&full) {
        Ok(real) if !real.starts_with(top) => Err(outside()),
        _ => Ok(clean),
    }
}

/// Same as [`inside`], for a file of a revision, which need not exist in the working tree.
pub(super) fn tracked(path: &str) -> Result<String, ToolError> {
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if path.contains('\0') || path.starts_with('/') || parts.is_empty() || parts.contains(&"..") {
        return Err(ToolError::new(format!("the path {path:?} is not one inside of the repository"))
            .hint("Name a file relative to the repository's top directory, without `..`."));
    }
    Ok(parts.join("/"))
}
