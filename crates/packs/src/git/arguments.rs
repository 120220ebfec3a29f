//! Arguments that several tools take, and paths inside a repository.

use std::{
    fs,
    path::{Component, Path},
};

use schemars::JsonSchema;
use serde::Deserialize;

use super::repository::Repository;
use trunkline_toolbox::ToolError;

/// Most paths in one call.
pub(super) const MOST_PATHS: usize = 1000;

/// Arguments of a tool that needs only a repository.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RepositoryOnly {
    /// A directory in the repository; relative ones start at the first open directory, which is also the default.
    #[serde(default)]
    pub(super) repo_path: String,
}

/// `path`, relative to the top of `repository`, if it lies inside of it and leads to nothing outside.
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
    // What does not exist may be a deleted file; what exists must not be a way out.
    match fs::canonicalize(&full) {
        Ok(real) if !real.starts_with(top) => Err(outside()),
        _ => Ok(clean),
    }
}

/// The same for a file of some revision, which need not exist now.
pub(super) fn tracked(path: &str) -> Result<String, ToolError> {
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if path.contains('\0') || path.starts_with('/') || parts.is_empty() || parts.contains(&"..") {
        return Err(ToolError::new(format!("the path {path:?} is not one inside of the repository"))
            .hint("Name a file relative to the repository's top directory, without `..`."));
    }
    Ok(parts.join("/"))
}
