//! Finding projects.

use std::{fs, path::Path};

use super::{
    super::roots::{Inside, Roots},
    ask::{Action, Ask},
    kind::Kind,
    plan::Plan,
};
use trunkline_toolbox::ToolError;

/// Maximum depth of the search.
const DEPTH: usize = 4;

/// Maximum number of directories searched.
const DIRECTORIES: usize = 2000;

/// Maximum number of projects in an answer.
const PROJECTS: usize = 50;

/// Directories with build output or downloaded dependencies, which are not searched.
const SKIPPED: [&str; 10] =
    ["node_modules", "target", "vendor", "dist", "build", "out", "bin", "obj", "venv", "__pycache__"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Project {
    pub(in super::super) kind: Kind,
    pub(in super::super) directory: Inside,
    /// The file that identifies the project.
    pub(in super::super) manifest: String,
}

/// Projects below a directory.
#[derive(Debug)]
pub(in super::super) struct FoundProjects {
    pub(in super::super) projects: Vec<Project>,
    /// True if the search stopped at a limit, so projects may be missing.
    pub(in super::super) truncated: bool,
}

impl Project {
    pub(in super::super) fn plan(
        &self,
        action: Action,
        filter: Option<&str>,
        scratch: &Path,
    ) -> Result<Plan, ToolError> {
        let ask = Ask { directory: &self.directory, manifest: &self.manifest, action, filter, scratch };
        self.kind.plan(&ask)
    }
}

/// The projects in `directory` itself; the default one is first.
pub(in super::super) fn at(directory: &Inside) -> Vec<Project> {
    let of_kind = |kind: Kind| {
        let manifest = kind.manifest(directory)?;
        Some(Project { kind, directory: directory.clone(), manifest })
    };
    Kind::ALL.into_iter().filter_map(of_kind).collect()
}

/// The projects in `directory` and below, nearest first. Links are not followed.
pub(in super::super) fn below(directory: &Inside, roots: &Roots) -> FoundProjects {
    let mut found = FoundProjects { projects: Vec::new(), truncated: false };
    let mut level = vec![directory.clone()];
    let mut looked_into = 0;
    for depth in 0..=DEPTH {
        let mut next = Vec::new();
        for directory in &level {
            looked_into += 1;
            if looked_into > DIRECTORIES || found.projects.len() >= PROJECTS {
                found.truncated = true;
                return found;
            }
            found.projects.extend(at(directory));
            if depth < DEPTH {
                next.extend(subdirectories(directory, roots));
            }
        }
        level = next;
    }
    found.projects.truncate(PROJECTS);
    found
}

/// The project that a caller selects by a path and, if there are several there, a kind.
pub(in super::super) fn choose(
    roots: &Roots,
    named: Option<&str>,
    kind: Option<Kind>,
) -> Result<Project, ToolError> {
    let (directory, file) = roots.place(named)?;
    let mut projects = at(&directory);
    if let Some(kind) = kind {
        projects.retain(|project| project.kind == kind);
    }
    if let Some(file) = file {
        // A file that is not a manifest selects the project of its directory.
        for project in &mut projects {
            if project.kind == Kind::Dotnet
                && Path::new(&file)
                    .extension()
                    .is_some_and(|e| e.to_string_lossy().ends_with("proj") || e == "sln" || e == "slnx")
            {
                project.manifest.clone_from(&file);
            }
        }
        if let Some(at) = projects.iter().position(|project| project.manifest == file) {
            projects.swap(0, at);
        }
    }
    projects.into_iter().next().ok_or_else(|| {
        let what = kind.map_or("project".to_owned(), |kind| format!("{} project", kind.name()));
        ToolError::not_found(format!("there is no {what} in {}", directory.path().display()))
            .hint("Call detect_project to see which projects there are, and name one with `projectPath`.")
    })
}

fn subdirectories(directory: &Inside, roots: &Roots) -> Vec<Inside> {
    let Ok(entries) = fs::read_dir(directory.path()) else { return Vec::new() };
    let real =
        entries.take(DIRECTORIES).flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let wanted = real.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        !name.starts_with('.') && !SKIPPED.contains(&name.as_ref())
    });
    let mut directories: Vec<_> = wanted.filter_map(|entry| roots.below(&entry.path())).collect();
    directories.sort();
    directories
}
