//! The kinds of projects, in order of preference.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::roots::Inside, ask::Ask, cargo, dotnet, go, gradle, make, maven, node, plan::Plan, python,
};
use trunkline_toolbox::ToolError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Kind {
    Cargo,
    Go,
    Dotnet,
    Maven,
    Gradle,
    Pnpm,
    Yarn,
    Npm,
    Python,
    Make,
}

impl Kind {
    /// Make is last: next to another build tool, a makefile mostly just calls that tool.
    pub(in super::super) const ALL: [Self; 10] = [
        Self::Cargo,
        Self::Go,
        Self::Dotnet,
        Self::Maven,
        Self::Gradle,
        Self::Pnpm,
        Self::Yarn,
        Self::Npm,
        Self::Python,
        Self::Make,
    ];

    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Go => "go",
            Self::Dotnet => "dotnet",
            Self::Maven => "maven",
            Self::Gradle => "gradle",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Npm => "npm",
            Self::Python => "python",
            Self::Make => "make",
        }
    }

    /// The file that makes `directory` a project of this kind, if there is one.
    pub(super) fn manifest(self, directory: &Inside) -> Option<String> {
        match self {
            Self::Cargo => cargo::manifest(directory),
            Self::Go => go::manifest(directory),
            Self::Dotnet => dotnet::manifest(directory),
            Self::Maven => maven::manifest(directory),
            Self::Gradle => gradle::manifest(directory),
            Self::Pnpm | Self::Yarn | Self::Npm => node::manifest(self, directory),
            Self::Python => python::manifest(directory),
            Self::Make => make::manifest(directory),
        }
    }

    /// The command for the request.
    pub(super) fn plan(self, ask: &Ask<'_>) -> Result<Plan, ToolError> {
        match self {
            Self::Cargo => Ok(cargo::plan(ask)),
            Self::Go => Ok(go::plan(ask)),
            Self::Dotnet => Ok(dotnet::plan(ask)),
            Self::Maven => maven::plan(ask),
            Self::Gradle => Ok(gradle::plan(ask)),
            Self::Pnpm | Self::Yarn | Self::Npm => node::plan(self, ask),
            Self::Python => python::plan(ask),
            Self::Make => make::plan(ask),
        }
    }
}
