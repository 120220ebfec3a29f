//! Plan: the command for an action on a project, and the location of its report files.

use std::path::{Path, PathBuf};

use super::super::{
    environment::Environment,
    roots::{Inside, Roots},
};
use trunkline_process::is_executable;
use trunkline_toolbox::ToolError;

/// A command whose program is not yet located.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Plan {
    pub(in super::super) runner: Runner,
    pub(in super::super) args: Vec<String>,
    /// Path suffix of directories in the project that receive XML reports, in addition to the
    /// scratch directory.
    pub(in super::super) reports: Option<&'static str>,
}

/// The program that runs the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Runner {
    /// A program in `PATH`.
    Program(&'static str),
    /// The first of these files that exists in the project, else the program in `PATH`.
    OwnOr(&'static [&'static str], &'static str),
}

impl Plan {
    pub(super) fn new(runner: Runner, args: &[&str]) -> Self {
        Self { runner, args: args.iter().map(|arg| (*arg).to_owned()).collect(), reports: None }
    }

    pub(super) fn program(name: &'static str, args: &[&str]) -> Self {
        Self::new(Runner::Program(name), args)
    }

    pub(super) fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub(super) fn reports(mut self, below: &'static str) -> Self {
        self.reports = Some(below);
        self
    }

    /// The command line to show.
    pub(in super::super) fn line(&self, directory: &Inside) -> String {
        let name = match &self.runner {
            Runner::Program(name) => (*name).to_owned(),
            Runner::OwnOr(own, name) => {
                owned(own, directory.path()).map_or((*name).to_owned(), |own| format!("./{own}"))
            }
        };
        let words = std::iter::once(name).chain(self.args.iter().map(|arg| quoted(arg)));
        words.collect::<Vec<_>>().join(" ")
    }
}

impl Runner {
    /// Path of the program. The directory of a project's own program must be inside the open
    /// directories after its links are resolved; the program itself may be a link.
    pub(in super::super) fn find(
        &self,
        directory: &Inside,
        environment: &Environment,
        roots: &Roots,
    ) -> Result<PathBuf, ToolError> {
        let (Self::Program(name) | Self::OwnOr(_, name)) = self;
        if let Self::OwnOr(own, _) = self
            && let Some(own) = owned(own, directory.path())
        {
            let path = directory.join(own);
            let parent = path.parent().and_then(|parent| roots.below(parent));
            return parent.map(|_| path).ok_or_else(|| {
                ToolError::new(format!("{own} leads out of the open directories"))
                    .hint("Ask the operator to look at the links in this project.")
            });
        }
        environment.find(name).ok_or_else(|| {
            ToolError::not_found(format!("{name} is not installed in the search path"))
                .hint("Call get_diagnostics to see which programs there are, or ask the operator to install it or to extend PATH.")
        })
    }
}

fn owned(candidates: &[&'static str], directory: &Path) -> Option<&'static str> {
    candidates.iter().copied().find(|own| is_executable(&directory.join(own)))
}

fn quoted(arg: &str) -> String {
    let plain = !arg.is_empty() && arg.chars().all(|c| c.is_alphanumeric() || "_-./:=@,+%".contains(c));
    if plain { arg.to_owned() } else { format!("'{}'", arg.replace('\'', r"'\''")) }
}
