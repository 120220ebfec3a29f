//! `detect_project`: lists the projects and the actions available for them. Runs nothing.

use std::{path::Path, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    action::shown,
    pack::{self, Ci},
    project::{self, Action, Kind, Project},
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Context, Tool, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Args {
    /// Directory to search recursively, relative to the first open directory (the default).
    project_path: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Projects {
    /// Nearest first, at most 50; of several projects in a directory, the default comes first.
    projects: Vec<Detected>,
    /// True if the search stopped at a limit, so projects may be missing.
    truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Detected {
    kind: Kind,
    /// Value for `projectPath`.
    path: String,
    /// The file that identifies the project.
    manifest: String,
    /// Available actions.
    actions: Vec<Possible>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Possible {
    action: Action,
    /// The command that would run.
    command: String,
    /// True if the program is installed.
    available: bool,
}

pub(super) fn tool(ci: &Arc<Ci>) -> Tool {
    pack::tool(ci, "detect_project", run)
        .title("Detect projects")
        .description("Finds projects (cargo, go, dotnet, maven, gradle, pnpm, yarn, npm, python, make) in a directory and up to 4 levels below, and tells which commands build, test, lint and restore them. Runs nothing.")
        .read_only()
        .idempotent()
        .closed_world()
}

async fn run(ci: Arc<Ci>, _cx: Context, args: Args) -> Result<TextAndData<Projects>, ToolError> {
    let (directory, _) = ci.roots.place(args.project_path.as_deref())?;
    let searched = tokio::task::spawn_blocking(move || {
        let found = project::below(&directory, &ci.roots);
        let projects = found.projects.iter().map(|project| detected(&ci, project)).collect();
        Projects { projects, truncated: found.truncated }
    });
    let data = searched.await.map_err(|error| {
        ToolError::new("the search failed").hint("Name a smaller directory.").detail(error.to_string())
    })?;
    Ok(TextAndData { text: data.text(), data })
}

fn detected(ci: &Ci, project: &Project) -> Detected {
    let possible = |action: Action| {
        let plan = project.plan(action, None, Path::new("<reports>")).ok()?;
        Some(Possible {
            action,
            command: plan.line(&project.directory),
            available: plan.runner.find(&project.directory, &ci.environment, &ci.roots).is_ok(),
        })
    };
    Detected {
        kind: project.kind,
        path: shown(project.directory.path(), ci.roots.first()),
        manifest: project.manifest.clone(),
        actions: Action::ALL.into_iter().filter_map(possible).collect(),
    }
}

impl Projects {
    fn text(&self) -> String {
        if self.projects.is_empty() {
            return "No project found here".to_owned();
        }
        let mut lines = Vec::new();
        for project in &self.projects {
            lines.push(format!("{} project in {} ({})", project.kind.name(), project.path, project.manifest));
            for possible in &project.actions {
                let missing = if possible.available { "" } else { " (not installed)" };
                lines.push(format!("  {}: {}{missing}", possible.action.name(), possible.command));
            }
        }
        if self.truncated {
            lines.push("… and maybe more; name a subdirectory".to_owned());
        }
        lines.join("\n")
    }
}
